"""Candidates by cross-domain similarity local scaling (CSLS; Conneau et al., ICLR 2018), from sparse coordinates.

    score(u, v) = 2 cos(u, v) - r(u) - r(v),    r(u) = the mean cosine of u with its nearest accounts on the other side

An account that is near to many others gains less by each. Cosines are computed of the pairs that have a stored
coordinate in common, a row at a time, and the nearest of each account are kept: no n × n matrix, and since rows and
columns have bounded lengths, a cost that grows with the accounts.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy.sparse import csr_array

from kedge.embedding.coordinates import Coordinates
from kedge.linalg import row_index
from kedge.types import BoolArray, FloatArray, IntArray, pair_keys


def scale_locally(
    left: Coordinates, right: Coordinates, free: tuple[BoolArray, BoolArray], keep: int, neighbours: int
) -> csr_array:
    """The scores [n_1, n_2] of the `keep` nearest free accounts of each free account, from both sides.

    Exact zeros are moved to the smallest number, so that each candidate is stored.
    """
    shape = (len(free[0]), len(free[1]))
    accounts = [side.placed[mask[side.placed]] for side, mask in zip((left, right), free, strict=True)]
    found, means = [], []
    for mine, other, here, there in ((left, right, 0, 1), (right, left, 1, 0)):
        back = csr_array(other.entries[accounts[there]].T.tocsr())
        tails = (mine.tail, other.mirrored) if here == 0 else (mine.mirrored, other.tail)
        best, cosine = _nearest(
            *_parts(mine.entries[accounts[here]]),
            *_parts(back),
            tails[0][accounts[here]],
            tails[1][accounts[there]],
            max(keep, neighbours),
        )
        mean = np.zeros(shape[here], np.float32)
        mean[accounts[here]] = _mean_of_finite(cosine[:, :neighbours])
        means.append(mean)
        row, place = np.nonzero(best[:, :keep] >= 0)
        pairs = np.column_stack([accounts[here][row], accounts[there][best[row, place]]])
        found.append((pairs if here == 0 else pairs[:, ::-1], cosine[row, place]))
    pairs, cosines = (np.concatenate(parts) for parts in zip(*found, strict=True))
    score = 2 * cosines - means[0][pairs[:, 0]] - means[1][pairs[:, 1]]
    score = np.where(score == 0, np.finfo(np.float32).tiny, score).astype(np.float32)
    _, first = np.unique(pair_keys(pairs[:, 0], pairs[:, 1], shape[1]), return_index=True)
    return csr_array((score[first], tuple(pairs[first].T)), shape=shape)


def _mean_of_finite(cosines: FloatArray) -> FloatArray:
    """The mean of each row's finite entries; 0 where there are none."""
    known = np.isfinite(cosines)
    return np.asarray(np.where(known, cosines, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _parts(matrix: csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


@numba.njit(cache=True, nogil=True)
def _nearest(indptr, indices, data, back_indptr, back_indices, back_data, tail, other_tail, k):  # type: ignore[no-untyped-def] # pragma: no cover
    """The k columns with the largest entries · back + tail · other_tail of each row, largest first, and their values.

    Only columns whose entries meet the row's; equal ones by their number. Short rows end in -1 and -inf.
    """
    n, m = len(indptr) - 1, len(other_tail)
    best = np.full((n, k), -1, np.int64)
    value = np.full((n, k), -np.inf, np.float32)
    total = np.empty(m, np.float32)
    reached = np.empty(m, np.int64)
    seen_by = np.full(m, -1, np.int64)
    for u in range(n):
        count, terms = 0, 0
        for i in range(indptr[u], indptr[u + 1]):
            terms += back_indptr[indices[i] + 1] - back_indptr[indices[i]]
        if terms > 4 * m:  # nearly all are met: to clear and look through all takes less than to mark each
            total[:] = 0
            for i in range(indptr[u], indptr[u + 1]):
                x, column = data[i], indices[i]
                for j in range(back_indptr[column], back_indptr[column + 1]):
                    total[back_indices[j]] += x * back_data[j]
            for v in range(m):
                if total[v] > 0:  # entries are above 0
                    reached[count] = v
                    count += 1
        for i in range(indptr[u], indptr[u + 1] if terms <= 4 * m else indptr[u]):
            x, column = data[i], indices[i]
            for j in range(back_indptr[column], back_indptr[column + 1]):
                v = back_indices[j]
                if seen_by[v] != u:
                    seen_by[v] = u
                    reached[count] = v
                    count += 1
                    total[v] = 0
                total[v] += x * back_data[j]
        for place in range(count):
            v = reached[place]
            cosine = total[v]
            for t in range(tail.shape[1]):
                cosine += tail[u, t] * other_tail[v, t]
            here = k
            while here > 0 and (
                cosine > value[u, here - 1] or (cosine == value[u, here - 1] and v < best[u, here - 1])
            ):
                if here < k:
                    value[u, here], best[u, here] = value[u, here - 1], best[u, here - 1]
                here -= 1
            if here < k:
                value[u, here], best[u, here] = cosine, v
    return best, value


def mutual_best(scores: csr_array) -> IntArray:
    """The pairs [m, 2] that are the best of both their accounts; of equal ones, that with the smallest number.

    Accounts that tie have the same neighbourhood, so that each of them serves as well as a coordinate.
    """
    first, second = (_best_of_rows(matrix) for matrix in (scores, csr_array(scores.T.tocsr())))
    rows = np.flatnonzero(first >= 0)
    rows = rows[second[first[rows]] == rows]
    return np.column_stack([rows, first[rows]])


def _best_of_rows(scores: csr_array) -> IntArray:
    """The column of each row's largest entry, the smallest of equal ones; -1 where there is none."""
    best = np.full(scores.shape[0], -1, np.int64)
    filled = np.flatnonzero(np.diff(scores.indptr))
    if len(filled) == 0:
        return best
    top = np.zeros(scores.shape[0], scores.dtype)
    top[filled] = np.maximum.reduceat(scores.data, scores.indptr[filled])
    rows = row_index(scores)
    at_top = np.flatnonzero(scores.data == top[rows])[::-1]  # the last that is written is the smallest column
    best[rows[at_top]] = scores.indices[at_top]
    return best
