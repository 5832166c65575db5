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

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.methods import common_neighbours
from kedge.methods.every_pair import above_all
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["align", "squares"]

_ALPHA, _BETA, _DAMPING = 1.0, 1.0, 0.99
_CANDIDATES = 20


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """Beliefs in the candidates. Not random: `seed` is unused."""
    near = common_neighbours.align(problem, config.model_copy(update={"candidates": _CANDIDATES}), seed).scores
    anchored = csr_array((np.ones(len(problem.anchors)), tuple(problem.anchors.T)), shape=near.shape)
    # Anchors weigh more than all squares around them could take away.
    L = csr_array(near / max(float(near.data.max(initial=0.0)), 1e-30) + 100.0 * anchored)
    L.sort_indices()
    S = squares(problem, L)
    belief = _propagate(L, S, config.baselines.rounds)
    return above_all(problem, csr_array((belief, L.indices, L.indptr), shape=L.shape))


def squares(problem: Problem, L: csr_array) -> csr_array:
    """S, candidates × candidates: 1 where both ends of two candidates are edges of their networks."""
    left, right = problem.left.adjacency, problem.right.adjacency
    rows = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    arguments = (rows, L.indices, L.indptr, left.indptr, left.indices, right.indptr, right.indices)
    counts = _squares(*arguments, np.zeros(0, np.int64), np.zeros(0, np.int64))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(indptr[-1], np.int64)
    _squares(*arguments, indptr, indices)
    return csr_array((np.ones(len(indices)), indices, indptr), shape=(L.nnz, L.nnz))


@njit(cache=True)
def _squares(rows, columns, starts, left_starts, left_ends, right_starts, right_ends, indptr, indices):  # type: ignore[no-untyped-def]
    """The number of squares of each candidate; where `indptr` is given, their partners too."""
    counts = np.zeros(len(rows), np.int64)
    beside = np.full(len(right_starts) - 1, -1, np.int64)
    for e in range(len(rows)):
        u, v = rows[e], columns[e]
        for j in range(right_starts[v], right_starts[v + 1]):
            beside[right_ends[j]] = e
        for i in range(left_starts[u], left_starts[u + 1]):
            a = left_ends[i]
            for f in range(starts[a], starts[a + 1]):
                if beside[columns[f]] == e:
                    if len(indptr) > 0:
                        indices[indptr[e] + counts[e]] = f
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
    bounded: FloatArray = np.maximum(others, 0)
    return bounded


def _propagate(L: csr_array, S: csr_array, rounds: int) -> FloatArray:
    """y + z - d of each candidate after the last round."""
    rows, columns = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr)), L.indices
    owner = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
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
    belief: FloatArray = y + z - d
    return belief
