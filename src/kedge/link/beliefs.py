"""Beliefs from log-odds: two-sided softmax over sparse candidates, with room for "no counterpart"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.types import FloatArray, IntArray

__all__ = ["matched", "owners", "two_sided"]


def owners(matrix: csr_array) -> IntArray:
    """The row of each stored entry."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))


def _softmax(values: FloatArray, group: IntArray, groups: int, background: float) -> FloatArray:
    """Softmax within each group, with `background` further members at 0 (the ones that are not candidates)."""
    peak = np.zeros(groups)
    np.maximum.at(peak, group, values)
    weight = np.exp(values - peak[group])
    mass = np.bincount(group, weights=weight, minlength=groups) + background * np.exp(-peak)
    return np.asarray(weight / mass[group])


def two_sided(L: csr_array, temperature: float) -> FloatArray:
    """P = sqrt(softmax over v of L/T, n_2 more at 0, × softmax over u of L/T, n_1 more at 0), per stored entry."""
    n_left, n_right = L.shape
    scaled = L.data / temperature
    forth = _softmax(scaled, owners(L), n_left, n_right)
    back = _softmax(scaled, L.indices, n_right, n_left)
    return np.asarray(np.sqrt(forth * back))


def matched(L: csr_array) -> NDArray[np.bool_]:
    """Which stored entries the best one-to-one assignment takes; entries at or below 0 are never taken.

    Each left account also has a private "no match" worth 0, so a full matching always exists.
    """
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    taken: NDArray[np.bool_] = np.zeros(L.nnz, np.bool_)
    hopeful = np.flatnonzero(L.data > 0)
    if len(hopeful) == 0:
        return taken
    rows, row = np.unique(owners(L)[hopeful], return_inverse=True)
    columns, column = np.unique(L.indices[hopeful], return_inverse=True)
    gain = L.data[hopeful].astype(np.float64)
    # The solver reads a stored 0 as no edge and minimises, so gains become costs between 1 and top.
    top = gain.max() + 1.0
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
    taken[hopeful[partner[row] == column]] = True
    return taken
