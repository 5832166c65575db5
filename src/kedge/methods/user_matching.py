"""User-matching (Korula, Lattanzi; VLDB 2014): link the pairs that have the most witnesses among the links.

For degrees D = 2^j from the largest down: among unlinked accounts with at least D neighbours on both sides, a pair is
linked if it has at least T = 2 witnesses and neither account has a pair with as many. The sweep is repeated until
nothing new is linked, k = 10 times at most.

Deviations: equal counts are ordered by how alike the two degrees are; where even that ties, nothing is linked, since
the rest would be the numbers of accounts. The result ranks all pairs by their witnesses, linked pairs first.

Cost: Σ over links of d_a d_b per sweep and degree, in blocks; no n × n matrix. Scales to sparse networks of any size.
"""

from __future__ import annotations

import numpy as np

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import SparseAlignment
from kedge.methods.shared.pairs import best_witnessed, rank_by_witnesses
from kedge.types import BoolArray, IntArray, Problem

_LEAST_WITNESSES = 2  # T of the paper
_SWEEPS = 10  # k of this module's docstring


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """All pairs by their witnesses among the links. The method is not random."""
    return rank_by_witnesses(problem, link(problem), config.baselines.keep)


def link(problem: Problem) -> IntArray:
    """The anchors and the links found, [m, 2]."""
    left, right = problem.left, problem.right
    links = problem.anchors
    largest = int(min(left.degrees.max(initial=0), right.degrees.max(initial=0)))
    for _ in range(_SWEEPS):
        before = len(links)
        for j in range(max(largest, 1).bit_length() - 1, -1, -1):
            free = [network.degrees >= 2**j for network in (left, right)]
            for side in (0, 1):
                free[side][links[:, side]] = False
            links = np.concatenate([links, _agreed(problem, links, (free[0], free[1]))])
        if len(links) == before:
            break
    return links


def _agreed(problem: Problem, links: IntArray, free: tuple[BoolArray, BoolArray]) -> IntArray:
    """Pairs with enough witnesses that are strictly the best of both their accounts."""
    forth, there = best_witnessed((problem.left, problem.right), links, free, 2)
    back, here = best_witnessed((problem.right, problem.left), links[:, ::-1], free[::-1], 2)
    mine = np.flatnonzero((there[:, 0] >= _LEAST_WITNESSES) & (there[:, 0] > there[:, 1]))
    other = forth[mine, 0]
    mutual = (back[other, 0] == mine) & (here[other, 0] > here[other, 1])
    return np.column_stack([mine[mutual], other[mutual]])
