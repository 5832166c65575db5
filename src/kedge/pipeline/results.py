"""What `match`, `decide` and `evaluate` write of decisions, and the held-out pairs that they measure them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kedge import store
from kedge.decide import decide_by_share
from kedge.pipeline.solve import Outcome, break_down, measure
from kedge.types import DECISIONS, IntArray, Problem, is_among


def results(outcome: Outcome, test: IntArray | None) -> dict[str, Any]:
    """The JSON files that follow from decisions, by name; the figures of held-out pairs are null without any."""
    seed = outcome.config.seed
    return {
        store.DECIDED: decided(outcome),
        store.METRICS: measure(outcome, test, seed),
        store.EVALUATION: break_down(outcome, test, seed),
    }


def decided(outcome: Outcome) -> dict[str, Any]:
    """The threshold, how many left accounts without known partner were decided how, and what matches are worth."""
    matches, problem = outcome.matches, outcome.problem
    counts = {decision: len(matches.partners(decision)) for decision in DECISIONS}
    free = problem.left.n - len(problem.anchors)
    by_share = decide_by_share(problem, outcome.alignment, outcome.calibrator, outcome.config, matches)
    return {
        "threshold": matches.threshold,
        "review_from": min(outcome.config.decide.review, matches.threshold),
        **counts,
        "no match": free - counts["match"] - counts["review"],
        "expected_precision": matches.expected_precision,
        # After an audit the answers decide, not the share.
        "counterparts": [] if outcome.audit else by_share,
        "audit": outcome.audit,
    }


def without_anchors(test: IntArray | None, problem: Problem, note: Callable[[str], None]) -> IntArray | None:
    """The held-out pairs that are no anchors: one that a reviewer confirmed was used in matching. None without any."""
    if test is None:
        return None
    used = (test >= 0).all(axis=1) & is_among(test, problem.anchors, problem.right.n)
    if used.any():
        note(f"{int(used.sum()):,} held-out pairs are anchors by now and are not used in the evaluation")
    return None if used.all() else test[~used]
