"""Beliefs from log-odds: two-sided softmax over sparse candidates, with room for "no counterpart"."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.evidence.kernels import grouped_softmax
from kedge.linalg import row_index, with_data, without_entries
from kedge.linalg.assign import How, assign
from kedge.types import BoolArray, FloatArray

# Stored entries up to which the assignment is optimal. At a million entries it takes about a second (real log-odds) to
# seven (integers, where most gains tie); its cost grows faster than linearly.
_OPTIMAL = 1_000_000


def two_sided(L: csr_array, temperature: float) -> FloatArray:
    """P = sqrt(softmax over v of L/T, n_2 more at 0, × softmax over u of L/T, n_1 more at 0), per stored entry."""
    n_left, n_right = L.shape
    scaled = L.data / temperature
    forth = grouped_softmax(scaled, row_index(L), n_left, n_right)
    back = grouped_softmax(scaled, L.indices.astype(np.int64, copy=False), n_right, n_left)
    return np.asarray(np.sqrt(forth * back))


def matched(L: csr_array) -> BoolArray:
    """Which stored entries the best one-to-one assignment takes.

    First among entries above 0, where no counterpart is worth 0; then the accounts still free among the rest, since a
    weak partner is better than none in a ranking and must not displace a strong one. Beyond `_OPTIMAL` entries the best
    ones are taken greedily.
    """
    how: How = "optimal" if L.nnz <= _OPTIMAL else "greedy"
    strong = assign(L, how)
    rest = without_entries(L, strong[:, 0], strong[:, 1])
    weak = assign(with_data(rest, rest.data - rest.data.min(initial=0.0) + 1.0), how)
    partner = np.full(L.shape[0], -1, np.int64)
    for pairs in (strong, weak):
        partner[pairs[:, 0]] = pairs[:, 1]
    return np.asarray(partner[row_index(L)] == L.indices)
