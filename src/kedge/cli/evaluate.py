"""`kedge evaluate`: how good a finished run is on held-out pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kedge.cli.options import Debug, Json, RunDirectory, guarded
from kedge.cli.show import Reporter, print_json, print_metrics


@guarded
def evaluate(
    run: RunDirectory,
    test: Annotated[Path, typer.Option("--test", help="Held-out pairs: left id, right id.")],
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001
) -> None:
    """Measure a finished run on held-out pairs."""
    from kedge.ingest import read_pairs, resolve_test
    from kedge.pipeline import load_outcome, measure

    outcome = load_outcome(run)
    pairs, notes = resolve_test(read_pairs(test, outcome.config.read), outcome.problem)
    metrics = measure(outcome, pairs, outcome.config.seed)
    if json:
        print_json(metrics)
        return
    for note in notes:
        Reporter().note(note)
    print_metrics(metrics)
