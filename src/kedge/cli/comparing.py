"""`kedge compare`: which method is best on my data?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kedge.cli.options import ConfigFile, Debug, Force, Json, Quiet, Set, guarded
from kedge.cli.show import Reporter, print_json, print_table
from kedge.errors import KedgeError

if TYPE_CHECKING:
    from kedge.experiments.cells import Pair, Shares

__all__ = ["OutputDirectory", "Workers", "check_workers", "compare", "write_bytes"]

Workers = Annotated[int, typer.Option("--workers", "-w", help="Cells measured at the same time; 0: one a core.")]
OutputDirectory = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Keep every cell there; the same command again goes on."),
]


def check_workers(workers: int) -> int:
    """As many as asked for, or one a core."""
    if workers < 0:
        raise KedgeError(f"--workers {workers}", remedy="give 1 or more, or 0 for one a core")
    from kedge.engine.memory import cores

    return workers or cores()


def write_bytes(path: Path, content: bytes) -> None:
    """A file, whole or not at all; its directory is made."""
    from kedge.store import write_atomically
    from kedge.store.atomic import translate_disk_errors

    with translate_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write(content))


@guarded
def compare(
    left: Annotated[Path | None, typer.Argument(help="The left network.")] = None,
    right: Annotated[Path | None, typer.Argument(help="The right network.")] = None,
    anchors: Annotated[Path | None, typer.Option("--anchors", "-a", help="Known pairs: left id, right id.")] = None,
    test: Annotated[
        Path | None, typer.Option("--test", help="Held-out pairs; the anchors are then all observed.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Instead: a folder with left.tsv, right.tsv and anchors.tsv.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="With --data: a split under splits/, e.g. off20.")] = None,
    methods: Annotated[
        str | None,
        typer.Option("--methods", "-m", help="Names with commas between; NAME:paper for the paper's preset."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many seeds; each draws its own split.")] = 5,
    train: Annotated[float | None, typer.Option(help="The share of anchors observed, 0.2 by default.")] = None,
    out: OutputDirectory = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")] = None,
    workers: Workers = 1,
    file: ConfigFile = None,
    assignments: Set = None,
    listed: Annotated[bool, typer.Option("--list", help="List the methods and leave.")] = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Compare methods on your own data: the same splits, the same evaluation, mean and spread over seeds, CPU, memory.

    Every cell (a method under a seed) runs in a process of its own and is kept in DIR; the same command goes on there.
    """
    if listed:
        _list_methods(json)
        return
    from kedge.experiments.compare import compare as run
    from kedge.experiments.compare import parse_methods
    from kedge.methods import METHODS

    if seeds < 1:
        raise KedgeError(f"--seeds {seeds}", remedy="give 1 or more")
    if plot is not None:
        _check_picture(plot, force)
    many = check_workers(workers)
    variants = parse_methods(methods or ",".join(METHODS))
    pair, shares = _read_inputs(left, right, anchors, test, data, split, train)
    with Reporter(quiet).open() as reporter:
        reporter.stage("reading")
        _check_pair(pair, shares, seeds, file, assignments or [], reporter)
        reporter.stage(f"measuring {len(variants)} methods under {seeds} seeds")
        found = run(
            pair,
            shares,
            variants,
            range(seeds),
            settings=assignments or (),
            file=file,
            directory=out,
            workers=many,
            tell=lambda done, total: reporter.advance(done, total, f"{done} of {total} cells"),
        )
    if out is not None:
        _write_comparison(out, found)
    if plot is not None:
        from kedge.experiments.plots import draw_comparison

        write_bytes(plot, draw_comparison(found, plot.suffix.removeprefix(".").lower()))
    if json:
        print_json(found.plain())
    else:
        _print_comparison(found)


def _check_picture(path: Path, force: bool) -> None:
    from kedge.experiments.plots import FORMATS
    from kedge.store import refuse_overwrite

    if path.suffix.removeprefix(".").lower() not in FORMATS:
        raise KedgeError(
            "is no name of a picture", file=path, remedy=f"end it in {', '.join('.' + f for f in FORMATS)}"
        )
    refuse_overwrite(path, force)


def _read_inputs(
    left: Path | None,
    right: Path | None,
    anchors: Path | None,
    test: Path | None,
    data: Path | None,
    split: str | None,
    train: float | None,
) -> tuple[Pair, Shares | None]:
    """The files to compare on, and how their anchors are dealt out."""
    from kedge.experiments.cells import Pair, Shares
    from kedge.experiments.sources import as_file, read_folder

    if data is not None:
        if left is not None or anchors is not None or test is not None:
            raise KedgeError("--data and single files together", remedy="give one or the other")
        pair = read_folder(data, split)
    elif left is None or right is None or anchors is None:
        raise KedgeError("nothing to compare on", remedy="give LEFT RIGHT --anchors FILE, or --data DIR")
    elif split is not None:
        raise KedgeError("--split without --data", remedy="give --test FILE instead")
    else:
        pair = Pair(as_file(left), as_file(right), as_file(anchors), None if test is None else as_file(test))
    if pair.test is not None:
        if train is not None:
            raise KedgeError(
                "--train, though the test pairs are given", remedy="leave it out: all anchors are observed"
            )
        return pair, None
    share = 0.2 if train is None else train
    if not 0 < share < 1:
        raise KedgeError(f"--train {share:g}", remedy="give a share between 0 and 1")
    return pair, Shares(share, round(1 - share, 9))


def _check_pair(
    pair: Pair, shares: Shares | None, seeds: int, file: Path | None, assignments: list[str], reporter: Reporter
) -> None:
    """Read the files once here, so that a mistake in them is one line and not a failed cell for every method."""
    from kedge.config import resolve
    from kedge.experiments.problems import deal, load_pair

    known = load_pair(pair, resolve("default", file, assignments).read)
    for note in known.notes:
        reporter.note(note)
    if shares is not None:
        deal(known.problem.anchors, shares, 0)
    elif seeds > 1:
        reporter.note("the split is given: seeds differ only in what methods draw")


def _write_comparison(out: Path, found: Any) -> None:
    from kedge.experiments.compare import compared_rows
    from kedge.experiments.tables import csv_text, markdown_table
    from kedge.store import dump_json

    write_bytes(out / "comparison.md", markdown_table(*compared_rows(found)).encode())
    write_bytes(out / "comparison.csv", csv_text(found.entries).encode())
    write_bytes(out / "comparison.json", dump_json(found.plain()).encode())


def _print_comparison(found: Any) -> None:
    from kedge.experiments.compare import NARROW, compared_rows

    many = len(found.seeds)
    facts = next((cell.facts for cells in found.cells for cell in cells if cell.facts), None)
    title = f"{many} seed{'s' if many > 1 else ''}"
    if facts:
        title = f"{facts['observed']:,} anchors observed, {facts['held_out']:,} held out; " + title
    print_table(title, *compared_rows(found, NARROW, brief=True))
    for entry in found.entries:
        if entry.summary.reason:
            print(f"{entry.method}: {entry.summary.reason}.")


def _list_methods(json: bool) -> None:
    from kedge.methods import ABOUT

    if json:
        print_json(ABOUT)
    else:
        print_table("Methods", ("name", "what it is"), list(ABOUT.items()), left=2)
