"""`kedge decide`: a finished run decided again, without matching."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from kedge.cli.options import Counterparts, Debug, Json, Quiet, RunDirectory, guarded, readable_share
from kedge.cli.progress import Reporter
from kedge.cli.show import print_audit, print_json, print_metrics
from kedge.errors import KedgeError, as_share

_ASSIGNMENTS: Final = {"optimal": "optimal", "greedy": "greedy", "off": "many-to-one"}


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
    change = _change(precision, threshold, one_to_one, counterparts)
    from kedge.pipeline import decide_again

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


def _change(
    precision: float | None, threshold: float | None, one_to_one: str | None, counterparts: str | None
) -> dict[str, Any]:
    """The settings of `decide` that the options change; refuses what is no decision, before any work."""
    if precision is not None and threshold is not None:
        raise KedgeError("--precision and --threshold are both given", remedy="give one: either chooses the matches")
    if precision is None and threshold is None and one_to_one is None and counterparts is None:
        raise KedgeError("nothing to change", remedy="give --precision, --threshold, --one-to-one or --counterparts")
    if precision is not None and not 0 < precision <= 1:
        raise KedgeError(
            f"--precision is {precision:g}", remedy=as_share(precision, "give a share above 0 and up to 1")
        )
    if threshold is not None and not 0 <= threshold <= 1:
        raise KedgeError(f"--threshold is {threshold:g}", remedy=as_share(threshold, "give a probability from 0 to 1"))
    if one_to_one is not None and one_to_one not in _ASSIGNMENTS:
        raise KedgeError(f"no assignment {one_to_one!r}", remedy="choose optimal, greedy or off")
    change: dict[str, Any] = {}
    if precision is not None:
        change |= {"precision": precision, "threshold": None}
    if threshold is not None:
        change |= {"threshold": threshold}
    if one_to_one is not None:
        change |= {"assignment": _ASSIGNMENTS[one_to_one]}
    if counterparts is not None:
        change |= {"counterparts": readable_share(counterparts)}
    return change
