"""What is seen of an account and its best candidate, its leader, and two logistic models of it:

    P(the leader is right | the account has a counterpart), from validation anchors,
    log P(seen | has a counterpart) / P(seen | has none), from validation anchors and decoys.

A decoy is an anchored account whose partner was removed from the other network before the method ran: it has no
counterpart for certain. Both kinds are drawn from the same anchors, so how active an account is (its degree, its
anchored neighbours) enters both models with either sign: the same lead is stronger evidence for an account with few
neighbours. All that shows how well a candidate does has a weight of at least 0.

Each model is fitted with a normal prior about 0, and once for each fifth of the anchors without it. What the model of
the others predicts of that fifth shows how far its log-odds x can be trusted:

    x' = c + a log σ(x) - b log(1 - σ(x))      (Kull, Silva Filho and Flach, 2017: beta calibration)

a, b ≥ 0, with a prior about the identity (c = 0, a = b = 1). Three parameters, so that few anchors suffice, and the
upper end, where decisions are made, has a slope of its own.

That map has seen accounts among anchors only. Where anchors are clustered (`clustering`, g), most other accounts are
far from all of them, and a model is surer of such accounts than it should be. So their log-odds are moderated by the
variance v of x under the posterior of the weights (MacKay, 1992), in proportion to g²:

    x' / √(1 + π/8 · 2 g² v)      (docs/decisions/0045)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from kedge.linalg import pattern
from kedge.probability.candidates import Shortlist
from kedge.similarity import fit_logistic
from kedge.types import FloatArray, IntArray, Network, Problem

_SWAPPED: Final = [0, 2, 1, 3, 5, 4]  # signals seen from the right account
_RISING: Final = 10  # columns that show how well the candidate does; the others are free
_FREE: Final = 5  # activity of the two accounts, and the side
COLUMNS: Final = _RISING + _FREE
_STRENGTH: Final = np.array([0.05, *[1.0] * _RISING, *[3.0] * _FREE])  # docs/decisions/0037
_LEAST: Final = np.array([-np.inf, *[0.0] * _RISING, *[-np.inf] * _FREE])
_TRUST: Final = 1.0  # precision of the prior of the calibration map (docs/decisions/0037)
_MODERATED: Final = 2.0  # how much the variance counts where anchors are wholly clustered (docs/decisions/0045)
_OWN_DEGREE: Final = _RISING  # the column of log(1 + degree) - 2
_OWN_KNOWN: Final = _RISING + 2  # and of log(1 + anchored neighbours) - 1
_PARTS: Final = 5  # that anchors are split into, for predictions by models that were not fitted on them
_SURE = 1e-6


def leader_rows(strength: FloatArray, account: IntArray, n: int) -> IntArray:
    """The row of each account's strongest candidate, [n]; of equally strong ones the first, -1 without any."""
    best = np.full(n, -np.inf)
    np.maximum.at(best, account, strength)
    rows = np.flatnonzero(strength >= best[account])
    first, at = np.unique(account[rows], return_index=True)
    result = np.full(n, -1)
    result[first] = rows[at]
    return result


def log_odds(p: FloatArray) -> FloatArray:
    """log p / (1 - p), finite."""
    clipped = np.clip(p, _SURE, 1 - _SURE)
    return np.asarray(np.log(clipped / (1 - clipped)))


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + exp -x)."""
    return np.asarray(0.5 * (1 + np.tanh(np.asarray(x) / 2)))


def activity(network: Network, anchored: IntArray) -> tuple[FloatArray, FloatArray]:
    """log(1 + degree) and log(1 + anchored neighbours) of every account."""
    known = np.zeros(network.n)
    known[anchored] = 1.0
    return np.log1p(network.degrees), np.log1p(pattern(network.adjacency) @ known)


@dataclass(frozen=True)
class Leaders:
    """The best candidate of every account of one side: its row in the shortlist, -1 without any, and what is seen of
    it, [n, 15]; `active` is log(1 + degree) of every account."""

    row: IntArray
    columns: FloatArray
    active: FloatArray

    @property
    def listed(self) -> IntArray:
        """The accounts that have a candidate."""
        return np.flatnonzero(self.row >= 0)


def find_leaders(
    problem: Problem, pairs: Shortlist, signals: FloatArray, chosen: tuple[FloatArray, FloatArray]
) -> tuple[Leaders, Leaders]:
    """The leaders of the left and of the right accounts; `chosen` is the choice (choice.py) seen from either side.

    A leader is the candidate with the largest geometric mean of the two: both accounts are asked.
    """
    both = np.sqrt(chosen[0] * chosen[1])
    degree, known = zip(
        *(activity(n, problem.anchors[:, side]) for side, n in enumerate((problem.left, problem.right))), strict=True
    )
    accounts = (pairs.left, pairs.right)
    found = []
    for side in (0, 1):
        n = (pairs.n_left, pairs.n_right)[side]
        row = leader_rows(both, accounts[side], n)
        at = np.flatnonzero(row >= 0)
        rows = row[at]
        mine, theirs = accounts[side][rows], accounts[1 - side][rows]
        seen = signals[rows] if side == 0 else signals[rows][:, _SWAPPED]
        own, other = log_odds(chosen[side][rows]) / 3, log_odds(chosen[1 - side][rows]) / 3
        degrees, anchored = (
            (of[side][mine], np.minimum(of[side][mine], of[1 - side][theirs])) for of in (degree, known)
        )
        apart = -np.abs(degree[side][mine] - degree[1 - side][theirs])
        columns = np.zeros((n, COLUMNS))
        columns[at] = np.column_stack(
            [own, other, np.minimum(own, other), seen, apart]
            + [x - 2 for x in degrees]
            + [x - 1 for x in anchored]
            + [np.full(len(at), side - 0.5)]
        )
        found.append(Leaders(row, columns, degree[side]))
    return found[0], found[1]


@dataclass(frozen=True)
class Logistic:
    """Log-odds weights · (1, columns), then the map (c, a, b) of this module's docstring, then its moderation:
    `covariance` is that of the weights, times 2 g², [16, 16]; empty without any."""

    weights: FloatArray
    trust: FloatArray
    covariance: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def raw_log_odds(self, columns: FloatArray) -> FloatArray:
        """x of each row."""
        return _linear(self.weights, columns)

    def trusted(self, x: FloatArray) -> FloatArray:
        """x' of each x."""
        return _trusted(x, self.trust)

    def log_odds(self, columns: FloatArray) -> FloatArray:
        """x' of each row, moderated."""
        return self.trusted(self.raw_log_odds(columns)) * self.moderation(columns)

    def moderation(self, columns: FloatArray) -> FloatArray:
        """What x' of each row is multiplied with, at most 1."""
        if self.covariance.size == 0:
            return np.ones(len(columns))
        rows = _with_offset(columns)
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        return np.asarray(1 / np.sqrt(1 + np.pi / 8 * variance))

    def moderated(self, clustering: float) -> Logistic:
        """The same where anchors are clustered by so much."""
        return replace(self, covariance=_MODERATED * clustering**2 * self.covariance)


@dataclass(frozen=True)
class Fitted:
    """A model, and for each row the log-odds by a model that was not fitted on it, before and after the map."""

    model: Logistic
    raw: FloatArray
    predicted: FloatArray


def fit_leaders(columns: FloatArray, true: FloatArray, weight: FloatArray, anchor: IntArray) -> Fitted:
    """The model of `true`, 0 or 1, [m]; `anchor` is the number of the anchor that a row belongs to."""
    raw = np.zeros(len(true))
    for part in range(_PARTS):
        out = anchor % _PARTS == part
        if out.any() and not out.all():
            raw[out] = _linear(_fit(columns[~out], true[~out], weight[~out]), columns[out])
    trust = fit_logistic(
        _bent(raw), true > 0, weight, np.array([0.0, 1.0, 1.0]), _TRUST, np.array([-np.inf, 0.02, 0.02])
    )
    weights = _fit(columns, true, weight)
    return Fitted(Logistic(weights, trust, _covariance(columns, weight, weights)), raw, _trusted(raw, trust))


def clustering(anchored: FloatArray, others: FloatArray) -> float:
    """How clustered anchors are, from 0 to 1: 2 P(an anchored account has a larger share of anchored neighbours than
    another account) - 1, at least 0; rows of `Leaders.columns`, anchors that were held out."""
    if len(anchored) == 0 or len(others) == 0:
        return 0.0
    known, degree = (np.concatenate([anchored, others])[:, at] for at in (_OWN_KNOWN, _OWN_DEGREE))
    share = np.expm1(known + 1) / np.maximum(np.expm1(degree + 2), 1)
    mine, rest = share[: len(anchored)], np.sort(share[len(anchored) :])
    # equals count half
    larger = (np.searchsorted(rest, mine, "left") + np.searchsorted(rest, mine, "right")).mean() / (2 * len(rest))
    return max(0.0, 2 * float(larger) - 1)


def _with_offset(columns: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(columns)), columns])


def _fit(columns: FloatArray, true: FloatArray, weight: FloatArray) -> FloatArray:
    rows = _with_offset(columns)
    return fit_logistic(rows, true > 0, weight, np.zeros(len(_STRENGTH)), _STRENGTH, _LEAST)


def _covariance(columns: FloatArray, weight: FloatArray, weights: FloatArray) -> FloatArray:
    """Of the weights, by Laplace's approximation of their posterior."""
    rows = _with_offset(columns)
    p = sigmoid(rows @ weights)
    information = (rows * (weight * p * (1 - p))[:, None]).T @ rows + np.diag(_STRENGTH)
    return np.asarray(np.linalg.inv(information))


def _linear(weights: FloatArray, columns: FloatArray) -> FloatArray:
    return np.asarray(weights[0] + columns @ weights[1:])


def _bent(x: FloatArray) -> FloatArray:
    """1, log σ(x) and -log(1 - σ(x)), [m, 3]."""
    return np.column_stack([np.ones(len(x)), -np.logaddexp(0, -x), np.logaddexp(0, x)])


def _trusted(x: FloatArray, trust: FloatArray) -> FloatArray:
    return np.asarray(_bent(x) @ trust)
