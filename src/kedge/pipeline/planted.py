"""A pair of networks with known truth, made on request, and the same as files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from kedge import synthetic
from kedge.config import ReadConfig
from kedge.context import Progress
from kedge.ingest import read_network
from kedge.store import dump_json, refuse_directory, translate_disk_errors, write_atomically
from kedge.synthetic import Planted
from kedge.types import KedgeError

_TABLES: Final = ("left", "right", "anchors", "train", "test")
_PROFILES: Final = ("left.profiles", "right.profiles")
_FIGURES: Final = "synth.json"


@dataclass(frozen=True)
class Wanted:
    """What is to be planted: accounts and edges of both sides, persons in both, the share of edges in common; None
    follows from the number of accounts."""

    nodes: int = 2000
    left_nodes: int | None = None
    right_nodes: int | None = None
    anchors: int | None = None
    left_edges: int | None = None
    right_edges: int | None = None
    overlap: float = 0.6


def plant_pair(wanted: Wanted, seed: int, progress: Progress) -> Planted:
    """A planted social pair."""
    left = wanted.nodes if wanted.left_nodes is None else wanted.left_nodes
    right = wanted.nodes if wanted.right_nodes is None else wanted.right_nodes
    progress.stage("planting a pair")
    return synthetic.planted(
        left,
        right,
        wanted.anchors if wanted.anchors is not None else min(left, right) * 3 // 4,
        wanted.left_edges if wanted.left_edges is not None else 5 * left,
        wanted.right_edges if wanted.right_edges is not None else 5 * right,
        wanted.overlap,
        seed,
    )


def cut_pair(
    source: Any, reading: ReadConfig, alpha_s: float, alpha_c: float, seed: int, progress: Progress
) -> Planted:
    """The paper's two sub-networks of a network."""
    progress.stage(f"reading {Path(source).name if isinstance(source, str | Path) else 'the network'}")
    network, read = read_network(source, reading)
    for note in read.notes:
        progress.note(note)
    progress.stage("sampling sub-networks")
    return synthetic.subnetworks(network, alpha_s, alpha_c, seed)


def check_difficulty(profiles: str | None) -> None:
    """Refuse a difficulty of planted profiles that there is not."""
    if profiles is not None and profiles not in synthetic.DIFFICULTIES:
        raise KedgeError(f"no difficulty {profiles!r}", remedy=f"choose one of: {', '.join(synthetic.DIFFICULTIES)}")


def check_place(out: Path, format: str, force: bool) -> None:
    """Refuse, before any work, a format that there is not and a directory that cannot take the files."""
    if format not in ("tsv", "parquet"):
        raise KedgeError(f"no format {format!r}", remedy="choose tsv or parquet")
    if out.exists() and not out.is_dir():
        raise KedgeError("is a file", file=out, remedy="give a directory")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise KedgeError("is not empty", file=out, remedy="choose another directory, or overwrite with --force")
    refuse_directory(out, [*(f"{name}.{format}" for name in _TABLES), *map(_table_of(format), _PROFILES), _FIGURES])


def _table_of(format: str) -> Callable[[str], str]:
    """The file of a table with names of columns: what is tsv elsewhere is csv."""
    return lambda name: f"{name}.{'csv' if format == 'tsv' else format}"


def write_pair(made: Planted, out: Path, train: float, seed: int, format: str, profiles: str | None = None) -> None:
    """Write a planted pair into a directory: left, right, anchors, train, test, perhaps profiles, and synth.json."""
    train_pairs, test_pairs = synthetic.split(made.anchors, train, seed)
    # Made one at a time, just before writing: at full size each is half a gigabyte.
    tables: tuple[Callable[[], Any], ...] = (
        lambda: synthetic.edge_table(made.left, seed),
        lambda: synthetic.edge_table(made.right, seed + 1),
        lambda: synthetic.anchor_table(made.left, made.right, made.anchors),
        lambda: synthetic.anchor_table(made.left, made.right, train_pairs),
        lambda: synthetic.anchor_table(made.left, made.right, test_pairs),
    )
    with translate_disk_errors(out):
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, make in zip(_TABLES, tables, strict=True):
        write_atomically(out / f"{name}.{format}", partial(_dump, make(), format))
    known = () if profiles is None else synthetic.plant_profiles(made, profiles, seed)
    for name, table in zip(_PROFILES, known, strict=False):
        write_atomically(out / _table_of(format)(name), partial(_dump, table, "csv" if format == "tsv" else format))
    # Last: if it exists, the others are complete.
    stated = {} if profiles is None else {"profiles": profiles}
    figures = {"seed": seed, **stated, "notes": list(made.notes), "realised": dict(made.realised)}
    write_atomically(out / _FIGURES, lambda file: file.write(dump_json(figures).encode()))


def plant_demo(place: Path, seed: int) -> tuple[Path, Path, Path, Path]:
    """The pair of `kedge demo` as files in a directory: left, right, train and test."""
    write_pair(synthetic.planted(2000, 2000, 1500, 10_000, 10_000, 0.7, seed), place, 0.2, seed, "tsv")
    left, right, train, test = (place / f"{name}.tsv" for name in ("left", "right", "train", "test"))
    return left, right, train, test


def write_example(out: Path, force: bool) -> dict[str, Path]:
    """Write the files of the example that comes with the package into a directory; each by its name without ending."""
    if out.exists() and not out.is_dir():
        raise KedgeError("is a file", file=out, remedy="give a directory")
    refuse_directory(out, list(synthetic.EXAMPLE_FILES))
    if not force and any((out / name).exists() for name in synthetic.EXAMPLE_FILES):
        raise KedgeError(
            "has files of these names", file=out, remedy="choose another directory, or overwrite with --force"
        )
    with translate_disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    for name in synthetic.EXAMPLE_FILES:
        write_atomically(out / name, partial(_put, synthetic.read_example(name)))
    return {Path(name).stem: out / name for name in synthetic.EXAMPLE_FILES}


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _dump(table: Any, format: str, file: BinaryIO) -> None:
    if format == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    else:
        import pyarrow.csv as arrow_csv

        named = format == "csv"
        options = arrow_csv.WriteOptions(
            include_header=named, delimiter="," if named else "\t", quoting_style="needed" if named else "none"
        )
        arrow_csv.write_csv(table, file, options)
