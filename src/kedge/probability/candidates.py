"""The candidates that decisions are made on, and what their probabilities are estimated from: how high a candidate
scores, and how clearly it beats its rivals.

A method may order candidates otherwise than by their strength: evidence's order knows the assignment, its log-odds do
not. How clearly a candidate leads in that order is then a signal too (docs/decisions/0023).

Each signal does not fall when the pair's own score or its place in that order rises (all else fixed), so a model with
weights ≥ 0 is monotone in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem, Side, pair_keys

_BLOCK = 1 << 16  # accounts whose candidates are fetched at a time
SIGNALS = (
    "score",
    "lead over the left account's other candidates",
    "lead over the right account's",
    "mutual best",
    "lead over the left account's others in the method's own order",
    "lead over the right account's in that order",
)


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

    def matrix(self, values: FloatArray) -> csr_array:
        """One value per candidate as a sparse n_left × n_right matrix."""
        return csr_array((values, (self.left, self.right)), shape=(self.n_left, self.n_right))


def shortlist(
    problem: Problem, alignment: Alignment, k: int, removed: tuple[IntArray, IntArray] | None = None
) -> Shortlist:
    """The k best of each account, seen from both sides, without anchored accounts and rejected pairs.

    Both sides matter: the true partner of a modest account is often crowded out of a hub's list, not the reverse.
    Accounts that are `removed`, left and right, are on no list and have none.
    """
    n_left, n_right = problem.left.n, problem.right.n
    free = [np.ones(n, bool) for n in (n_left, n_right)]
    for side in (0, 1):
        free[side][problem.anchors[:, side]] = False
        if removed is not None:
            free[side][removed[side]] = False
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


@dataclass(frozen=True)
class Scale:
    """The unit of a method's scores: a middle, a spread, the floor in place of an absent rival.

    `temperature`, in spreads, is how near a rival's score must be to count as a rival; `last` is the floor in the
    method's own order.
    """

    middle: float
    spread: float
    floor: float
    temperature: float = 0.25
    last: float = 0.0


def scale_of(lists: Sequence[Shortlist]) -> Scale:
    """The scale from all candidates' scores and from the best score of each left account."""
    score = np.concatenate([[], *(pairs.score for pairs in lists)])
    if len(score) == 0:
        return Scale(0.0, 1.0, 0.0)
    best = np.concatenate([_best_scores(pairs) for pairs in lists])
    low, middle, high = np.quantile(best, [0.25, 0.5, 0.75])
    spread = float(high - low) or float(np.std(score)) or 1.0
    own = np.concatenate([[], *(pairs.own_order for pairs in lists if pairs.own_order is not None)])
    last = _low(own) if len(own) else 0.0
    return Scale(float(middle), spread, _low(score), last=last)


def _low(values: FloatArray) -> float:
    """The score of an absent rival: lower than nearly all others, and no outlier."""
    return float(np.quantile(values, 0.01))


def _best_scores(pairs: Shortlist) -> FloatArray:
    """The best score of each left account that has candidates."""
    accounts = np.flatnonzero(np.diff(pairs.indptr))
    return pairs.score[pairs.indptr[accounts]].astype(np.float64)


def _rivals(group: IntArray, n: int, score: FloatArray, floor: float, unit: float) -> FloatArray:
    """log Σ exp(score / unit) over the other candidates of the same account, and the floor."""
    top = np.full(n, floor)
    np.maximum.at(top, group, score)
    shifted = np.exp((score - top[group]) / unit)
    total = np.bincount(group, shifted, minlength=n)[group]
    # The difference total - own loses its digits where one candidate dwarfs the rest: sum the rest about their own top.
    second = _best_other(group, n, score, floor)
    dwarfs = shifted > 0.5 * total
    rest = np.where(dwarfs, 0.0, total - shifted)
    about = np.where(dwarfs, second, top[group])
    owner = np.full(n, -1)
    owner[group[dwarfs]] = np.flatnonzero(dwarfs)  # at most one of a group can hold more than half
    small = np.flatnonzero(~dwarfs & (owner[group] >= 0))
    np.add.at(rest, owner[group[small]], np.exp((score[small] - about[owner[group[small]]]) / unit))
    return np.asarray(about / unit + np.log(rest + np.exp((floor - about) / unit)))


def _best_other(group: IntArray, n: int, score: FloatArray, floor: float) -> FloatArray:
    """The best score among an account's other candidates; the floor where there is none."""
    from kedge.linalg.best import best_other  # numba is loaded where it is needed

    return np.asarray(best_other(group, n, score, floor))


def margins(pairs: Shortlist, score: FloatArray, floor: float) -> tuple[FloatArray, FloatArray]:
    """The score minus the best other candidate's, seen from the left and from the right account."""
    score = score.astype(np.float64)
    return (
        score - _best_other(pairs.left, pairs.n_left, score, floor),
        score - _best_other(pairs.right, pairs.n_right, score, floor),
    )


def signals(pairs: Shortlist, scale: Scale) -> FloatArray:
    """The signals of each candidate, [m, 6], in the order of `SIGNALS`; the last two are 0 where scores are the order.

    A lead is the score minus the soft maximum of the rivals, so ten near rivals count for more than one; leads and
    scores go through asinh, since methods differ in how far their scores run out.
    """
    score = pairs.score.astype(np.float64)
    unit = scale.temperature * scale.spread
    from_left = score / unit - _rivals(pairs.left, pairs.n_left, score, scale.floor, unit)
    from_right = score / unit - _rivals(pairs.right, pairs.n_right, score, scale.floor, unit)
    lead_left, lead_right = margins(pairs, score, -np.inf)
    nothing = np.zeros(len(pairs))
    own = (nothing, nothing) if pairs.own_order is None else margins(pairs, pairs.own_order, scale.last)
    return np.column_stack(
        [
            np.arcsinh((score - scale.middle) / scale.spread),
            np.arcsinh(from_left),
            np.arcsinh(from_right),
            (lead_left > 0) & (lead_right > 0),
            np.arcsinh(own[0]),
            np.arcsinh(own[1]),
        ]
    )
