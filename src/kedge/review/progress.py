"""How far the review has come: towards a target precision, and in agreement between reviewers.

Accepted pairs are those that will be exported: the matches that no reviewer rejected, and what reviewers confirmed.
Their expected precision is the mean of 1 where a reviewer answered yes and of the calibrated probability elsewhere. A
review of a set R is expected to confirm p and to remove 1 - p of each pair:

    precision after R = Σ p / (n - Σ over R of (1 - p)),   so the target T is met once Σ over R of (1 - p) ≥ n - Σ p / T
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Final, NamedTuple, cast

import numpy as np

from kedge.answers import State, agreement
from kedge.review.responses import Agreement, Reliability, ReviewerCounts, Towards
from kedge.types import BoolArray, FloatArray

_BINS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Reviewed(NamedTuple):
    """Which pairs of the queue are confirmed, which are rejected, and which have no answer yet, each [m]."""

    yes: BoolArray
    no: BoolArray
    open: BoolArray


def towards_target(
    probability: FloatArray, accepted: BoolArray, reviewed: Reviewed, target: float, besides: int = 0
) -> Towards:
    """Expected precision now and how many more answers, in the queue's order, bring it to the target.

    All arrays are in the queue's order; `accepted` are the matches of the run. `besides`: confirmed pairs that are not
    in the queue, since another candidate was picked.
    """
    yes, no, open_ = reviewed
    before = probability[accepted]
    kept = (accepted & ~no) | yes
    now = np.append(np.where(yes, 1.0, probability)[kept], np.ones(besides))
    needed = len(now) - float(now.sum()) / target
    gains = np.where(kept & open_, 1 - probability, 0.0)
    reached = np.cumsum(gains) >= needed - 1e-12
    places = np.flatnonzero(reached)
    more = None if len(places) == 0 else int(open_[: places[0] + 1].sum())
    return {
        "target": target,
        "pairs": len(now),
        "precision_before": float(before.mean()) if len(before) else None,
        "precision_now": float(now.mean()) if len(now) else None,
        "more": 0 if needed <= 0 else more,
        "decided": int((~open_).sum()),
        "yes": int(yes.sum()),
        "no": int(no.sum()),
        "queue": len(probability),
        "reliability": _reliability(probability, yes, no),
    }


def _reliability(probability: FloatArray, yes: BoolArray, no: BoolArray) -> list[Reliability]:
    """Predicted and confirmed share, by steps of probability: are the probabilities right?"""
    rows: list[Reliability] = []
    for low, high in pairwise(_BINS):
        inside = (yes | no) & (probability >= low) & ((probability < high) | (high == 1.0))
        if inside.any():
            rows.append(
                {
                    "low": low,
                    "high": high,
                    "pairs": int(inside.sum()),
                    "predicted": float(probability[inside].mean()),
                    "confirmed": float(yes[inside].mean()),
                }
            )
    return rows


def reviewer_counts(state: State) -> list[ReviewerCounts]:
    """Standing decisions of each reviewer."""
    counts = {name: ReviewerCounts(reviewer=name, yes=0, no=0, unsure=0) for name in state.reviewers}
    for pair in state.pairs():
        for entry in state.standing(pair):
            counts[entry.reviewer][entry.action] += 1  # type: ignore[literal-required]
    return list(counts.values())


def agreements(state: State) -> list[Agreement]:
    """How far each two reviewers agree."""
    return [cast(Agreement, asdict(found)) for found in agreement(state)]
