"""Candidates by cross-domain similarity local scaling (CSLS; Conneau et al., ICLR 2018), from sparse coordinates.

    score(u, v) = 2 cos(u, v) - r(u) - r(v),    r(u) = the mean cosine of u with its nearest accounts on the other side

An account that is near to many others gains less by each. The cosines of all pairs are computed, a row at a time, and
the nearest of each account are kept: no n × n matrix.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy.sparse import csr_array

from kedge.embedding.coordinates import Coordinates
from kedge.linalg import top_of_rows
from kedge.types import BoolArray, FloatArray, IntArray


def scale_locally(
    left: Coordinates, right: Coordinates, free: tuple[BoolArray, BoolArray], keep: int, neighbours: int
) -> csr_array:
    """The scores [n_1, n_2] of the `keep` nearest free accounts of each free account, from both sides.

    Exact zeros are moved to the smallest number, so that each candidate is stored.
    """
    shape = (len(free[0]), len(free[1]))
    placed = [np.zeros(n, bool) for n in shape]
    for mask, side, is_free in zip(placed, (left, right), free, strict=True):
        mask[side.placed] = is_free[side.placed]
    accounts = [np.flatnonzero(mask) for mask in placed]
    rows, columns, cosines, near = [], [], [], []
    wanted = max(keep, neighbours, 1)
    for mine, other, here, there in ((left, right, 0, 1), (right, left, 1, 0)):
        back = csr_array(other.entries[accounts[there]].T.tocsr())
        tails = (mine.tail, other.mirrored) if here == 0 else (mine.mirrored, other.tail)
        found, cosine = _nearest(
            *_parts(mine.entries[accounts[here]]),
            *_parts(back),
            tails[0][accounts[here]],
            tails[1][accounts[there]],
            min(wanted, len(accounts[there])),
        )
        mean = np.zeros(shape[here], np.float32)
        if neighbours and found.shape[1]:
            mean[accounts[here]] = cosine[:, :neighbours].mean(axis=1)
        near.append(mean)
        pairs = [np.repeat(accounts[here], min(keep, found.shape[1])), accounts[there][found[:, :keep]].ravel()]
        rows.append(pairs[here])
        columns.append(pairs[there])
        cosines.append(cosine[:, :keep].ravel())
    row, column = np.concatenate(rows), np.concatenate(columns)
    score = 2 * np.concatenate(cosines) - near[0][row] - near[1][column]
    _, first = np.unique(row * np.int64(max(1, shape[1])) + column, return_index=True)
    score = np.where(score == 0, np.finfo(np.float32).tiny, score).astype(np.float32)
    return csr_array((score[first], (row[first], column[first])), shape=shape)


def _parts(matrix: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


@numba.njit(cache=True, nogil=True)
def _nearest(indptr, indices, data, back_indptr, back_indices, back_data, tail, other_tail, k):  # type: ignore[no-untyped-def] # pragma: no cover
    """The k columns with the largest entries · back + tail · other_tail of each row, largest first, and their values;
    equal ones by their number."""
    n, m = len(indptr) - 1, len(other_tail)
    best = np.zeros((n, k), np.int64)
    value = np.full((n, k), -np.inf, np.float32)
    total = np.empty(m, np.float32)
    for u in range(n):
        for v in range(m):
            cosine = np.float32(0)
            for t in range(tail.shape[1]):
                cosine += tail[u, t] * other_tail[v, t]
            total[v] = cosine
        for i in range(indptr[u], indptr[u + 1]):
            x, column = data[i], indices[i]
            for j in range(back_indptr[column], back_indptr[column + 1]):
                total[back_indices[j]] += x * back_data[j]
        for v in range(m):
            if k > 0 and total[v] > value[u, k - 1]:
                place = k - 1
                while place > 0 and total[v] > value[u, place - 1]:
                    value[u, place] = value[u, place - 1]
                    best[u, place] = best[u, place - 1]
                    place -= 1
                value[u, place] = total[v]
                best[u, place] = v
    return best, value


def mutual_best(scores: csr_array) -> IntArray:
    """The pairs [m, 2] that are the best of both their accounts; of equal ones, that with the smallest number.

    Accounts that tie have the same neighbourhood, so that each of them serves as well as a coordinate.
    """
    first, second = (top_of_rows(matrix, 1)[0][:, 0] for matrix in (scores, csr_array(scores.T.tocsr())))
    rows = np.flatnonzero(first >= 0)
    rows = rows[second[first[rows]] == rows]
    return np.column_stack([rows, first[rows]])
