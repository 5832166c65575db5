"""A finished run measured on held-out pairs; the pairs and the figures become part of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kedge import ingest, store
from kedge.pipeline.match import check_report_path, write_report
from kedge.pipeline.results import results
from kedge.pipeline.solve import Outcome, load_outcome
from kedge.types import IntArray, KedgeError


def evaluate_run(
    directory: Path, test: Any, note: Callable[[str], None], columns: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Every metric on these pairs, and what an audit shows if there is one. The pairs replace those of an earlier
    evaluation, in the report too.

    `columns` of the file that hold the ids; none: those that the run was given for its anchors.

    Where the directory cannot be written, or another kedge works in it, the figures are returned and not saved.
    """
    store.read_manifest(directory)
    with contextlib.ExitStack() as held:
        saved = True
        try:
            held.enter_context(store.hold_run(directory))
            check_report_path(directory / store.REPORT)
        except KedgeError as error:
            saved = False
            note(f"the figures are not saved in the run: {error}")
        outcome = load_outcome(directory)
        pairs, files = _measured(outcome, test, note, columns)
        if saved:
            run = store.Run(directory, store.read_manifest(directory))
            run.write(store.HELD_OUT, store.TABLE, store.held_out_table(pairs, outcome.problem))
            for file in (store.METRICS, store.EVALUATION):
                run.write(file, store.JSON, files[file])
            write_report(store.load_contents(directory), directory / store.REPORT)
    metrics: dict[str, Any] = files[store.METRICS]
    audit = files[store.DECIDED]["audit"]
    return metrics if audit is None else {**metrics, "audit": audit}


def evaluate_outcome(
    outcome: Outcome, test: Any, note: Callable[[str], None], columns: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Every metric of a match in memory on these pairs."""
    metrics: dict[str, Any] = _measured(outcome, test, note, columns)[1][store.METRICS]
    return metrics


def _measured(
    outcome: Outcome, test: Any, note: Callable[[str], None], columns: tuple[str, ...]
) -> tuple[IntArray, dict[str, Any]]:
    """The held-out pairs as accounts, and what `results` has of them."""
    reading = outcome.config.read
    reading = reading.model_copy(update={"anchor_columns": columns or reading.anchor_columns})
    pairs, notes = ingest.resolve_test(ingest.read_pairs(test, reading), outcome.problem)
    for line in notes:
        note(line)
    return pairs, results(outcome, pairs)
