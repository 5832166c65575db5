"""`kedge demo`: the main job on a planted pair."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Force, Json, Quiet, guarded
from kedge.cli.show import Reporter


@guarded
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="RUN", help="The run directory.")] = Path("demo-run"),
    seed: Annotated[int, typer.Option(help="The seed of the planted pair and of the matching.")] = 0,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Plant a pair of networks and match it: matches, metrics and a run directory in under a minute."""
    import tempfile

    from kedge.cli.match import print_summary
    from kedge.config import resolve
    from kedge.pipeline import Inputs, match_to_run
    from kedge.pipeline.planted import plant_demo

    config = resolve(overrides={"seed": seed})
    with tempfile.TemporaryDirectory(prefix="kedge-demo-") as folder:
        inputs = Inputs(*plant_demo(Path(folder), seed))
        with Reporter(quiet).open() as reporter:
            summary = match_to_run(inputs, out, config, force=force, progress=reporter)
    print_summary(summary, json)
