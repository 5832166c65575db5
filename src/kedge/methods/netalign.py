"""NetAlign (Bayati, Gerritsen, Gleich, Saberi, Wang; ICDM 2009): belief propagation for overlapping edges.

Among candidate pairs L it seeks a one-to-one matching x that maximises α w·x + β/2 x·S x, where S marks pairs of
candidates that are an edge on both sides (squares). Messages, damped by 0.99^t:

    F = bound_[0, β](β S + S_t^T)          d = α w + F e
    y = d - othermaxcol(z)    z = d - othermaxrow(y)    S_t = diag(y + z - d) S - F,    α = β = 1

Deviations: the paper is given L by the likeness of names; here L are the 20 best common-neighbour candidates of each
account (w: their scores, at most 1), and the anchors, whose accounts have no other candidate. Candidates are ranked by
the belief y + z - d after the last round; the matching is left to kedge's assignment. An account that neighbours no
anchor has no candidate.

Cost: `baselines.rounds` passes over the squares, at most Σ over candidates of d_u · 20; no n × n matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import SparseAlignment, row_index, with_data
from kedge.methods import common_neighbours
from kedge.methods.shared.pairs import anchors_above
from kedge.types import FloatArray, IntArray, Problem

_ALPHA, _BETA, _DAMPING = 1.0, 1.0, 0.99
_CANDIDATES = 20  # of each account that compete; unmeasured


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """Beliefs in the candidates. The method is not random."""
    near = common_neighbours.align(problem, config.model_copy(update={"candidates": _CANDIDATES}), _context).scores
    anchored = csr_array((np.ones(len(problem.anchors)), tuple(problem.anchors.T)), shape=near.shape)
    # Anchors weigh more than all squares around them could take away.
    L = csr_array(near / max(float(near.data.max(initial=0.0)), 1e-30) + 100.0 * anchored)
    L.sort_indices()
    S = squares(problem, L)
    belief = _propagate(L, S, config.baselines.rounds)
    return anchors_above(problem, with_data(L, belief))


def squares(problem: Problem, L: csr_array) -> csr_array:
    """S, candidates × candidates: 1 where both ends of two candidates are edges of their networks."""
    left, right, candidates = (
        _Csr(matrix.indptr, matrix.indices) for matrix in (problem.left.adjacency, problem.right.adjacency, L)
    )
    rows, none = row_index(L), np.zeros(0, np.int64)
    indptr = np.concatenate([[0], np.cumsum(_squares(rows, candidates, left, right, _Csr(none, none)))])
    indices = np.empty(indptr[-1], np.int64)
    _squares(rows, candidates, left, right, _Csr(indptr, indices))
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(L.nnz, L.nnz))


class _Csr(NamedTuple):
    """The places of a sparse matrix's entries, as a kernel reads them."""

    indptr: IntArray
    indices: IntArray


@njit(cache=True)
def _squares(rows, candidates, left, right, result):  # type: ignore[no-untyped-def]
    """The number of squares of each candidate; where `result` has an `indptr`, their partners are written into it."""
    counts = np.zeros(len(rows), np.int64)
    adjacent = np.full(len(right.indptr) - 1, -1, np.int64)
    for e in range(len(rows)):
        u, v = rows[e], candidates.indices[e]
        for j in range(right.indptr[v], right.indptr[v + 1]):
            adjacent[right.indices[j]] = e
        for i in range(left.indptr[u], left.indptr[u + 1]):
            a = left.indices[i]
            for f in range(candidates.indptr[a], candidates.indptr[a + 1]):
                if adjacent[candidates.indices[f]] == e:
                    if len(result.indptr) > 0:
                        result.indices[result.indptr[e] + counts[e]] = f
                    counts[e] += 1
    return counts


def _other_max(values: FloatArray, group: IntArray) -> FloatArray:
    """For each entry the largest positive value among the others of its group, or 0."""
    order = np.lexsort((-values, group))
    first = np.r_[True, np.diff(group[order]) != 0] if len(order) else np.zeros(0, bool)
    largest, second = (np.zeros(int(group.max(initial=-1)) + 1) for _ in range(2))
    tops = order[first]
    largest[group[tops]] = values[tops]
    rest = order[~first]
    np.maximum.at(second, group[rest], values[rest])
    others = largest[group]
    others[tops] = second[group[tops]]
    return np.asarray(np.maximum(others, 0))


def _propagate(L: csr_array, S: csr_array, rounds: int) -> FloatArray:
    """y + z - d of each candidate after the last round."""
    rows, columns = row_index(L), L.indices
    owner = row_index(S)
    # S is symmetric: entry (e, f) takes its transposed message from the entry (f, e).
    mirror = np.lexsort((owner, S.indices))
    w = _ALPHA * L.data
    y, z, d = w.copy(), w.copy(), w.copy()
    message = np.zeros(S.nnz)
    for round_ in range(1, rounds + 1):
        F = np.clip(_BETA + message[mirror], 0, _BETA)
        d = w + np.bincount(owner, F, minlength=len(w))
        new_y = d - _other_max(z, columns)
        new_z = d - _other_max(y, rows)
        new_message = (new_y + new_z - d)[owner] - F
        share = _DAMPING**round_
        y, z = share * new_y + (1 - share) * y, share * new_z + (1 - share) * z
        message = share * new_message + (1 - share) * message
    return np.asarray(y + z - d)
