"""The candidates that decisions are made on: the best of each left account, and the best of each right one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem, Side, is_among, pair_keys

_BLOCK = 1 << 16  # accounts whose candidates are fetched at a time


@dataclass(frozen=True)
class Shortlist:
    """Candidate pairs by left account, then by falling score, then by right account; all arrays [m].

    `own_order` is the method's score where `score` is its strength, which has another order (alignment.strengths).
    `n_left` and `n_right` count all accounts, `free_left` and `free_right` those without a known partner.
    """

    left: IntArray
    right: IntArray
    score: FloatArray
    n_left: int
    n_right: int
    free_left: int
    free_right: int
    own_order: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def indptr(self) -> IntArray:
        """Where the candidates of each left account begin, [n_left + 1]."""
        return np.searchsorted(self.left, np.arange(self.n_left + 1))

    @cached_property
    def rank(self) -> IntArray:
        """The place of a candidate on its left account's list, from 1."""
        return np.arange(len(self)) - self.indptr[self.left] + 1

    def without(self, removed: IntArray) -> Shortlist:
        """The same candidates without the pairs `removed` [k, 2]."""
        kept = ~is_among(np.column_stack([self.left, self.right]), removed, self.n_right)
        own = None if self.own_order is None else self.own_order[kept]
        return replace(self, left=self.left[kept], right=self.right[kept], score=self.score[kept], own_order=own)

    def matrix(self, values: FloatArray) -> csr_array:
        """One value per candidate as a sparse n_left × n_right matrix."""
        return csr_array((values, (self.left, self.right)), shape=(self.n_left, self.n_right))


def shortlist(problem: Problem, alignment: Alignment, k: int) -> Shortlist:
    """The k best of each account, seen from both sides, without anchored accounts and rejected pairs.

    Both sides matter: the true partner of a modest account is often crowded out of a hub's list, not the reverse.
    """
    n_left, n_right = problem.left.n, problem.right.n
    free = [np.ones(n, bool) for n in (n_left, n_right)]
    for side in (0, 1):
        free[side][problem.anchors[:, side]] = False
    from_left, scores_left = _best_of(alignment, k, "left", free[0], free[1])
    from_right, scores_right = _best_of(alignment, k, "right", free[1], free[0])
    pairs, score = np.concatenate([from_left, from_right[:, ::-1]]), np.concatenate([scores_left, scores_right])
    _, first = np.unique(pair_keys(pairs[:, 0], pairs[:, 1], n_right), return_index=True)
    first = first[~problem.is_rejected(pairs[first])]
    pairs, score = pairs[first], score[first]
    own: FloatArray | None = None
    if alignment.reorders:
        strength = alignment.strength(pairs)
        known = np.isfinite(strength)
        pairs, score, own = pairs[known], strength[known], score[known]
    left, right = pairs.T
    order = np.lexsort((right, -score, left))
    return Shortlist(
        left=left[order],
        right=right[order],
        score=score[order],
        n_left=n_left,
        n_right=n_right,
        free_left=int(free[0].sum()),
        free_right=int(free[1].sum()),
        own_order=None if own is None else own[order],
    )


def _best_of(
    alignment: Alignment, k: int, side: Side, mine: BoolArray, other: BoolArray
) -> tuple[IntArray, FloatArray]:
    """(free account of `side`, free account of the other side) [m, 2] and scores [m]: the k best of each account."""
    pairs: list[IntArray] = [np.empty((0, 2), np.int64)]
    scores: list[FloatArray] = [np.empty(0, np.float32)]
    accounts = np.flatnonzero(mine) if other.any() else np.empty(0, np.int64)
    # Anchored accounts may fill places on a list, so more are fetched where many are anchored.
    most = min(len(other), 4 * k, int(np.ceil(k * len(other) / max(other.sum(), 1))) + 1)
    for start in range(0, len(accounts), _BLOCK):
        block = accounts[start : start + _BLOCK]
        best, values = alignment.top(block, most, side)
        valid = (best >= 0) & np.isfinite(values)
        valid &= other[np.where(valid, best, 0)]
        valid &= np.cumsum(valid, axis=1) <= k
        row, place = np.nonzero(valid)
        pairs.append(np.column_stack([block[row], best[row, place]]))
        scores.append(values[row, place])
    return np.concatenate(pairs), np.concatenate(scores)
