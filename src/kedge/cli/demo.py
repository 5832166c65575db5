"""`kedge demo`: the main job on a planted pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Force, Json, JsonProgress, Quiet, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_json, print_table


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
    from kedge.config import resolve
    from kedge.pipeline import Inputs, match_to_run
    from kedge.pipeline.planted import plant_demo

    config = resolve(overrides={"seed": seed})
    with tempfile.TemporaryDirectory(prefix="kedge-demo-") as folder:
        inputs = Inputs(*plant_demo(Path(folder), seed))
        with Reporter(quiet, json_progress).open() as reporter:
            summary = match_to_run(inputs, out, config, force=force, progress=reporter)
    print_summary(summary, json)


def _write_example(out: Path, force: bool, json: bool, quiet: bool) -> None:
    """The files of the example into a directory, and what each has."""
    from kedge.pipeline.planted import write_example

    written = write_example(out, force)
    rows = []
    for path in written.values():
        columns, *lines = path.read_text("utf-8").splitlines()
        rows.append((path.name, columns.replace(",", ", "), f"{len(lines):,}"))
    if json:
        print_json({"directory": str(out), "files": [path.name for path in written.values()]})
    elif not quiet:
        print_table(f"The example in {out}", ("file", "columns", "rows"), rows, left=2)
