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
        with Reporter(quiet).open() as reporter:
            summary = match_to_run(Inputs(left, right, train, test), out, config, force=force, progress=reporter)
    print_summary(summary, json)
