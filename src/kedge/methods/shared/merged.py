"""Two networks made one: the two accounts of an anchor become one, for methods that learn in one space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.types import IntArray, Problem


@dataclass(frozen=True)
class Merged:
    """The place of each left and right account among `n` merged ones; the partners of an anchor have the same."""

    n: int
    left: IntArray
    right: IntArray


def merge(problem: Problem) -> Merged:
    """Left accounts keep their numbers, anchored right ones take their partner's, the others follow."""
    right = np.full(problem.right.n, -1, np.int64)
    right[problem.anchors[:, 1]] = problem.anchors[:, 0]
    free = np.flatnonzero(right < 0)
    right[free] = problem.left.n + np.arange(len(free))
    return Merged(problem.left.n + len(free), np.arange(problem.left.n), right)
