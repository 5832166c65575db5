"""How many rounds evidence takes, how hot each is, and how much of the last beliefs each keeps.

With κ the anchored neighbours that an account has in the mean (the smaller of the two networks' means):

    rounds       R = most / κ, at least `least` and at most `most`
    temperature  T(r) = T_last (T_first / T_last)^(1 - r / (R - C)) for r < R - C, then T_last;  C = R / 3
    beliefs      P(r) = the beliefs of round r, for r < R - C - 2, then half of it and half of P(r - 1)

An account with several anchored neighbours has its evidence in the first rounds, so more rounds only give errors time
to confirm each other. All accounts are updated at once, so two rivals can alternate for ever; at the last, lowest
temperature, halving each change ends that. Earlier it would only slow propagation. `benchmarks/evidence_choice.py`
compares this with other schedules on validation anchors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.types import Problem

_DAMPING = 0.5


@dataclass(frozen=True)
class Round:
    """Temperature of a round, and the share of the beliefs before it that its own are mixed with."""

    temperature: float
    kept: float


def anchored_neighbours(problem: Problem) -> float:
    """κ: how many anchored neighbours an account has in the mean, on the side where it has fewer."""
    sides = zip((problem.left, problem.right), problem.anchors.T, strict=True)
    return min(float(network.degrees[anchored].sum()) / max(network.n, 1) for network, anchored in sides)


def schedule(problem: Problem, most: int, least: int, first: float, last: float) -> tuple[Round, ...]:
    """The rounds of a problem, from temperature `first` to `last`."""
    reach = anchored_neighbours(problem)
    rounds = int(np.clip(np.ceil(most / max(reach, 1.0)), min(least, most), most))
    cold = rounds - round(rounds / 3)
    return tuple(
        Round(
            temperature=last * (first / last) ** max(1 - place / max(cold, 1), 0),
            kept=_DAMPING if place and place >= cold - 2 else 0.0,
        )
        for place in range(rounds)
    )
