"""`kedge reproduce`: the paper's experiments, run and set beside what the paper prints."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli.comparing import Workers, check_workers, write_bytes
from kedge.cli.options import Debug, Json, Quiet, Set, guarded
from kedge.cli.show import Reporter, print_json, print_table
from kedge.errors import KedgeError

if TYPE_CHECKING:
    from kedge.experiments.paper import Experiment, Variant
    from kedge.experiments.reproduce import Reproduced

__all__ = ["reproduce"]

_SEEDS, _QUICK_SEEDS = 5, 1
PRINTED = ", printed"  # what marks the paper's rows in `experiments.pages`


@guarded
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="main, anchors, sparsity, overlap, hypergraphs or efficiency.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer points and seeds, shorter training: minutes.")] = False,
    seeds: Annotated[int | None, typer.Option(help="5 by default, 1 with --quick.")] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", "-m", help="Only these of the experiment's methods, commas between.")
    ] = None,
    points: Annotated[
        str | None, typer.Option(help="Only these points of the experiment's axis, commas between: 10,50,90.")
    ] = None,
    train: Annotated[float | None, typer.Option(help="Another share of observed anchors than the paper's.")] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NETWORK", help="A file, a name under singles/ of the data, or `planted`.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Research networks; $KEDGE_DATA or ../shared/data by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where it goes; reproduced/NAME by default.")
    ] = None,
    workers: Workers = 1,
    assignments: Set = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and leave.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Run an experiment of the MGCN paper; tables (Markdown, CSV, JSON) and a figure beside what the paper prints.

    Without ego-facebook at hand it runs on a planted network, and says so. The same command again goes on where it
    was stopped.
    """
    from kedge.experiments.paper import EXPERIMENTS

    if listed:
        _list(json)
        return
    experiment = _find(name, EXPERIMENTS)
    many = seeds if seeds is not None else _QUICK_SEEDS if quick else _SEEDS
    if many < 1:
        raise KedgeError(f"--seeds {many}", remedy="give 1 or more")
    if train is not None and not 0 < train < 1:
        raise KedgeError(f"--train {train:g}", remedy="give a share between 0 and 1")
    if train is not None and experiment.name in ("anchors", "efficiency"):
        raise KedgeError(f"--train with {experiment.name}", remedy="leave it out: it varies the share, or has none")
    from kedge.experiments.reproduce import Asked
    from kedge.experiments.reproduce import reproduce as run
    from kedge.experiments.sources import data_root

    asked = Asked(
        seeds=many,
        variants=_choose(experiment, methods),
        quick=quick,
        train=train,
        source=source,
        root=data_root(data),
        settings=tuple(assignments or ()),
        points=_points(experiment, points),
    )
    folder = out or Path("reproduced") / experiment.name
    if folder.exists() and not folder.is_dir():
        raise KedgeError("is a file", file=folder, remedy="give a directory")
    with Reporter(quiet).open() as reporter:
        reporter.stage(f"{experiment.title.lower()}: {len(asked.variants)} methods")
        found = run(
            experiment,
            asked,
            folder,
            check_workers(workers),
            lambda done, total: reporter.advance(done, total, f"{done} of {total} cells"),
        )
        for note in found.notes:
            reporter.note(note)
        files = _write(folder, found)
    if json:
        print_json({**found.plain(), "files": [str(file) for file in files]})
    else:
        _print(found, files)


def _find(name: str | None, experiments: Any) -> Experiment:
    if name in experiments:
        found: Experiment = experiments[name]
        return found
    near = difflib.get_close_matches(name or "", experiments, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose one of: {', '.join(experiments)}"
    raise KedgeError("which experiment?" if name is None else f"no experiment {name!r}", remedy=hint)


def _choose(experiment: Experiment, methods: str | None) -> tuple[Variant, ...]:
    """The experiment's methods, or those of them that are named, by label or by method and preset."""
    if methods is None:
        return experiment.variants
    words = [word.strip().lower() for word in methods.split(",")]
    known: dict[str, Variant] = {}
    for variant in experiment.variants:
        preset = "" if variant.preset == "default" else f":{variant.preset}"
        known |= {variant.label.lower(): variant, f"{variant.method}{preset}": variant}
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            names = ", ".join(key for key, v in known.items() if key != v.label.lower())
            hint = f"did you mean {near[0]!r}?" if near else f"choose from: {names}"
            raise KedgeError(f"no method {word!r} in {experiment.name}", remedy=hint)
    chosen = [known[word] for word in words]
    return tuple(variant for variant in experiment.variants if variant in chosen)


def _points(experiment: Experiment, asked: str | None) -> tuple[str, ...] | None:
    """The labels of the points asked for; a per cent sign and commas in numbers may be left out."""
    if asked is None:
        return None

    def bare(text: str) -> str:
        return text.removesuffix("%").strip().replace(",", "").lower()

    known = {bare(point.label): point.label for point in experiment.points}
    found = []
    for word in map(bare, asked.split(",")):
        if word not in known:
            raise KedgeError(f"no point {word!r} in {experiment.name}", remedy=f"choose from: {', '.join(known)}")
        found.append(known[word])
    return tuple(found)


def _write(folder: Path, found: Reproduced) -> list[Path]:
    from kedge.experiments.pages import markdown_page
    from kedge.experiments.plots import draw_experiment
    from kedge.experiments.tables import csv_text
    from kedge.store import dump_json

    name = found.experiment.name
    contents = {
        "md": markdown_page(found).encode(),
        "csv": csv_text(found.entries).encode(),
        "json": dump_json(found.plain()).encode(),
        "png": draw_experiment(found, "png"),
        "svg": draw_experiment(found, "svg"),
    }
    files = []
    for kind, content in contents.items():
        files.append(folder / f"{name}.{kind}")
        write_bytes(files[-1], content)
    return files


def _print(found: Reproduced, files: list[Path]) -> None:
    from kedge.experiments.pages import metric_rows, metrics_of
    from kedge.experiments.paper import published
    from kedge.experiments.tables import WORDS

    many = f"{found.seeds} seed{'s' if found.seeds > 1 else ''}"
    metric = "macro_f1" if "macro_f1" in metrics_of(found) else metrics_of(found)[0]
    words = WORDS.get(metric, "CPU seconds of 1,000 forward passes")
    (axis, *points), rows = metric_rows(found, metric)
    place = published()[found.experiment.name]["place"]
    print_table(f"{words} over {axis}, on {found.source}, {many}", ("", *points), [_narrow(row) for row in rows])
    if metric in published()[found.experiment.name]:
        print(f"In brackets: what {place} of the paper prints.")
    for line in dict.fromkeys(f"{e.method}: {e.summary.reason}" for e in found.entries if e.summary.reason):
        print(f"{line}.")
    print(f"Everything is in {files[0].parent}: {', '.join(file.name for file in files)}.")


def _narrow(row: list[str]) -> list[str]:
    """Nine points do not fit a terminal with spreads, zeros and words: those are in the files."""

    def digits(cell: str) -> str:
        number = cell.partition(" ±")[0].removeprefix("+")
        try:
            return f"{float(number):.3f}".replace("0.", ".", 1) if abs(float(number)) < 1 else number
        except ValueError:
            return number

    name = row[0]
    if name.endswith(PRINTED):
        ours, minus, theirs = name.removesuffix(PRINTED).rpartition(" − ")
        name = f"{ours}{minus}({theirs})"
    return [name, *map(digits, row[1:])]


def _list(json: bool) -> None:
    from kedge.experiments.paper import EXPERIMENTS, published

    rows = [(one.name, published()[one.name]["place"], one.title) for one in EXPERIMENTS.values()]
    if json:
        print_json([{"name": n, "place": p, "title": t} for n, p, t in rows])
    else:
        print_table("Experiments of the paper", ("name", "in the paper", "what it varies"), rows, left=3)
