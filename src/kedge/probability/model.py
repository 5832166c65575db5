"""The probability model: for each account one choice among its candidates and "none of these".

    P(v | u has a counterpart) = exp z(u, v) / (1 + Σ exp z(u, v'))      z = θ_0 + θ · signals(u, v),  θ_1.. ≥ 0

so an account's probabilities sum to at most 1 and each rises with its own score. θ is the mode of a posterior:
normal prior about `PRIOR`, likelihood of the validation anchors: with few the prior dominates, with many the data.
A second, one-dimensional map (Platt, or isotonic where data abound) then corrects the leader of each account.

P(u has a counterpart), although no account without one is ever labelled: assume that the anchors are a fair sample of
the accounts that have a counterpart (as in Elkan and Noto, 2008). Let x be the logit of an account's best candidate.
Validation anchors show how x is distributed among accounts with a counterpart. The same accounts with their true
partner removed from their lists ("unpaired" below) show how it is among accounts that have none: both have rivals only.
All free accounts show the mixture, so the share π with a counterpart solves

    P(x ≥ t | all) = π P(x ≥ t | anchored) + (1 - π) P(x ≥ t | unpaired)      for every t.

It is solved at one t: the lowest that hardly any unpaired account passes, though a fifth of the anchored do. Accounts
without counterpart may be less active than the unpaired, and then have a lower x; where few unpaired ones pass t, that
makes little difference. The estimate is shrunk towards "all have one", fully within `_DOUBT` standard errors of it and
in part beyond (James and Stein),

    1 - π = (1 - π_t) max(0, 1 - (_DOUBT / z)^2),   z = (1 - π_t) / its standard error where all have one,

and π is no more than leaves a free right account for each pair. (Before, accounts without counterpart were assumed
never to have a high x, and on copies of real networks the share came out far too high: docs/decisions/0026.) Given π,

    h(x) = P(counterpart | x) = π f_anchored(x) / f_all(x), rising with x and at most 1

by isotonic regression over bins of x. (A logistic h was tried first: its tail is too thin, and with scores that level
off it held the surest accounts of one real pair at 0.9, so that no match was ever sure.) Where anchors were chosen for
being well connected, their x is too high and the share comes out too low: an error on the careful side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.stats import norm

from kedge.types import FloatArray, IntArray

# Offset, then the weights of `signals.SIGNALS`: sceptical, and trusting leads before heights.
PRIOR: Final = np.array([-2.0, 0.0, 0.5, 0.5, 0.5, 0.25, 0.25])
_PRECISION: Final = np.array([0.5, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])  # of the prior; unmeasured
_PLATT_PRECISION: Final = 4.0  # of the prior about the identity; unmeasured
_BIN_ANCHORS = 25  # validation anchors per bin; unmeasured
_MOST_BINS = 20  # unmeasured
_TAILS = (0.5, 0.4, 0.3, 0.25, 0.2)  # of the anchored: fewer are too noisy (docs/decisions/0026)
_RARE = 0.1  # unpaired accounts above t per anchored one: so few hardly matter (docs/decisions/0026)
_DOUBT = float(norm.isf(0.1))  # standard errors: one of ten shares of 1 is estimated lower (docs/decisions/0026)

Map: TypeAlias = tuple[FloatArray, FloatArray]  # knots: probability predicted, share observed


def logits(theta: FloatArray, signals: FloatArray) -> FloatArray:
    """z of each candidate, [m]."""
    return np.asarray(theta[0] + signals @ theta[1:])


def probabilities(z: FloatArray, account: IntArray, n: int) -> FloatArray:
    """P of each candidate, [m]; `account` is the owner of each row, below n."""
    top = np.zeros(n)  # "none of these" has the logit 0
    np.maximum.at(top, account, z)
    weight = np.exp(z - top[account])
    total = np.exp(-top) + np.bincount(account, weight, minlength=n)
    return np.asarray(weight / total[account])


def fit_weights(signals: FloatArray, account: IntArray, true: FloatArray, n: int) -> FloatArray:
    """θ from n accounts: `true` is 1 for the row that is the right candidate, 0 elsewhere (no row: none of these)."""
    none = 1 - np.bincount(account, true, minlength=n)
    columns = np.column_stack([np.ones(len(signals)), signals])

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        p = probabilities(logits(theta, signals), account, n)
        rest = np.clip(1 - np.bincount(account, p, minlength=n), 1e-12, None)
        away = theta - PRIOR
        value = -float(true @ np.log(np.clip(p, 1e-12, None))) - float(none @ np.log(rest))
        return value + float(_PRECISION @ away**2) / 2, columns.T @ (p - true) + _PRECISION * away

    bounds = [(None, None)] + [(0.0, None)] * signals.shape[1]
    return np.asarray(minimize(loss, PRIOR, jac=True, method="L-BFGS-B", bounds=bounds).x)


def log_loss(p: FloatArray, account: IntArray, true: FloatArray, n: int) -> FloatArray:
    """-log of the probability given to what is true, for each account, [n]."""
    rest = np.clip(1 - np.bincount(account, p, minlength=n), 1e-6, None)
    found = np.bincount(account, true, minlength=n)
    right = np.bincount(account, true * np.log(np.clip(p, 1e-6, None)), minlength=n)
    return np.asarray(-right - (1 - found) * np.log(rest), np.float64)


def leaders(p: FloatArray, account: IntArray, n: int) -> IntArray:
    """The row of each account's most probable candidate; of equally probable ones the first."""
    best = np.zeros(n)
    np.maximum.at(best, account, p)
    rows = np.flatnonzero(p >= best[account])
    _, first = np.unique(account[rows], return_index=True)
    return rows[first]


def platt_map(p: FloatArray, true: FloatArray) -> Map:
    """σ(α + β logit p), fitted with a normal prior about the identity (α = 0, β = 1), as knots."""
    x, sign = _logit(p), np.where(true > 0, 1.0, -1.0)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        margin = sign * (w[0] + w[1] * x)
        slope = -sign * 0.5 * (1 - np.tanh(margin / 2))
        away = w - (0.0, 1.0)
        value = np.logaddexp(0, -margin).sum() + _PLATT_PRECISION * (away @ away) / 2
        return float(value), np.array([slope.sum(), slope @ x]) + _PLATT_PRECISION * away

    alpha, beta = minimize(loss, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None)]).x
    grid = np.linspace(-12, 12, 241)
    return 0.5 * (1 + np.tanh(grid / 2)), 0.5 * (1 + np.tanh((alpha + beta * grid) / 2))


def isotonic_map(p: FloatArray, true: FloatArray) -> Map:
    """A free rising map; each level is shrunk towards the prediction by one observation, so that none is 0 or 1."""
    if len(p) == 0:
        return np.empty(0), np.empty(0)
    order = np.argsort(p, kind="stable")
    level = isotonic_regression(true[order]).x
    block = np.concatenate([[0], np.cumsum(np.diff(level) != 0)])
    count = np.bincount(block)
    predicted = np.bincount(block, p[order]) / count
    observed = (np.bincount(block, true[order]) + predicted) / (count + 1)
    return predicted, np.maximum.accumulate(observed)


def correct_leaders(p: FloatArray, knots: Map, account: IntArray, n: int) -> FloatArray:
    """Send each account's most probable candidate through the map; the others share what it leaves as before.

    The leader is what people act on, so it is calibrated by itself. It stays the leader, and sums stay at most 1.
    """
    predicted, observed = knots
    if len(predicted) == 0 or len(p) == 0:
        return p
    rows = leaders(p, account, n)
    new = np.interp(p[rows], predicted, observed)
    keep, cap = np.ones(n), np.ones(n)
    keep[account[rows]] = (1 - new) / np.maximum(1 - p[rows], 1e-12)
    cap[account[rows]] = new
    result = np.minimum(p * keep[account], cap[account])
    result[rows] = new
    return np.asarray(result)


def _logit(p: FloatArray) -> FloatArray:
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(clipped / (1 - clipped)))


@dataclass(frozen=True)
class Counterpart:
    """h(x) between knots (`at`, `level`); `share` is π, `limit` the largest possible."""

    at: FloatArray
    level: FloatArray
    share: float
    limit: float

    def probability(self, x: FloatArray) -> FloatArray:
        """P(counterpart | x)."""
        return np.asarray(np.interp(x, self.at, self.level))


def estimate_counterpart(anchored: FloatArray, unpaired: FloatArray, everyone: FloatArray, limit: float) -> Counterpart:
    """From x of the validation anchors, of the same without their partners, and of all accounts with no known one."""
    limit = float(np.clip(limit, 0, 1))
    share = min(_share(anchored, unpaired, everyone), limit)
    bins = int(np.clip(len(anchored) // _BIN_ANCHORS, 1, _MOST_BINS))
    edges = np.unique(np.quantile(anchored, np.linspace(0, 1, bins + 1)[1:-1])) if bins > 1 else np.empty(0)
    if share >= 1 - 1e-9 or len(edges) == 0:
        return Counterpart(np.zeros(1), np.full(1, share), share, limit)
    place = np.searchsorted(edges, everyone, side="right")
    count = np.bincount(place, minlength=len(edges) + 1).astype(np.float64)
    seen = np.bincount(np.searchsorted(edges, anchored, side="right"), minlength=len(edges) + 1)
    held = np.flatnonzero(count)
    centre = np.bincount(place, everyone, minlength=len(edges) + 1)[held] / count[held]
    ratio = share * (seen[held] / len(anchored)) / (count[held] / len(everyone))
    level = np.clip(isotonic_regression(ratio, weights=count[held]).x, 1e-6, 1)
    return Counterpart(centre, level, share, limit)


def _share(anchored: FloatArray, unpaired: FloatArray, everyone: FloatArray) -> float:
    """π of this module's docstring, before the limit."""
    if len(anchored) == 0 or len(everyone) == 0:
        return 1.0
    for tail in _TAILS:
        at = np.quantile(anchored, 1 - tail)
        with_partner, without = (float((x >= at).mean()) for x in (anchored, unpaired))
        if without <= _RARE * with_partner:
            break
    of_all = float((everyone >= at).mean())
    difference = with_partner - without
    if difference <= 0:
        return 1.0
    missing = (with_partner - of_all) / difference
    # Where all have a counterpart, they are above t as often as the anchored are; by Laplace's rule never surely.
    above = (with_partner * len(anchored) + 1) / (len(anchored) + 2)
    error = np.sqrt(above * (1 - above) * (1 / len(anchored) + 1 / len(everyone))) / difference
    shrunk = missing * max(0.0, 1 - (_DOUBT * error / missing) ** 2) if missing > 0 else 0.0
    return float(np.clip(1 - shrunk, 1 / (len(everyone) + 1), 1))
