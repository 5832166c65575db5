"""Candidates by what profiles have in common: the accounts that share most rare features, never all pairs.

All fields are searched at once. A feature is a value, a word or a group of letters; sharing it counts by its rarity,
log(n / accounts that have it), so that the sum is about the evidence that the fields give together. Features that
most accounts have would cost most and count least: the rarest are taken, as many as the work allows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from scipy.sparse import csr_array, hstack

from kedge.profiles.values import Values
from kedge.types import IntArray

_FREE_WORK: Final = 2e8  # products of a search that takes about a second
_WORK: Final = 4_000  # products for each account: the search grows with the accounts, not with their square
_LISTED: Final = 1_000_000  # pairs of small networks
_FEWEST: Final = 10  # candidates of each account of large ones; unmeasured
_MOST: Final = 200


def candidates_each(n_left: int, n_right: int) -> int:
    """How many candidates each account gets."""
    return int(np.clip(_LISTED // max(n_left + n_right, 1), _FEWEST, _MOST))


def shared_features(fields: list[tuple[Values, Values]]) -> tuple[csr_array, csr_array]:
    """The features of all fields next to each other, weighed so that a product of two rows is in log-odds."""
    sides: list[list[csr_array]] = [[], []]
    for left, right in fields:
        if left.features.nnz == 0 or right.features.nnz == 0:
            continue
        n = left.features.shape[0] + right.features.shape[0]
        count = [np.bincount(side.features.indices, minlength=side.features.shape[1]) for side in (left, right)]
        usable = (count[0] > 0) & (count[1] > 0)
        single = all(np.diff(side.features.indptr).max(initial=0) <= 1 for side in (left, right))
        # One value: by its own rarity. Many terms: their rarity is in the features, and equal bags are worth log n.
        worth = np.log(n / np.maximum(count[0] + count[1], 1)) if single else np.full(len(usable), np.log(n))
        scale = np.sqrt(np.maximum(worth, 0)) * usable
        for i, side in enumerate((left, right)):
            # A copy: zeros are removed in place, and the similarity of a pair needs the features as they are.
            weighed = csr_array(side.features, copy=True)
            weighed.data = (weighed.data * scale[weighed.indices]).astype(np.float32)
            weighed.eliminate_zeros()
            sides[i].append(weighed)
    if not sides[0]:
        return csr_array((0, 0)), csr_array((0, 0))
    joined = [csr_array(hstack(side, format="csr")) for side in sides]
    return joined[0], joined[1]


def affordable(left: csr_array, right: csr_array) -> tuple[csr_array, csr_array]:
    """Both without the most frequent features, so that a search costs no more than the work allows."""
    width = left.shape[1]
    cost = np.bincount(left.indices, minlength=width) * np.bincount(right.indices, minlength=width).astype(np.float64)
    work = max(_FREE_WORK, _WORK * (left.shape[0] + right.shape[0]))
    if cost.sum() <= work:
        return left, right
    order = np.argsort(cost, kind="stable")
    kept = np.zeros(width, bool)
    kept[order[np.cumsum(cost[order]) <= work]] = True
    return _only(left, kept), _only(right, kept)


def _only(matrix: csr_array, kept: Any) -> csr_array:
    chosen = csr_array(matrix, copy=True)
    chosen.data *= kept[chosen.indices]
    chosen.eliminate_zeros()
    return chosen


def best_products(left: csr_array, right: csr_array, k: int) -> IntArray:
    """For each left row the k right rows with the largest products above 0: pairs [m, 2], ties by number."""
    if left.nnz == 0 or right.nnz == 0:
        return np.empty((0, 2), np.int64)
    back = csr_array(right.T.tocsr())
    found = _best(
        left.indptr.astype(np.int64),
        left.indices.astype(np.int32),
        left.data.astype(np.float32),
        back.indptr.astype(np.int64),
        back.indices.astype(np.int32),
        back.data.astype(np.float32),
        right.shape[0],
        k,
    )
    row, place = np.nonzero(found >= 0)
    return np.column_stack([row, found[row, place]]).astype(np.int64)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _best(
    indptr: Any, indices: Any, data: Any, back_indptr: Any, back_indices: Any, back_data: Any, n_right: int, k: int
) -> Any:
    n = len(indptr) - 1
    found = np.full((n, k), -1, np.int32)
    total = np.zeros(n_right, np.float32)
    reached = np.empty(n_right, np.int32)
    seen_by = np.full(n_right, -1, np.int64)  # not by a total of 0: products may underflow
    for u in range(n):
        count = 0
        for i in range(indptr[u], indptr[u + 1]):
            x = data[i]
            f = indices[i]
            for j in range(back_indptr[f], back_indptr[f + 1]):
                v = back_indices[j]
                if seen_by[v] != u:
                    seen_by[v] = u
                    reached[count] = v
                    count += 1
                total[v] += x * back_data[j]
        here = reached[:count]
        score = total[here]
        if count > k:
            least = np.partition(score, count - k)[count - k]
            above = 0
            for i in range(count):
                if score[i] > least:
                    found[u, above] = here[i]
                    above += 1
            equal = np.sort(here[score == least])
            for i in range(k - above):
                found[u, above + i] = equal[i]
        else:
            for i in range(count):
                found[u, i] = here[i]
        for i in range(count):
            total[here[i]] = 0
    return found
