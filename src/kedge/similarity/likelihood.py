"""Vector similarity as evidence for a pair: the log of a likelihood ratio, with nothing to tune.

With d(u, v) = 1 - cos(x_u, y_v), and scale(u) the median of log d over the accounts on the other side nearest to u:

    log P(d | the same person) / P(d | different persons) = b + w · (log d, log d - scale(u), log d - scale(v))

In a dense region all near accounts are hardly farther than the right one: only the order of small distances separates
them, so distances count by their logarithm and relative to the local scale. w and b come from logistic regression on
known pairs, each against its nearest rivals, all of them, and a few random ones that stand for the rest.

The known pairs are validation folds, which were not used to align the spaces: a projection brings its own anchors
nearer to each other than any other pair, so a model fitted on them would expect true pairs to be nearer than they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kedge.linalg import VectorAlignment, nearest
from kedge.types import FloatArray, IntArray

_LEAST_DISTANCE = 1e-4  # nearer ones are equally near: what is left of a cosine in float32 is noise
_LOCAL = 10  # nearest accounts whose distances make the local scale; unmeasured
_RIVALS = 20  # nearest accounts that a known pair is compared with; unmeasured
_RANDOM = 20  # random ones for the rest; unmeasured
_ENOUGH_PAIRS = 500  # four numbers are to be estimated; unmeasured
_STRENGTH = 0.1  # of the prior that similarity is no evidence; unmeasured


def fit_logistic(
    columns: FloatArray,
    is_true: NDArray[np.bool_],
    weight: FloatArray,
    prior: FloatArray,
    strength: float | FloatArray = 1.0,
    least: FloatArray | None = None,
) -> FloatArray:
    """w ≥ least minimising sum_i weight_i log(1 + exp(-sign_i columns_i · w)) + strength · (w - prior)² / 2;
    columns [m, d], `strength` one for all or one for each of the d."""
    from scipy.optimize import minimize  # takes longer to load than all else here

    sign = np.where(is_true, 1.0, -1.0)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        z = sign * (columns @ w)
        slope = -weight * sign * 0.5 * (1 - np.tanh(z / 2))
        away = w - prior
        return float(weight @ np.logaddexp(0, -z) + (strength * away**2).sum() / 2), columns.T @ slope + strength * away

    bounds = None if least is None else [(low, np.inf) for low in least]
    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x)


@dataclass(frozen=True)
class ValidationFold:
    """Vectors of length 1 in one space, [n_1, d] and [n_2, d], and known pairs that were not used to align them."""

    left: FloatArray
    right: FloatArray
    pairs: IntArray


LocalScales: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Similarity:
    """log-ratio = weights · (1, log d, log d - scale(u), log d - scale(v)), with the local `scales` of all accounts."""

    weights: FloatArray
    scales: LocalScales

    def log_ratio(self, vectors: VectorAlignment, pairs: IntArray) -> FloatArray:
        """The log-ratio of each pair, [m]."""
        return _features(vectors, pairs, self.scales) @ self.weights

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray) -> FloatArray:
        """The log-ratio of each (row of X, row of Y) in `pairs`, [m]."""
        return self.log_ratio(VectorAlignment(X, Y), pairs)


def local_scales(cosines: tuple[FloatArray, FloatArray]) -> LocalScales:
    """scale(u) of all left accounts, [n_1], and of all right ones, [n_2], from the cosines of their nearest, [n, k].

    A median, since the partner of an account is among its nearest, and nearer than it should be where it was used to
    align the spaces. An account without near ones has the scale of a cosine of 0.
    """
    near = [side[:, :_LOCAL] for side in cosines]
    known = [np.where(np.isnan(side).all(axis=1, keepdims=True), 0.0, side) for side in near]
    left, right = (np.nanmedian(log_distance(side), axis=1) for side in known)
    return left, right


def fit_similarity(
    folds: Iterable[ValidationFold], anchors: IntArray, scales: LocalScales, rng: np.random.Generator
) -> Similarity | None:
    """From as many folds as give enough pairs; None where no pair has vectors on both sides.

    Anchors outside of a fold are no rivals: an anchored account is no other account's candidate. `scales` are those of
    the space that all pairs align: a search of all accounts per fold would cost more than all else, and one account
    that is too near hardly moves a median.
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
        columns.append(_features(vectors, np.concatenate([pairs, pairs, false]), scales))
        truth.append(np.arange(len(columns[-1])) < 2 * len(pairs))
        weight.append(np.concatenate([np.ones(2 * len(pairs)), stands_for]))
        sizes.append(np.sqrt(len(free[0]) * len(free[1])))
        seen += len(pairs)
        if seen >= _ENOUGH_PAIRS:
            break
    if seen == 0:
        return None
    x = np.concatenate(columns)
    centre, spread = x[:, 1:].mean(axis=0), np.maximum(x[:, 1:].std(axis=0), 1e-6)
    x[:, 1:] = (x[:, 1:] - centre) / spread
    # Before distances are known, each of as many accounts is as likely to be the partner.
    chance = float(np.log(np.mean(sizes)))
    prior = np.array([-chance, 0.0, 0.0, 0.0])
    fitted = fit_logistic(x, np.concatenate(truth), np.concatenate(weight), prior, _STRENGTH)
    slopes = fitted[1:] / spread
    return Similarity(np.concatenate([[fitted[0] + chance - slopes @ centre], slopes]), scales)


def _rivals(
    vectors: VectorAlignment, pairs: IntArray, free: Sequence[IntArray], rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """False pairs of both accounts of each pair, [m, 2], and how many of the account's false pairs each stands for."""
    found, stands_for = [], []
    for side, (mine, other) in enumerate(((vectors.left, vectors.right), (vectors.right, vectors.left))):
        accounts, partner, pool = pairs[:, side], pairs[:, 1 - side], free[1 - side]
        places = nearest(mine[accounts], other[pool], _RIVALS, exact_up_to=len(pool)).places
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
            ends = [accounts[row], rivals[row, place]]
            found.append(np.column_stack(ends if side == 0 else ends[::-1]))
            stands_for.append(each[row])
    return np.concatenate(found), np.concatenate(stands_for)


def _features(vectors: VectorAlignment, pairs: IntArray, scales: LocalScales) -> FloatArray:
    """(1, log d, log d - scale(u), log d - scale(v)) of each pair, [m, 4]."""
    distance = log_distance(vectors.cosine(pairs))
    relative = [distance - scales[side][pairs[:, side]] for side in (0, 1)]
    return np.column_stack([np.ones(len(pairs)), distance, *relative])


def log_distance(cosine: FloatArray) -> FloatArray:
    """log d of each cosine."""
    return np.asarray(np.log(_LEAST_DISTANCE + np.maximum(1.0 - cosine.astype(np.float64), 0.0)))
