"""How strongly nearness in the shared space speaks for a pair: the log of a likelihood ratio, with nothing to tune.

With d(u, v) = 1 - cos(x_u, y_v), and around(u) the median of log d over the accounts on the other side nearest to u:

    log P(d | the same person) / P(d | somebody else) = b + w · (log d, log d - around(u), log d - around(v))

Where many accounts lie close together, all near ones are hardly farther than the right one: there only the order of
small distances tells, so distances count by their logarithm and beside those of the surroundings. w and b come from
logistic regression on known pairs that did not help to lay the spaces over each other, each against its nearest
rivals, all of them, and a few random ones that stand for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.link.candidates import nearest
from kedge.link.logistic import fit_logistic
from kedge.link.unseen import Unseen
from kedge.types import FloatArray, IntArray

__all__ = ["Nearness", "NearnessJudge", "Surroundings", "fit_nearness", "log_distance", "surroundings"]

_LEAST_DISTANCE = 1e-4  # nearer ones are equally near: what is left of a cosine in float32 is noise
_AROUND = 10  # accounts whose distances are the surroundings of an account
_RIVALS = 20  # nearest accounts that a known pair is held against
_RANDOM = 20  # random ones for the rest
_ENOUGH_PAIRS = 500  # four numbers are to be estimated
_STRENGTH = 0.1  # of the belief that nearness says nothing


Surroundings: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Nearness:
    """log-ratio = weights · (1, log d, log d - around(u), log d - around(v))."""

    weights: FloatArray

    def log_ratio(self, vectors: VectorAlignment, pairs: IntArray, around: Surroundings) -> FloatArray:
        """Of each pair, [m]."""
        return _describe(vectors, pairs, around) @ self.weights


@dataclass(frozen=True)
class NearnessJudge:
    """Nearness as a `Judge` of vectors in any space whose surroundings are `around`."""

    nearness: Nearness
    around: Surroundings

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray) -> FloatArray:
        """The log-ratio of each (row of X, row of Y) in `pairs`, [m]."""
        return self.nearness.log_ratio(VectorAlignment(X, Y), pairs, self.around)


def surroundings(cosines: tuple[FloatArray, FloatArray]) -> Surroundings:
    """around(u) of all left accounts, [n_1], and of all right ones, [n_2], from the cosines of their nearest, [n, k].

    A median, since the partner of an account is among its nearest, and nearer than it should be where it helped to lay
    the spaces over each other. Who has nobody around is as far from all as can be said.
    """
    left, right = (_median_distance(side[:, :_AROUND]) for side in cosines)
    return left, right


def _median_distance(cosines: FloatArray) -> FloatArray:
    lonely = np.isnan(cosines).all(axis=1, keepdims=True)
    result: FloatArray = np.nanmedian(log_distance(np.where(lonely, 0.0, cosines)), axis=1)
    return result


def fit_nearness(
    folds: Iterable[Unseen], anchors: IntArray, around: Surroundings, rng: np.random.Generator
) -> Nearness | None:
    """From as many folds as it takes to see enough pairs; None where no pair has a place in the space.

    Anchors outside of a fold are nobody's rivals: whoever has a known partner is proposed to nobody else. `around` is
    that of the space which all pairs laid: a search of all accounts a fold would cost more than all else, and a median
    hardly feels one account that lies too near.
    """
    columns, truth, weight, sizes = [], [], [], []
    seen = 0
    for fold in folds:
        vectors = VectorAlignment(fold.left, fold.right)
        sides = (vectors.left, vectors.right)
        placed = np.all([side[fold.pairs[:, i]].any(axis=1) for i, side in enumerate(sides)], axis=0)
        pairs = fold.pairs[placed][: _ENOUGH_PAIRS - seen]
        if len(pairs) == 0:
            continue
        free = [
            np.setdiff1d(np.flatnonzero(side.any(axis=1)), np.setdiff1d(anchors[:, i], pairs[:, i]))
            for i, side in enumerate(sides)
        ]
        false, stands_for = _rivals(vectors, pairs, free, rng)
        # Each known pair is true from either of its sides.
        columns.append(_describe(vectors, np.concatenate([pairs, pairs, false]), around))
        truth.append(np.arange(len(columns[-1])) < 2 * len(pairs))
        weight.append(np.concatenate([np.ones(2 * len(pairs)), stands_for]))
        sizes.append(np.sqrt(len(free[0]) * len(free[1])))
        seen += len(pairs)
        if seen >= _ENOUGH_PAIRS:
            break
    if seen == 0:
        return None
    x = np.concatenate(columns)
    centre, scale = x[:, 1:].mean(axis=0), np.maximum(x[:, 1:].std(axis=0), 1e-6)
    x[:, 1:] = (x[:, 1:] - centre) / scale
    # Before distances are known, each of as many accounts is as likely to be the partner.
    chance = float(np.log(np.mean(sizes)))
    prior = np.array([-chance, 0.0, 0.0, 0.0])
    fitted = fit_logistic(x, np.concatenate(truth), np.concatenate(weight), prior, _STRENGTH)
    slopes = fitted[1:] / scale
    return Nearness(np.concatenate([[fitted[0] + chance - slopes @ centre], slopes]))


def _rivals(
    vectors: VectorAlignment, pairs: IntArray, free: Sequence[IntArray], rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """False pairs of both accounts of each pair, [m, 2], and how many of the account's false pairs each stands for."""
    found, stands_for = [], []
    for side, (mine, other) in enumerate(((vectors.left, vectors.right), (vectors.right, vectors.left))):
        asking, partner, pool = pairs[:, side], pairs[:, 1 - side], free[1 - side]
        places = nearest(mine[asking], other[pool], _RIVALS, exact_up_to=len(pool)).places
        near = np.where(places >= 0, pool[places], -1)
        drawn = pool[rng.integers(len(pool), size=(len(pairs), _RANDOM))]
        far = ~(drawn[:, :, None] == near[:, None, :]).any(axis=2) & (drawn != partner[:, None])
        apart = ~(near == partner[:, None]).any(axis=1)  # the partner is among the rest, and no rival
        rest = len(pool) - (near >= 0).sum(axis=1) - apart
        for rivals, kept, each in (
            (near, (near >= 0) & (near != partner[:, None]), np.ones(len(pairs))),
            (drawn, far, rest / np.maximum(far.sum(axis=1), 1)),
        ):
            row, place = np.nonzero(kept)
            accounts = [asking[row], rivals[row, place]]
            found.append(np.column_stack(accounts if side == 0 else accounts[::-1]))
            stands_for.append(each[row])
    return np.concatenate(found), np.concatenate(stands_for)


def _describe(vectors: VectorAlignment, pairs: IntArray, around: Surroundings) -> FloatArray:
    """(1, log d, log d - around(u), log d - around(v)) of each pair, [m, 4]."""
    distance = log_distance(vectors.cosine(pairs))
    beside = [distance - around[side][pairs[:, side]] for side in (0, 1)]
    return np.column_stack([np.ones(len(pairs)), distance, *beside])


def log_distance(cosine: FloatArray) -> FloatArray:
    """log d of each cosine."""
    result: FloatArray = np.log(_LEAST_DISTANCE + np.maximum(1.0 - cosine.astype(np.float64), 0.0))
    return result
