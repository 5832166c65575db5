"""Which pair to ask about next: expected information, uncertainty × impact.

    information(u, v) = h(p) · (1 + Σ over assigned (a, b), a ~ u and b ~ v, of h(p_ab) / sqrt(d_u d_v))

with h the binary entropy of the calibrated probability. A sure pair teaches nothing; an unsure one teaches more if its
neighbours are unsure too, since its answer becomes an anchor that speaks for or against them. The sum is divided by the
degree: a hub has many neighbours but says little about each, and asking about hubs first was worse than asking at
random (benchmarks/review_order.py).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.types import FloatArray, IntArray, Matches, Problem

__all__ = ["entropy", "impact", "information_order"]


def entropy(probability: FloatArray) -> FloatArray:
    """h(p) = -p log2 p - (1 - p) log2 (1 - p), in bits."""
    p = np.clip(np.asarray(probability, np.float64), 1e-12, 1 - 1e-12)
    return np.asarray(-p * np.log2(p) - (1 - p) * np.log2(1 - p))


def impact(problem: Problem, left: IntArray, right: IntArray, unsure: FloatArray) -> FloatArray:
    """For each assigned pair, 1 + the mean uncertainty of the neighbours that its answer would speak to, [m]."""
    shape = (problem.left.n, problem.right.n)
    partner = csr_array((unsure, (left, right)), shape=shape)
    # (A_1 M)[u, b] > 0 where a neighbour of u is assigned b; what b shares with N(v) is heard by the pair (u, v).
    reached = csr_array(_pattern(problem.left.adjacency)[left] @ partner)
    heard = np.asarray(reached.multiply(_pattern(problem.right.adjacency)[right]).sum(axis=1)).ravel()
    degree = np.sqrt(problem.left.degrees[left] * problem.right.degrees[right].astype(np.float64))
    return np.asarray(1 + heard / np.maximum(degree, 1))


def _pattern(matrix: csr_array) -> csr_array:
    """The same entries with weight 1."""
    return csr_array((np.ones(matrix.nnz, np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def information_order(problem: Problem, matches: Matches) -> tuple[IntArray, FloatArray]:
    """The rows of assigned pairs, the most informative first, and their information; ties in the order of rows."""
    rows = np.flatnonzero(matches.assigned)
    unsure = entropy(matches.probability[rows])
    value = unsure * impact(problem, matches.left[rows], matches.right[rows], unsure)
    order = np.argsort(-value, kind="stable")
    return rows[order], value[order]
