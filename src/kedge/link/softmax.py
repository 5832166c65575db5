"""The probability model: one choice an account makes among its candidates and "none of these".

    P(v | u has a counterpart) = exp z(u, v) / (1 + Σ exp z(u, v'))      z = θ_0 + θ · signals(u, v),  θ_1.. ≥ 0

so an account's probabilities sum to at most 1 and each rises with its own score. θ is the mode of a posterior:
normal prior about `PRIOR`, likelihood of the held-out anchors. With few of them the prior speaks, with many the data.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression, minimize

from kedge.types import FloatArray, IntArray

__all__ = ["PRIOR", "choose", "fit_weights", "isotonic_steps", "log_loss", "logits", "probabilities"]

# Offset, then the weights of score, both leads and mutual best: sceptical, and trusting leads before heights.
PRIOR: Final = np.array([-2.0, 0.0, 0.5, 0.5, 0.5])
_PRECISION: Final = np.array([0.5, 2.0, 2.0, 2.0, 2.0])


def logits(theta: FloatArray, signals: FloatArray) -> FloatArray:
    """z of each candidate, [m]."""
    return np.asarray(theta[0] + signals @ theta[1:])


def probabilities(z: FloatArray, account: IntArray, n: int) -> FloatArray:
    """P of each candidate, [m]; `account` is the owner of each row, below n."""
    top = np.zeros(n)  # "none of these" stands at 0
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


def isotonic_steps(p: FloatArray, true: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A rising map from said to observed probability, as knots (said, observed) to interpolate between.

    Each level of the isotonic fit is shrunk towards what was said by one observation, so that none is 0 or 1.
    """
    if len(p) == 0:
        return np.empty(0), np.empty(0)
    order = np.argsort(p, kind="stable")
    level = isotonic_regression(true[order]).x
    block = np.concatenate([[0], np.cumsum(np.diff(level) != 0)])
    count = np.bincount(block)
    said = np.bincount(block, p[order]) / count
    observed = (np.bincount(block, true[order]) + said) / (count + 1)
    return said, np.maximum.accumulate(observed)


def choose(p: FloatArray, knots: tuple[FloatArray, FloatArray], account: IntArray, n: int) -> FloatArray:
    """Probabilities through the map, scaled down where an account's would sum to more than 1."""
    said, observed = knots
    if len(said) == 0:
        return p
    mapped = np.interp(p, np.concatenate([[0.0], said, [1.0]]), np.concatenate([[0.0], observed, [1.0]]))
    total = np.bincount(account, mapped, minlength=n)
    result: FloatArray = mapped / np.maximum(total, 1)[account]
    return result
