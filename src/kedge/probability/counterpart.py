"""The share of the accounts that have a counterpart, although no account without one is ever labelled.

Let s be an account's log-ratio of "has a counterpart" to "has none" (leaders.py), from a model that was not fitted on
it. Validation anchors show how often accounts with a counterpart pass a level t, decoys how often those without do,
and all accounts without a known partner show the mixture:

    P(s ≥ t | all) = π P(s ≥ t | anchored) + (1 - π) P(s ≥ t | decoy)

It holds whether or not the model is well calibrated. t is the lowest level that few decoys pass for each anchored
account: real accounts without a counterpart are often less active than decoys, and above such a t that makes little
difference. Anchors are seldom a fair sample of the accounts: people know the active ones. So all three are taken within
strata of log(1 + degree), x, and

    π(x) = σ(a + b (x - mean x))      for each side

is the mode of a posterior: the equations of all strata with their sampling errors, a normal prior on a and b, and two
facts: both sides have equally many accounts with a counterpart, and no more than the smaller one has accounts. A user
who knows the share replaces the prior of a (`decide.counterparts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import brentq, least_squares

from kedge.probability.leaders import log_odds, sigmoid
from kedge.types import BoolArray, FloatArray

_TAILS: Final = (0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2)  # of the anchored above t: fewer are too noisy
_RARE: Final = 0.15  # decoys above t per anchored account (docs/decisions/0037)
_STRATA: Final = 4
_SHRINK: Final = 4.0  # accounts of all strata that each stratum's shares count in; unmeasured
_PRIOR: Final = (3.5, 2.0)  # of a: mean and spread. Most accounts have a counterpart (docs/decisions/0037)
_SLOPE: Final = 0.5  # spread of b; unmeasured
_EQUAL: Final = 0.03  # relative error of "equally many on both sides"; unmeasured
_TIGHT: Final = 0.02  # relative error of "no more than the smaller side has"; unmeasured
_NARROWEST: Final = 0.02  # spread of a share that the user gives as one number, in log-odds; unmeasured
_TWO_SIDED: Final = 1.645  # a range is read as a 90 % interval


class Seen(NamedTuple):
    """Accounts of one kind: s of each (-inf where it has no candidate), log(1 + degree), and how many they count for:
    an account that several runs show counts once."""

    score: FloatArray
    active: FloatArray
    number: float


@dataclass(frozen=True)
class Moments:
    """The equations of one side, [strata]: the shares above t of all, of the anchored and of the decoys, their sampling
    variances, how many of all are in the stratum, and its mean x. `centre` is the mean x of all."""

    everyone: FloatArray
    anchored: FloatArray
    decoys: FloatArray
    variance: FloatArray  # [3, strata], of the three shares above
    size: FloatArray
    active: FloatArray
    centre: float


@dataclass(frozen=True)
class Share:
    """a and b of either side, and the mean of π over its accounts without a known partner."""

    line: FloatArray  # [2, 2]
    mean: FloatArray  # [2]

    def log_odds(self, side: int, active: FloatArray, centre: float) -> FloatArray:
        """a + b (x - mean x) of each account."""
        return np.asarray(self.line[side, 0] + self.line[side, 1] * (active - centre))


def count_moments(anchored: Seen, decoys: Seen, everyone: Seen) -> Moments:
    """The equations of one side."""
    at, of_anchored, of_decoys = _level(anchored, decoys)
    inner = np.linspace(0, 1, _STRATA + 1)[1:-1]
    edges = np.unique(np.quantile(everyone.active, inner)) if len(everyone.active) else np.empty(0)
    strata = [np.searchsorted(edges, kind.active) for kind in (anchored, decoys, everyone)]
    rows = []
    for k in range(len(edges) + 1):
        inside = [place == k for place in strata]
        if not inside[2].any():
            continue
        p, p_error = _passing(anchored, inside[0], at, of_anchored)
        d, d_error = _passing(decoys, inside[1], at, of_decoys)
        u = float((everyone.score[inside[2]] >= at).mean())
        size = inside[2].sum() / len(everyone.score) * everyone.number
        x = everyone.active[inside[2]].mean()
        rows.append((u, p, d, u * (1 - u) / size, p_error, d_error, size, x))
    table = np.array(rows).T if rows else np.empty((8, 0))
    centre = float(everyone.active.mean()) if len(everyone.active) else 0.0
    return Moments(table[0], table[1], table[2], table[3:6], table[6], table[7], centre)


def _level(anchored: Seen, decoys: Seen) -> tuple[float, float, float]:
    """t, and the shares of the anchored and of the decoys above it."""
    if len(anchored.score) == 0:
        return 0.0, 0.5, 0.5
    for tail in _TAILS:
        at = float(np.quantile(anchored.score, 1 - tail, method="higher"))
        above = float((anchored.score >= at).mean())
        without = ((decoys.score >= at).sum() + above / 2) / (len(decoys.score) + 1)  # never surely none
        if without <= _RARE * above:
            break
    return at, above, float(without)


def _passing(kind: Seen, inside: BoolArray, at: float, of_all: float) -> tuple[float, float]:
    """The share of a stratum's accounts above t, shrunk towards that of all, and its sampling variance."""
    each = kind.number / max(len(kind.score), 1)  # what one row counts for
    count = float(inside.sum()) * each
    share = float(((kind.score[inside] >= at).sum() * each + _SHRINK * of_all) / (count + _SHRINK))
    return share, share * (1 - share) / (count + 1)


def estimate_share(
    moments: Sequence[Moments], free: Sequence[int], known: tuple[float, float] | None = None, side: int = 0
) -> Share:
    """π of both sides, which have `free` accounts without a known partner; `known` is the user's range for `side`."""
    limit = max(min(free), 1)
    means = [(of.size / max(of.size.sum(), 1e-9)) for of in moments]

    def shares(line: FloatArray) -> list[FloatArray]:
        return [sigmoid(line[2 * i] + line[2 * i + 1] * (of.active - of.centre)) for i, of in enumerate(moments)]

    def mean(line: FloatArray, i: int) -> float:
        if len(moments[i].size):
            return max(float(shares(line)[i] @ means[i]), 1e-9)
        return max(float(sigmoid(line[2 * i])), 1e-9)

    def errors(line: FloatArray) -> FloatArray:
        rows: list[float] = []
        for i, (of, pi) in enumerate(zip(moments, shares(line), strict=True)):
            expected = pi * of.anchored + (1 - pi) * of.decoys
            all_, anchored, decoys = of.variance
            spread = np.sqrt(all_ + pi**2 * anchored + (1 - pi) ** 2 * decoys + 1e-6)
            rows += ((of.everyone - expected) / spread).tolist()
            rows.append(line[2 * i + 1] / _SLOPE)
            if known is None:
                rows.append((line[2 * i] - _PRIOR[0]) / _PRIOR[1])
        if known is not None:
            low, high = (float(log_odds(np.array(bound))) for bound in known)
            spread_known = max((high - low) / 2 / _TWO_SIDED, _NARROWEST)
            rows.append((float(log_odds(np.array(mean(line, side)))) - (low + high) / 2) / spread_known)
        number = [mean(line, i) * max(count, 1) for i, count in enumerate(free)]
        rows.append(np.log(number[0] / number[1]) / _EQUAL)
        rows += [max(0.0, np.log(count / limit)) / _TIGHT for count in number]
        return np.array(rows)

    starts = (least_squares(errors, np.array([at, 0.0, at, 0.0])) for at in (-2.0, 0.0, 2.0))
    line = min(starts, key=lambda fit: fit.cost).x
    for i, count in enumerate(free):
        most, step = limit / max(count, 1), np.eye(4)[2 * i]

        above = partial(_too_many, mean, line, i, step, most)
        if above(0.0) > 0:  # no compromise here
            line = line + brentq(above, -60.0, 0.0) * step
    return Share(line.reshape(2, 2), np.array([min(mean(line, i), 1.0) for i in (0, 1)]))


def _too_many(
    mean: Callable[[FloatArray, int], float], line: FloatArray, side: int, step: FloatArray, most: float, by: float
) -> float:
    """How far the mean of a side is above `most` once its line is moved."""
    return mean(line + by * step, side) - most
