"""Beliefs from log-odds: two-sided softmax over sparse candidates, with room for "no counterpart"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.link.evidence_kernels import greedy, grouped_softmax
from kedge.types import FloatArray, IntArray

__all__ = ["matched", "owners", "two_sided"]


_OPTIMAL = 1_000_000  # stored entries up to which the assignment is optimal (a few seconds)


def owners(matrix: csr_array) -> IntArray:
    """The row of each stored entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))


def two_sided(L: csr_array, temperature: float) -> FloatArray:
    """P = sqrt(softmax over v of L/T, n_2 more at 0, × softmax over u of L/T, n_1 more at 0), per stored entry."""
    n_left, n_right = L.shape
    scaled = L.data / temperature
    forth = grouped_softmax(scaled, owners(L), n_left, n_right)
    back = grouped_softmax(scaled, L.indices.astype(np.int64, copy=False), n_right, n_left)
    return np.asarray(np.sqrt(forth * back))


def matched(L: csr_array) -> NDArray[np.bool_]:
    """Which stored entries the best one-to-one assignment takes.

    First among entries above 0, where staying alone is worth 0; then the accounts still alone among the rest, since
    a weak partner is better than none in a ranking and must not drive out a strong one. Beyond a million entries the
    best entries are taken greedily: the optimum's cost grows faster than linearly.
    """
    rows = owners(L)
    if L.nnz > _OPTIMAL:
        return np.asarray(greedy(rows, L.indices.astype(np.int64), np.argsort(-L.data, kind="stable"), *L.shape))
    taken = np.zeros(L.nnz, np.bool_)
    hopeful = np.flatnonzero(L.data > 0)
    taken[hopeful] = _assignment(rows[hopeful], L.indices[hopeful], L.data[hopeful])
    alone = np.ones(L.shape[0], np.bool_)
    alone[rows[taken]] = False
    free = np.ones(L.shape[1], np.bool_)
    free[L.indices[taken]] = False
    rest = np.flatnonzero(alone[rows] & free[L.indices])
    if len(rest):
        taken[rest] = _assignment(rows[rest], L.indices[rest], L.data[rest] - L.data[rest].min() + 1.0)
    return taken


def _assignment(row: IntArray, column: IntArray, gain: FloatArray) -> NDArray[np.bool_]:
    """Which entries a one-to-one assignment of the largest total gain takes; gains are positive."""
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if len(row) == 0:
        return np.zeros(0, np.bool_)
    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    # The solver wants a full matching, minimises, and reads a stored 0 as no edge: so each row has a private
    # column that is worth nothing, and gains become costs of at least 1.
    top = float(gain.max()) + 1.0
    spare = np.arange(len(rows))
    cost: Any = csr_array(
        (
            np.concatenate([top - gain, np.full(len(rows), top)]),
            (np.concatenate([row, spare]), np.concatenate([column, len(columns) + spare])),
        ),
        shape=(len(rows), len(columns) + len(rows)),
    )
    left, right = min_weight_full_bipartite_matching(cost)
    partner = np.empty(len(rows), np.int64)
    partner[left] = right
    return np.asarray(partner[row] == column)
