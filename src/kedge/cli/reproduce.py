"""`kedge reproduce`: the paper's experiments, run and compared with what the paper prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.cli.compare import Workers
from kedge.cli.options import Debug, Json, JsonProgress, Quiet, Set, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table

if TYPE_CHECKING:
    from kedge.experiments import Reproduced


@guarded
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="main, anchors, sparsity, overlap, hypergraphs or efficiency.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and seeds, shorter training: minutes, not hours.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(help="The number of seeds: 5 by default, 1 with --quick.")] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", "-m", help="Only these of the experiment's methods, separated by commas.")
    ] = None,
    points: Annotated[
        str | None, typer.Option(help="Only these points of the experiment's axis, e.g. 10,50,90.")
    ] = None,
    train: Annotated[float | None, typer.Option(help="The share of observed anchors, in place of the paper's.")] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NETWORK", help="A file, a name under singles/ of the data, or `planted`.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Research networks; $KEDGE_DATA or ../shared/data by default.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The output directory; reproduced/NAME by default."),
    ] = None,
    workers: Workers = 1,
    assignments: Set = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    json_progress: JsonProgress = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Run an experiment of the MGCN paper: tables (Markdown, CSV, JSON) and a figure, next to what the paper prints.

    Without ego-facebook it runs on a planted network, and notes it. The same command again resumes.
    """
    if listed:
        _list(json)
        return
    from kedge import experiments
    from kedge.store import refuse_directory

    experiment, asked = experiments.ask_experiment(
        name,
        quick=quick,
        seeds=seeds,
        methods=methods,
        points=points,
        train=train,
        source=source,
        data=data,
        settings=tuple(assignments or ()),
    )
    many = experiments.check_workers(workers)
    folder = out or Path("reproduced") / experiment.name
    refuse_directory(folder)
    with Reporter(quiet, json_progress).open() as reporter:
        reporter.stage(f"{experiment.title.lower()}: {len(asked.variants)} methods")
        execution = experiments.Execution(folder, many, experiments.count_cells(reporter))
        found = experiments.run_experiment(experiment, asked, execution)
        for note in found.notes:
            reporter.note(note)
        files = experiments.write_experiment(folder, found)
    if json:
        print_json({**found.plain(), "files": [str(file) for file in files]})
    else:
        _print(found, files)


def _print(found: Reproduced, files: list[Path]) -> None:
    from kedge.experiments import label_of, metric_rows, published

    many = f"{found.seeds} seed{'s' if found.seeds > 1 else ''}"
    metric = "macro_f1" if "macro_f1" in found.metrics else found.metrics[0]
    (axis, *points), rows = metric_rows(found, metric)
    printed = published()[found.experiment.name]
    print_table(
        f"{label_of(metric)} over {axis}, on {found.source}, {many}", ("", *points), [_narrow(row) for row in rows]
    )
    if metric in printed:
        print(f"In brackets: what {printed['place']} of the paper prints.")
    for line in dict.fromkeys(f"{e.method}: {e.summary.reason}" for e in found.entries if e.summary.reason):
        print(f"{line}.")
    print(f"Everything is in {files[0].parent}: {', '.join(file.name for file in files)}.")


def _narrow(row: list[str]) -> list[str]:
    """Nine points fit a terminal only without spreads and leading zeros: those are in the files."""
    from kedge.experiments import PRINTED

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
    from kedge.experiments import EXPERIMENTS, published

    rows = [(one.name, published()[one.name]["place"], one.title) for one in EXPERIMENTS.values()]
    if json:
        print_json([{"name": n, "place": p, "title": t} for n, p, t in rows])
    else:
        print_table("Experiments of the paper", ("name", "in the paper", "what it varies"), rows, left=3)
