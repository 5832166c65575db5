"""What the user should know of the matches, once they are decided."""

from __future__ import annotations

import numpy as np

from kedge.types import Matches

__all__ = ["outcome_notes"]


def outcome_notes(matches: Matches, threshold: float) -> tuple[str, ...]:
    """One line for each reason why there is nothing, or nothing sure, to look at."""
    if len(matches.left) == 0:
        return ("no account has any candidate, so nothing is matched",)
    notes = []
    first = matches.rank == 1
    rivals = np.isin(matches.left, matches.left[matches.rank == 2])
    # Scores are sums of floats, in an order that differs between pairs.
    tied = first & rivals & (np.abs(matches.margin) <= 1e-9 * np.maximum(np.abs(matches.score), 1.0))
    if tied.any() and np.ptp(matches.score) <= 1e-9 * max(float(np.abs(matches.score).max()), 1.0):
        notes.append("all scores are equal: the method cannot tell candidates apart")
    elif 2 * tied.sum() > first.sum():
        notes.append(
            f"{int(tied.sum()):,} of {int(first.sum()):,} accounts have several best candidates with equal scores: "
            "which of them stands first means nothing"
        )
    if len(matches.partners("match")) == 0:
        notes.append(
            f"no pair is sure enough to be called a match: the surest has a probability of "
            f"{matches.probability.max():.2f}, the threshold is {threshold:.2f}"
        )
    return tuple(notes)
