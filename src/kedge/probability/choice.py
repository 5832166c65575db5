"""The choice of an account among its candidates and "none of these":

    P(v | u has a counterpart) = exp z(u, v) / (1 + Σ exp z(u, v'))      z = θ_0 + θ · signals(u, v),  θ_1.. ≥ 0

so an account's probabilities sum to at most 1 and each rises with its own score. The same z is read from the left
account and from the right one. θ is the mode of a posterior: normal prior about `PRIOR`, likelihood of the validation
anchors seen from both sides: with few the prior dominates, with many the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import minimize

from kedge.probability.candidates import Shortlist
from kedge.types import FloatArray, IntArray

# Offset, then the weights of `candidates.SIGNALS`: sceptical, and trusting leads before heights.
PRIOR: Final = np.array([-2.0, 0.0, 0.5, 0.5, 0.5, 0.25, 0.25])
_PRECISION: Final = np.array([0.5, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])  # of the prior; unmeasured


class Examples(NamedTuple):
    """The candidates of n validation accounts: signals [m, 6], the account of each, below n, and 1 where it is true."""

    columns: FloatArray
    account: IntArray
    true: FloatArray
    n: int


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


def examples(pairs: Shortlist, signals: FloatArray, validation: IntArray) -> Examples:
    """The candidates of the left accounts of validation anchors, then those of the right accounts."""
    parts, n = [], 0
    for side, (own, other) in enumerate(((pairs.left, pairs.right), (pairs.right, pairs.left))):
        partner = np.full((pairs.n_left, pairs.n_right)[side], -1)
        partner[validation[:, side]] = validation[:, 1 - side]
        rows = np.flatnonzero(partner[own] >= 0)
        _, account = np.unique(own[rows], return_inverse=True)
        parts.append((signals[rows], account + n, (partner[own[rows]] == other[rows]).astype(np.float64)))
        n += int(account.max()) + 1 if len(account) else 0
    columns, owner, true = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Examples(columns, owner, true, n)


def pool(parts: Sequence[Examples]) -> Examples:
    """All of them as one."""
    start = np.cumsum([0, *(part.n for part in parts)])
    return Examples(
        np.concatenate([np.empty((0, len(PRIOR) - 1)), *(part.columns for part in parts)]),
        np.concatenate([np.empty(0, np.int64), *(part.account + at for part, at in zip(parts, start, strict=False))]),
        np.concatenate([np.empty(0), *(part.true for part in parts)]),
        int(start[-1]),
    )


def fit_weights(seen: Examples) -> tuple[FloatArray, float]:
    """θ, and -log of the probability that it gives to what is true."""
    signals, account, true, n = seen
    none = 1 - np.bincount(account, true, minlength=n)
    columns = np.column_stack([np.ones(len(signals)), signals])

    def log_loss(p: FloatArray) -> float:
        rest = np.clip(1 - np.bincount(account, p, minlength=n), 1e-12, None)
        return -float(true @ np.log(np.clip(p, 1e-12, None))) - float(none @ np.log(rest))

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        p = probabilities(logits(theta, signals), account, n)
        away = theta - PRIOR
        return log_loss(p) + float(_PRECISION @ away**2) / 2, columns.T @ (p - true) + _PRECISION * away

    bounds = [(None, None)] + [(0.0, None)] * signals.shape[1]
    theta = np.asarray(minimize(loss, PRIOR, jac=True, method="L-BFGS-B", bounds=bounds).x)
    return theta, log_loss(probabilities(logits(theta, signals), account, n))
