"""The candidates that are decided about: the best of each left account, and the best of each right one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import Alignment, SparseAlignment
from kedge.types import FloatArray, IntArray, Problem, Side

__all__ = ["Shortlist", "shortlist"]

_BLOCK = 1 << 16  # accounts asked for at a time


@dataclass(frozen=True)
class Shortlist:
    """Candidate pairs by left account, then by falling score, then by right account; all arrays [m].

    `own_order` orders candidates as the method does, where that is not the order of `score` (alignment.strengths).
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

    def without(self, struck: IntArray) -> Shortlist:
        """The same candidates but for the pairs [k, 2]."""
        width = np.int64(max(self.n_right, 1))
        kept = ~np.isin(self.left * width + self.right, struck[:, 0] * width + struck[:, 1])
        own = None if self.own_order is None else self.own_order[kept]
        return replace(self, left=self.left[kept], right=self.right[kept], score=self.score[kept], own_order=own)

    def matrix(self, values: FloatArray) -> csr_array:
        """One value a candidate as a sparse n_left × n_right matrix."""
        return csr_array((values, (self.left, self.right)), shape=(self.n_left, self.n_right))


def shortlist(problem: Problem, alignment: Alignment, k: int) -> Shortlist:
    """The k best of each account, seen from both sides, without anchored accounts and rejected pairs.

    Both sides matter: the true partner of a modest account is often crowded out of a hub's list, not the reverse.
    """
    n_left, n_right = problem.left.n, problem.right.n
    free = [np.ones(n, bool) for n in (n_left, n_right)]
    for side in (0, 1):
        free[side][problem.anchors[:, side]] = False
    keys: list[IntArray] = [np.empty(0, np.int64)]
    scores: list[FloatArray] = [np.empty(0, np.float32)]
    sides: tuple[Side, Side] = ("left", "right")
    for mine, side_name in enumerate(sides):
        accounts, other = np.flatnonzero(free[mine]), free[1 - mine]
        if len(accounts) == 0 or not other.any():
            continue
        # Anchored accounts may fill places on a list, so ask for more where many are anchored.
        ask = min(len(other), 4 * k, int(np.ceil(k * len(other) / other.sum())) + 1)
        for start in range(0, len(accounts), _BLOCK):
            block = accounts[start : start + _BLOCK]
            best, values = alignment.top(block, ask, side_name)
            valid = (best >= 0) & np.isfinite(values)
            valid &= other[np.where(valid, best, 0)]
            valid &= np.cumsum(valid, axis=1) <= k
            row, place = np.nonzero(valid)
            pair = (block[row], best[row, place]) if side_name == "left" else (best[row, place], block[row])
            keys.append(pair[0].astype(np.int64) * n_right + pair[1])
            scores.append(values[row, place])
    key, first = np.unique(np.concatenate(keys), return_index=True)
    score = np.concatenate(scores)[first]
    left, right = key // max(n_right, 1), key % max(n_right, 1)
    if len(problem.rejected):
        kept = ~problem.is_rejected(np.column_stack([left, right]))
        left, right, score = left[kept], right[kept], score[kept]
    own: FloatArray | None = None
    if isinstance(alignment, SparseAlignment) and alignment.strengths is not None:
        strength = alignment.strength(np.column_stack([left, right]))
        known = np.isfinite(strength)
        left, right, score, own = left[known], right[known], strength[known], score[known]
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
