"""Which pair to review next: expected information, uncertainty × impact.

    h(u)              = Σ over the shown candidates w of u of p_uw (1 - p_uw)
    information(u, v) = h(u) · (1 + Σ over assigned (a, b), a ~ u and b ~ v, of h(a) / sqrt(d_u d_v))

with p the calibrated probability. The reviewer sees all these candidates and may pick any of them, so an answer lifts
the probability of the true one, w with probability p_uw, from p_uw to 1: h is the probability that an answer is
expected to add. A certain pair has nothing to add; an uncertain one has more to add if its neighbours are uncertain
too, since the answer becomes an anchor, evidence for or against them. The sum is divided by the degree: a hub has many
neighbours but is weak evidence for each. An order by the entropy of the assigned pair alone was no better than a random
one where half of the assignments are wrong (benchmarks/review_order.py): accounts with several weak candidates never
came up.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import pattern
from kedge.types import FloatArray, IntArray, Matches, Problem

SHOWN: Final = 9  # candidates on the page: as many as there are digits on the keyboard
_BLOCK: Final = 8192  # pairs at a time: all products of a large run would not fit in memory


def uncertainty(matches: Matches, accounts: int) -> FloatArray:
    """For each left account, the probability that an answer about it is expected to add, [accounts]."""
    p = np.where(matches.rank <= SHOWN, matches.probability.astype(np.float64), 0.0)
    return np.bincount(matches.left, p * (1 - p), minlength=accounts).astype(np.float64)


def impact(problem: Problem, left: IntArray, right: IntArray, unsure: FloatArray) -> FloatArray:
    """For each assigned pair, 1 + the mean uncertainty of the neighbours that its answer is evidence for, [m]."""
    shape = (problem.left.n, problem.right.n)
    partner = csr_array((unsure, (left, right)), shape=shape)
    # (A_1 M)[u, b] > 0 where a neighbour of u is assigned b; those b in N(v) count for the pair (u, v).
    near, far = (pattern(network.adjacency, np.float32) for network in (problem.left, problem.right))
    gain = np.zeros(len(left))
    for start in range(0, len(left), _BLOCK):
        rows = slice(start, start + _BLOCK)
        reached = csr_array(near[left[rows]] @ partner)
        gain[rows] = np.asarray(reached.multiply(far[right[rows]]).sum(axis=1)).ravel()
    degree = np.sqrt(problem.left.degrees[left] * problem.right.degrees[right].astype(np.float64))
    return np.asarray(1 + gain / np.maximum(degree, 1))


def information_order(problem: Problem, matches: Matches) -> tuple[IntArray, FloatArray]:
    """The rows of assigned pairs, the most informative first, and their information; ties in the order of rows."""
    rows = np.flatnonzero(matches.assigned)
    unsure = uncertainty(matches, problem.left.n)[matches.left[rows]]
    value = unsure * impact(problem, matches.left[rows], matches.right[rows], unsure)
    order = np.argsort(-value, kind="stable")
    return rows[order], value[order]
