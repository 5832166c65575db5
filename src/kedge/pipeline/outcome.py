"""What the user should know of the matches, once they are decided."""

from __future__ import annotations

import numpy as np

from kedge.types import Matches

__all__ = ["outcome_notes"]

_EQUAL = 1e-9  # of a score: they are sums of floats, in an order that differs between pairs


def outcome_notes(matches: Matches, threshold: float) -> tuple[str, ...]:
    """One line for each reason why there is nothing, or nothing sure, to look at."""
    if len(matches.left) == 0:
        return ("no account has any candidate, so nothing is matched",)
    notes = []
    accounts, tied = int((matches.rank == 1).sum()), _tied(matches)
    if tied and np.ptp(matches.score) <= _EQUAL * max(float(np.abs(matches.score).max()), 1.0):
        notes.append("all scores are equal: the method cannot tell candidates apart")
    elif 2 * tied > accounts:
        notes.append(
            f"{tied:,} of {accounts:,} accounts have several best candidates with equal scores: "
            "which of them stands first means nothing"
        )
    if len(matches.partners("match")) == 0:
        notes.append(
            f"no pair is sure enough to be called a match: the surest has a probability of "
            f"{matches.probability.max():.2f}, the threshold is {threshold:.2f}"
        )
    return tuple(notes)


def _tied(matches: Matches) -> int:
    """How many accounts have more than one candidate with their best score."""
    best = np.full(int(matches.left.max()) + 1, -np.inf)
    np.maximum.at(best, matches.left, matches.score)
    best = best[matches.left]
    leading = matches.score >= best - _EQUAL * np.maximum(np.abs(best), 1.0)
    return int((np.bincount(matches.left[leading]) > 1).sum())
