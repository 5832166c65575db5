"""A prior of evidence from MGCN's shared space (embedding/coordinates.py): how likely a score makes a pair.

The anchors and the matches that evidence is certain of are coordinates of both networks. A pair that is a coordinate
looks alike because of that, so each third of them is placed by the other two thirds, and every pair is scored by
the placements in which it is no coordinate. With s the score (CSLS) of a pair of one placement:

    log P(s | the same person) / P(s | different persons) = w · (1, s, lead over the row's best other, the column's)

w comes from logistic regression on the pairs of the third, each against the other candidates of its two accounts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from kedge.config import SharedConfig
from kedge.embedding.coordinates import Levels, locate
from kedge.linalg import best_other, row_index
from kedge.similarity import fit_logistic, scale_locally
from kedge.types import FloatArray, IntArray, Problem

_FOLDS: Final = 3  # unmeasured
_KEPT: Final = 30  # nearest accounts of each account; unmeasured
_ALONE: Final = 0.3  # lead of an account's only candidate; unmeasured
_STRENGTH: Final = 0.1  # of the prior that a score is no evidence, as in similarity/likelihood.py


class _Placement(NamedTuple):
    """Candidates of one placement [m, 2], their features [m, 4], and the pairs that were not coordinates."""

    pairs: IntArray
    features: FloatArray
    held: IntArray


def shared_prior(
    problem: Problem, known: IntArray, levels: tuple[Levels, Levels], settings: SharedConfig, seed: int
) -> csr_array | None:
    """The log-ratio of the nearest free accounts, n_1 × n_2 sparse; `known` [m, 2] are the anchors and certain matches.

    The mean over the placements that have the pair. None where too few are known, or none of them is found again.
    """
    if len(known) < _FOLDS:
        return None
    fold = np.random.default_rng(seed).permutation(len(known)) % _FOLDS
    placed = [_place(known[fold != k], known[fold == k], levels, settings) for k in range(_FOLDS)]
    shape = (problem.left.n, problem.right.n)
    weights = _fit(placed, float(np.log(shape[0] * shape[1]) / 2), shape)
    if weights is None:
        return None
    pairs = np.concatenate([one.pairs for one in placed])
    ratio = np.concatenate([one.features for one in placed]) @ weights
    free = [~np.isin(pairs[:, side], problem.anchors[:, side]) for side in (0, 1)]
    kept = free[0] & free[1] & ~problem.is_rejected(pairs)
    at = tuple(pairs[kept].T)
    total, count = (csr_array((values, at), shape=shape) for values in (ratio[kept], np.ones(int(kept.sum()))))
    for matrix in (total, count):
        matrix.sum_duplicates()
    return csr_array((total.data / count.data, total.indices, total.indptr), shape=shape)


def _place(coordinates: IntArray, held: IntArray, levels: tuple[Levels, Levels], settings: SharedConfig) -> _Placement:
    """All accounts placed by some pairs, and the candidates of the others."""
    free = tuple(np.ones(len(side.standing), bool) for side in levels)
    for side, mask in enumerate(free):
        mask[coordinates[:, side]] = False
    left, right = (locate(levels[side], coordinates[:, side], settings) for side in (0, 1))
    scores = scale_locally(left, right, (free[0], free[1]), _KEPT, settings.neighbours)
    pairs = np.column_stack([row_index(scores), scores.indices.astype(np.int64)])
    leads = [lead(pairs[:, side], scores.data, scores.shape[side]) for side in (0, 1)]
    return _Placement(pairs, np.column_stack([np.ones(len(pairs)), scores.data, *leads]), held)


def lead(account: IntArray, score: FloatArray, accounts: int) -> FloatArray:
    """How much the score of each candidate is above the best other one of its account, [m]; negative if it is not the
    best itself."""
    rival = best_other(account, accounts, score, -np.inf)
    return np.where(np.isfinite(rival), score - np.where(np.isfinite(rival), rival, 0.0), _ALONE)


def _fit(placed: list[_Placement], chance: float, shape: tuple[int, int]) -> FloatArray | None:
    """w [4] of the log-ratio; None where no held pair is among the candidates.

    `chance`: the logarithm of how many accounts are as likely to be the partner before anything is known.
    """
    features, truth = [], []
    for one in placed:
        partner, asked = np.full(shape[0], -1), np.zeros(shape[1], bool)
        partner[one.held[:, 0]], asked[one.held[:, 1]] = one.held[:, 1], True
        concerned = (partner[one.pairs[:, 0]] >= 0) | asked[one.pairs[:, 1]]
        features.append(one.features[concerned])
        truth.append(partner[one.pairs[concerned, 0]] == one.pairs[concerned, 1])
    x, true = np.concatenate(features), np.concatenate(truth)
    if not true.any():
        return None
    centre, spread = x[:, 1:].mean(axis=0), np.maximum(x[:, 1:].std(axis=0), 1e-6)
    x[:, 1:] = (x[:, 1:] - centre) / spread
    fitted = fit_logistic(x, true, np.ones(len(x)), np.array([-chance, 0.0, 0.0, 0.0]), _STRENGTH)
    slopes = fitted[1:] / spread
    return np.concatenate([[fitted[0] + chance - slopes @ centre], slopes])
