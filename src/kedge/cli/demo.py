"""`kedge demo`: the main job on a planted pair."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from kedge.cli.options import Debug, Force, Json, JsonProgress, Quiet, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table
from kedge.errors import KedgeError


@guarded
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="The run directory.")] = Path("demo-run"),
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Match nothing; write the example's files into this directory, to match them."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the planted pair and of the matching.")] = 0,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    json_progress: JsonProgress = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Plant a pair of networks and match it: matches, metrics and a run directory in under a minute."""
    if files is not None:
        _write_example(files, force, json, quiet)
        return
    import tempfile

    from kedge.cli.match import print_summary
    from kedge.cli.synth import write_pair
    from kedge.config import resolve
    from kedge.pipeline import Inputs, match_to_run
    from kedge.synthetic import planted

    config = resolve(overrides={"seed": seed})
    with tempfile.TemporaryDirectory(prefix="kedge-demo-") as folder:
        place = Path(folder)
        made = planted(2000, 2000, 1500, 10_000, 10_000, 0.7, seed)
        write_pair(made, place, 0.2, seed, "tsv")
        left, right, train, test = (place / f"{name}.tsv" for name in ("left", "right", "train", "test"))
        with Reporter(quiet, json_progress).open() as reporter:
            summary = match_to_run(Inputs(left, right, train, test), out, config, force=force, progress=reporter)
    print_summary(summary, json)


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _write_example(out: Path, force: bool, json: bool, quiet: bool) -> None:
    """The files of the example into a directory, and what each has."""
    from kedge.store import refuse_directory, translate_disk_errors, write_atomically
    from kedge.synthetic import EXAMPLE_FILES, read_example

    if out.exists() and not out.is_dir():
        raise KedgeError("is a file", file=out, remedy="give a directory")
    refuse_directory(out, list(EXAMPLE_FILES))
    if not force and any((out / name).exists() for name in EXAMPLE_FILES):
        raise KedgeError(
            "has files of these names", file=out, remedy="choose another directory, or overwrite with --force"
        )
    with translate_disk_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in EXAMPLE_FILES:
        content = read_example(name)
        write_atomically(out / name, partial(_put, content))
        columns, *lines = content.decode().splitlines()
        rows.append((name, columns.replace(",", ", "), f"{len(lines):,}"))
    if json:
        print_json({"directory": str(out), "files": list(EXAMPLE_FILES)})
    elif not quiet:
        print_table(f"The example in {out}", ("file", "columns", "rows"), rows, left=2)
