"""Pairs to start from where no anchor is known: Fellegi and Sunter's model, fitted without labels.

Every other account u has a counterpart, any of the n accounts of the other network alike, so

    P(u's counterpart is v) = R(u, v) / (n + sum_v' R(u, v')),   R = P(levels | same) / P(levels | random)

over the candidates v' that profiles find; a pair has the smaller of what its two accounts say. By expectation
maximisation P(level | same) of each field is counted on the candidates, each as often as it is probable;
P(level | random) comes from random pairs. A pair may start if each of its accounts has the other as its best
candidate, and no second one as good: two accounts of one name start nothing.

These probabilities assume that fields are independent, and handles and names are not. So they are an order
only, and how many pairs above a threshold are right is counted otherwise: two accounts of one network are never the
same person, and whatever the model finds between them is wrong (target-decoy search, Elias and Gygi, 2007). T pairs of
the two networks and D of accounts within them, as many as there would be among n_1 × n_2, leave

    precision = 1 - (1 + D (1 - T / max(n_1, n_2))) / T

An account that has found its partner has no part in a wrong pair any more. (With this factor for both accounts of a
pair the estimate is too high where nearly all find one.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kedge.config import ProfileConfig
from kedge.profiles.compare import Compared, compare, find_candidates
from kedge.profiles.weights import FieldWeights, Levels, fit_field, log_ratios
from kedge.similarity import each_once
from kedge.types import FloatArray, IntArray, Profiles

_ROUNDS: Final = 20  # of expectation maximisation at most; unmeasured
_STILL: Final = 1e-3  # change of a probability at which it ends; unmeasured
_TRIED: Final = 40  # thresholds; unmeasured
_ENOUGH: Final = 0.97  # precision of the pairs to start from (docs/decisions/0043)
_LEAST: Final = 0.8  # and the least: wrong pairs would mislead more than none; unmeasured


@dataclass(frozen=True)
class Start:
    """Pairs to start from, [m, 2], no account twice; `precision` is how many of them are expected to be right."""

    pairs: IntArray
    precision: float


@dataclass(frozen=True)
class Fitted:
    """The model: the log-ratios of each field, and P of each candidate."""

    weights: tuple[FieldWeights, ...]
    probability: FloatArray

    def of(self, pairs: IntArray, levels: Levels, sizes: tuple[int, int], others: tuple[int, int]) -> FloatArray:
        """P of each of all candidates, [m]: accounts of networks of these sizes, each with so many to choose from."""
        odds = log_ratios(self.weights, levels).sum(axis=1)
        left, right = (
            _among_candidates(odds, own, n, float(np.log(other)))
            for own, n, other in zip(pairs.T, sizes, others, strict=True)
        )
        return np.minimum(left, right)


def find_start(left: Profiles, right: Profiles, config: ProfileConfig) -> Start:
    """As many pairs as are right often enough, else those that are right most often; none if that is too seldom."""
    compared = compare(left, right, config)
    none = Start(np.empty((0, 2), np.int64), 0.0)
    if compared is None:
        return none
    fitted = fit_model(compared)
    sizes = compared.prepared.shape
    within, pairs_within = _found_within(compared, fitted)
    scale = float(np.prod(sizes)) / pairs_within
    chosen = _each_others_best(compared.pairs, fitted.probability, sizes)
    chosen = chosen[np.argsort(-fitted.probability[chosen], kind="stable")]
    best = none
    for last in np.unique(np.geomspace(max(len(chosen), 1), 1, _TRIED).astype(np.int64))[::-1] - 1:
        if last >= len(chosen):
            break
        threshold = fitted.probability[chosen[last]]
        count = int((fitted.probability[chosen] >= threshold).sum())
        wrong = scale * float((within >= threshold).sum()) * (1 - count / max(sizes))
        precision = 1 - (1 + wrong) / count
        if precision > max(best.precision, _LEAST):
            best = Start(compared.pairs[np.sort(chosen[:count])], precision)
        if precision >= _ENOUGH:
            break
    return best


def fit_model(compared: Compared) -> Fitted:
    """Expectation maximisation from the shares of levels that each kind assumes."""
    sizes = compared.prepared.shape
    level, random = compared.levels.level, compared.random_levels.level
    fitted = Fitted((), np.zeros(len(compared.pairs)))
    for _ in range(_ROUNDS):
        p = fitted.probability
        weights = tuple(
            fit_field(field.kind, level[:, i], random[:, i], level[:, i], float(np.prod(sizes)), p)
            for i, field in enumerate(compared.prepared.fields)
        )
        found = Fitted(weights, p).of(compared.pairs, compared.levels, sizes, sizes[::-1])
        fitted = Fitted(weights, found)
        if np.abs(found - p).max(initial=0.0) < _STILL:
            break
    return fitted


def _found_within(compared: Compared, fitted: Fitted) -> tuple[FloatArray, float]:
    """P of accounts within a network that are each other's best, [m], and how many pairs there are within both."""
    sizes = compared.prepared.shape
    found = []
    for side, n in enumerate(sizes):
        within = compared.prepared.within(side)
        pairs = find_candidates(within)
        pairs = each_once(np.concatenate([pairs, pairs[:, ::-1]]))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        p = fitted.of(pairs, within.levels_of(pairs), (n, n), (sizes[1 - side], sizes[1 - side]))
        best = _each_others_best(pairs, p, (n, n))
        found.append(p[best[pairs[best, 0] < pairs[best, 1]]])
    return np.concatenate(found), max(sum(n * (n - 1) / 2 for n in sizes), 1.0)


def _each_others_best(pairs: IntArray, p: FloatArray, sizes: tuple[int, int]) -> IntArray:
    """The rows of the pairs that either account has as its best candidate, and as its only one that is so good."""
    only = p > 0
    for own, n in zip(pairs.T, sizes, strict=True):
        most = np.zeros(n)
        np.maximum.at(most, own, p)
        leads = p >= most[own]
        only &= leads & (np.bincount(own[leads], minlength=n)[own] == 1)
    return np.flatnonzero(only)


def _among_candidates(odds: FloatArray, own: IntArray, n: int, none: float) -> FloatArray:
    """The probability of each candidate of its account; `none` is the log-weight of having no counterpart."""
    most = np.full(n, none)
    np.maximum.at(most, own, odds)
    each = np.exp(odds - most[own])
    total = np.bincount(own, each, minlength=n) + np.exp(none - most)
    return np.asarray(each / total[own])
