"""How far the review has come: towards a target precision, and in agreement between reviewers.

Accepted pairs are those decided match or review that nobody rejected. Their expected precision is the mean of 1 where
a reviewer said yes and the calibrated probability elsewhere. Asking about a set R confirms p and removes 1 - p of each:

    precision after R = Σ p / (n - Σ over R of (1 - p)),   so the target T is met once Σ over R of (1 - p) ≥ n - Σ p / T
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any, Final

import numpy as np

from kedge.decisions import State, agreement
from kedge.types import BoolArray, FloatArray

__all__ = ["reviewer_table", "towards_target"]

_BINS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def towards_target(
    probability: FloatArray, accepted: BoolArray, yes: BoolArray, no: BoolArray, open_: BoolArray, target: float
) -> dict[str, Any]:
    """Expected precision now and how many more answers, in the queue's order, bring it to the target.

    All arrays are in the queue's order; `accepted` are decided match or review by the run, `open_` still undecided.
    """
    before = probability[accepted]
    kept = (accepted & ~no) | yes
    said = np.where(yes, 1.0, probability)
    now = said[kept]
    needed = len(now) - float(now.sum()) / target
    gains = np.where(kept & open_, 1 - probability, 0.0)
    reached = np.cumsum(gains) >= needed - 1e-12
    places = np.flatnonzero(reached)
    more = None if len(places) == 0 else int(open_[: places[0] + 1].sum())
    return {
        "target": target,
        "pairs": int(kept.sum()),
        "precision_before": float(before.mean()) if len(before) else None,
        "precision_now": float(now.mean()) if len(now) else None,
        "more": 0 if needed <= 0 else more,
        "decided": int((~open_).sum()),
        "yes": int(yes.sum()),
        "no": int(no.sum()),
        "queue": len(probability),
        "said_and_found": _by_probability(probability, yes, no),
    }


def _by_probability(probability: FloatArray, yes: BoolArray, no: BoolArray) -> list[dict[str, Any]]:
    """What was said and what reviewers found, by steps of probability: are the probabilities to be believed?"""
    rows = []
    for low, high in pairwise(_BINS):
        inside = (yes | no) & (probability >= low) & ((probability < high) | (high == 1.0))
        if inside.any():
            rows.append(
                {
                    "low": low,
                    "high": high,
                    "pairs": int(inside.sum()),
                    "said": float(probability[inside].mean()),
                    "found": float(yes[inside].mean()),
                }
            )
    return rows


def reviewer_table(state: State) -> dict[str, Any]:
    """Standing decisions of each reviewer, and the agreement of each two."""
    counts: dict[str, dict[str, int]] = {name: {"yes": 0, "no": 0, "unsure": 0} for name in state.reviewers}
    for pair in state.pairs():
        for entry in state.standing(pair):
            counts[entry.reviewer][entry.action] += 1
    return {
        "reviewers": [{"reviewer": name, **table} for name, table in counts.items()],
        "agreement": [asdict(found) for found in agreement(state)],
    }
