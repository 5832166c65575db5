"""The probability model: for each account one choice among its candidates and "none of these".

    P(v | u has a counterpart) = exp z(u, v) / (1 + Σ exp z(u, v'))      z = θ_0 + θ · signals(u, v),  θ_1.. ≥ 0

so an account's probabilities sum to at most 1 and each rises with its own score. θ is the mode of a posterior:
normal prior about `PRIOR`, likelihood of the validation anchors: with few the prior dominates, with many the data.
A second, one-dimensional map (Platt, or isotonic where data abound) then corrects the leader of each account.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from kedge.types import FloatArray, IntArray

Map: TypeAlias = tuple[FloatArray, FloatArray]  # knots: probability predicted, share observed

# Offset, then the weights of `signals.SIGNALS`: sceptical, and trusting leads before heights.
PRIOR: Final = np.array([-2.0, 0.0, 0.5, 0.5, 0.5, 0.25, 0.25])
_PRECISION: Final = np.array([0.5, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
_PLATT_PRECISION: Final = 4.0


def logits(theta: FloatArray, signals: FloatArray) -> FloatArray:
    """z of each candidate, [m]."""
    return np.asarray(theta[0] + signals @ theta[1:])


def probabilities(z: FloatArray, account: IntArray, n: int) -> FloatArray:
    """P of each candidate, [m]; `account` is the owner of each row, below n."""
    top = np.zeros(n)  # "none of these" has the logit 0
    np.maximum.at(top, account, z)
    weight = np.exp(z - top[account])
    total = np.exp(-top) + np.bincount(account, weight, minlength=n)
    result: FloatArray = weight / total[account]
    return result


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
