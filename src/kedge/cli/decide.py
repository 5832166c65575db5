"""`kedge decide`: a finished run decided again, without matching."""

from __future__ import annotations

from typing import Annotated

import typer

from kedge.cli.options import Counterparts, Debug, Json, Quiet, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import print_audit, print_json, print_metrics


@guarded
def decide(
    run: RunDirectory,
    precision: Annotated[
        float | None, typer.Option(help="Share of the matches that are to be right, above 0 and up to 1.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Pairs from this probability on are matches, 0 to 1.")] = None,
    one_to_one: Annotated[
        str | None, typer.Option("--one-to-one", help="optimal, greedy, or off: left accounts may share a partner.")
    ] = None,
    counterparts: Counterparts = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Decide a finished run again with another precision or threshold, in seconds: nothing is matched again.

    Matches, figures and report change together; export, review and explain follow. What is not given stays as it was.
    The same `kedge match` command later keeps these decisions; with --force it starts anew.
    """
    from kedge.pipeline import decide_again, decision_change

    change = decision_change(precision, threshold, one_to_one, counterparts)
    summary = decide_again(run, change, Reporter(quiet).note)
    if json:
        print_json(summary)
        return
    expected = summary["expected_precision"]
    right = "" if expected is None else f", expected to be right {expected:.1%} of the time"
    print(
        f"{summary['match']:,} matches from a probability of {summary['threshold']:g} on{right}; "
        f"{summary['review']:,} to review, {summary['no match']:,} no match"
    )
    print_metrics(summary["metrics"])
    print_audit(summary["audit"])
