"""What a user asks `kedge compare` and `kedge reproduce` for, checked before any work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kedge.context import cores, need_extra
from kedge.errors import KedgeError
from kedge.experiments.cells import Pair, Shares, as_file, data_root, read_folder
from kedge.experiments.paper import Experiment, choose_points, choose_variants, find_experiment
from kedge.experiments.plots import FORMATS
from kedge.experiments.reproduce import Asked
from kedge.methods import METHODS
from kedge.store import refuse_overwrite

_SEEDS, _QUICK_SEEDS = 5, 1
_TRAIN = 0.2  # the share of observed anchors by default, as `kedge synth` splits them


def check_workers(workers: int) -> int:
    """The number as given; 0 becomes the number of cores."""
    if workers < 0:
        raise KedgeError(f"--workers {workers}", remedy="give 1 or more, or 0 for one per core")
    return workers or cores()


def check_seeds(seeds: int) -> None:
    """Refuse a number of seeds that is none."""
    if seeds < 1:
        raise KedgeError(f"--seeds {seeds}", remedy="give 1 or more")


def check_picture(path: Path, force: bool) -> None:
    """Refuse, before any work, a picture that cannot be drawn or written."""
    need_extra("plots", "--plot")
    if path.suffix.removeprefix(".").lower() not in FORMATS:
        raise KedgeError(
            "is not the name of a picture", file=path, remedy=f"end it in {', '.join('.' + f for f in FORMATS)}"
        )
    refuse_overwrite(path, force)


def find_pair(files: tuple[Path | None, ...], data: Path | None, split: str | None) -> Pair:
    """The files to compare on: left, right, anchors and perhaps test pairs, or those of a folder."""
    if data is not None:
        if any(file is not None for file in files):
            raise KedgeError("--data and single files together", remedy="give one or the other")
        return read_folder(data, split)
    left, right, anchors, test = files
    if left is None or right is None or anchors is None:
        raise KedgeError("nothing to compare on", remedy="give LEFT RIGHT --anchors FILE, or --data DIR")
    if split is not None:
        raise KedgeError("--split without --data", remedy="give --test FILE instead")
    return Pair(as_file(left), as_file(right), as_file(anchors), None if test is None else as_file(test))


def add_profiles(pair: Pair, left: Path | None, right: Path | None) -> Pair:
    """The pair with the profiles of its accounts."""
    found = [None if path is None else as_file(path) for path in (left, right)]
    return replace(pair, left_profiles=found[0], right_profiles=found[1])


def find_shares(pair: Pair, train: float | None) -> Shares | None:
    """How the anchors are split; None where the test pairs are given."""
    if pair.test is not None:
        if train is not None:
            raise KedgeError(
                "--train, though the test pairs are given", remedy="leave it out: all anchors are observed"
            )
        return None
    share = _TRAIN if train is None else train
    if not 0 < share < 1:
        raise KedgeError(f"--train {share:g}", remedy="give a share between 0 and 1")
    return Shares(share, round(1 - share, 9))


def ask_experiment(
    name: str | None,
    *,
    quick: bool = False,
    seeds: int | None = None,
    methods: str | None = None,
    points: str | None = None,
    train: float | None = None,
    source: str | None = None,
    data: Path | None = None,
    settings: tuple[str, ...] = (),
) -> tuple[Experiment, Asked]:
    """An experiment of the paper and how it is to be run; refuses, before any work, what cannot be."""
    experiment = find_experiment(name)
    many = seeds if seeds is not None else _QUICK_SEEDS if quick else _SEEDS
    check_seeds(many)
    if train is not None and not 0 < train < 1:
        raise KedgeError(f"--train {train:g}", remedy="give a share between 0 and 1")
    if train is not None and experiment.name in ("anchors", "efficiency"):
        raise KedgeError(f"--train with {experiment.name}", remedy="leave it out: it varies the share, or has none")
    variants = choose_variants(experiment, methods)
    for variant in variants:
        METHODS[variant.method].check_installed()
    need_extra("plots", "`kedge reproduce`")
    chosen, root = choose_points(experiment, points), data_root(data)
    return experiment, Asked(many, variants, quick, train, source, root, settings, chosen)
