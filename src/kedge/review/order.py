"""Which pair to ask about next: expected information, uncertainty × impact.

    h(u)              = Σ over the shown candidates w of u of p_uw (1 - p_uw)
    information(u, v) = h(u) · (1 + Σ over assigned (a, b), a ~ u and b ~ v, of h(a) / sqrt(d_u d_v))

with p the calibrated probability. The reviewer sees all these candidates and may pick any of them, so the answer lifts
the belief in the true one, w with probability p_uw, from p_uw to 1: h is the belief that an answer is expected to add.
A sure pair teaches nothing; an unsure one teaches more if its neighbours are unsure too, since its answer becomes an
anchor that speaks for or against them. The sum is divided by the degree: a hub has many neighbours but says little
about each. Asking by the entropy of the assigned pair alone was no better than asking at random where half of the
assignments are wrong (benchmarks/review_order.py): it never asks about accounts with several weak candidates.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.types import FloatArray, IntArray, Matches, Problem

__all__ = ["SHOWN", "impact", "information_order", "uncertainty"]

SHOWN: Final = 9  # candidates on the page: as many as there are digits on the keyboard
_BLOCK: Final = 8192  # pairs at a time: the products of a large run would not fit beside it


def uncertainty(matches: Matches, accounts: int) -> FloatArray:
    """For each left account, the belief that an answer about it is expected to add, [accounts]."""
    p = np.where(matches.rank <= SHOWN, matches.probability.astype(np.float64), 0.0)
    return np.bincount(matches.left, p * (1 - p), minlength=accounts).astype(np.float64)


def impact(problem: Problem, left: IntArray, right: IntArray, unsure: FloatArray) -> FloatArray:
    """For each assigned pair, 1 + the mean uncertainty of the neighbours that its answer would speak to, [m]."""
    shape = (problem.left.n, problem.right.n)
    partner = csr_array((unsure, (left, right)), shape=shape)
    # (A_1 M)[u, b] > 0 where a neighbour of u is assigned b; what b shares with N(v) is heard by the pair (u, v).
    near, far = _pattern(problem.left.adjacency), _pattern(problem.right.adjacency)
    heard = np.zeros(len(left))
    for start in range(0, len(left), _BLOCK):
        rows = slice(start, start + _BLOCK)
        reached = csr_array(near[left[rows]] @ partner)
        heard[rows] = np.asarray(reached.multiply(far[right[rows]]).sum(axis=1)).ravel()
    degree = np.sqrt(problem.left.degrees[left] * problem.right.degrees[right].astype(np.float64))
    return np.asarray(1 + heard / np.maximum(degree, 1))


def _pattern(matrix: csr_array) -> csr_array:
    """The same entries with weight 1."""
    return csr_array((np.ones(matrix.nnz, np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def information_order(problem: Problem, matches: Matches) -> tuple[IntArray, FloatArray]:
    """The rows of assigned pairs, the most informative first, and their information; ties in the order of rows."""
    rows = np.flatnonzero(matches.assigned)
    unsure = uncertainty(matches, problem.left.n)[matches.left[rows]]
    value = unsure * impact(problem, matches.left[rows], matches.right[rows], unsure)
    order = np.argsort(-value, kind="stable")
    return rows[order], value[order]
