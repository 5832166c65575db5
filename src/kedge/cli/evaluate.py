"""`kedge evaluate`: how good a finished run is on held-out pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import AnchorColumns, Debug, Json, RunDirectory, guarded, read_settings
from kedge.cli.progress import Reporter
from kedge.cli.show import print_audit, print_json, print_metrics


@guarded
def evaluate(
    run: RunDirectory,
    test: Annotated[Path, typer.Option("--test", help="Held-out pairs: left id, right id.")],
    anchor_columns: AnchorColumns = None,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Measure a finished run on held-out pairs; the figures become part of the run and of its report."""
    from kedge.config import resolve
    from kedge.pipeline import evaluate_run

    columns = resolve(overrides=read_settings(anchor_columns=anchor_columns)).read.anchor_columns
    metrics = evaluate_run(run, test, Reporter().note, columns)
    if json:
        print_json(metrics)
        return
    print_metrics(metrics)
    print_audit(metrics.get("audit"))
