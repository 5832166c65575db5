"""How likely an account has a counterpart at all, although nobody ever labels one that has none.

Assumption: the anchors are a fair sample of the accounts that have a counterpart (as in Elkan and Noto, 2008). Let x be
the logit of an account's best candidate. Held-out anchors show how x is distributed among accounts with a counterpart,
all free accounts show the mixture, so the share π with a counterpart cannot be larger than

    π ≤ P(x ≥ t | all) / P(x ≥ t | anchored)      for every t,

with equality where only accounts with a counterpart score that high. π is taken as the largest share that no t
contradicts by two standard errors, and that leaves a free right account for each pair. Given π,

    h(x) = P(counterpart | x) = σ(a + b x), b ≥ 0, mean of h = π,     f_anchored(x) ∝ h(x) f_all(x)

with b of largest likelihood. Where anchors were chosen for being well connected, their x is too high and the share
comes out too low: that errs on the careful side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.types import FloatArray

__all__ = ["Counterpart", "estimate_counterpart"]

_BINS = 256
_SLOPES = np.concatenate([[0.0], np.geomspace(0.1, 12, 40)])
_TAILS = np.linspace(0.2, 1, 9)  # of the anchored; smaller tails are too noisy to tell


@dataclass(frozen=True)
class Counterpart:
    """h(x) = σ(offset + slope x); `share` is its mean over the free left accounts, `limit` the largest possible."""

    offset: float
    slope: float
    share: float
    limit: float

    def probability(self, x: FloatArray) -> FloatArray:
        """P(counterpart | x)."""
        return _logistic(self.offset + self.slope * np.asarray(x, np.float64))


def _logistic(z: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))


def estimate_counterpart(anchored: FloatArray, everyone: FloatArray, limit: float) -> Counterpart:
    """From x of the held-out anchors and of all free left accounts."""
    limit = float(np.clip(limit, 0, 1))
    share = min(_share(anchored, everyone), limit)
    if share >= 1 - 1e-9 or len(anchored) == 0 or np.ptp(everyone) == 0:
        level = np.clip(share, 1e-9, 1 - 1e-9)
        return Counterpart(float(np.log(level / (1 - level))), 0.0, share, limit)
    middle, spread = float(np.median(everyone)), float(np.std(everyone))
    # Binned by quantiles, so that a million accounts cost no more than a few hundred.
    edges = np.unique(np.quantile(everyone, np.linspace(0, 1, _BINS + 1)))[1:-1]
    place = np.searchsorted(edges, everyone, side="right")
    count = np.bincount(place, minlength=len(edges) + 1)
    centre = (np.bincount(place, everyone, minlength=len(edges) + 1) / np.maximum(count, 1) - middle) / spread
    seen = np.bincount(np.searchsorted(edges, anchored, side="right"), minlength=len(edges) + 1)
    best = (-np.inf, 0.0, 0.0)
    for slope in _SLOPES:
        offset = _level(slope * centre, count / count.sum(), share)
        fit = float(-np.logaddexp(0, -(offset + slope * centre)) @ seen)
        best = max(best, (fit, offset, -slope))  # of equally good slopes the flatter
    _, offset, steepness = best
    slope = -steepness / spread
    return Counterpart(offset - slope * middle, slope, share, limit)


def _share(anchored: FloatArray, everyone: FloatArray) -> float:
    """The largest share with a counterpart that no tail contradicts by two standard errors."""
    if len(anchored) == 0 or len(everyone) == 0:
        return 1.0
    bounds = [1.0]
    for tail in _TAILS:
        at = np.quantile(anchored, 1 - tail)
        of_anchored, of_all = float((anchored >= at).mean()), float((everyone >= at).mean())
        error = np.sqrt((1 - of_anchored) / (of_anchored * len(anchored)) + 1 / len(anchored))
        bounds.append(of_all / of_anchored * (1 + 2 * float(error)))
    return max(min(bounds), 1 / (len(everyone) + 1))


def _level(z: FloatArray, weight: FloatArray, share: float) -> float:
    """The offset at which the weighted mean of σ(offset + z) is the share, by bisection."""
    low, high = -700.0 - float(z.max()), 700.0 - float(z.min())
    for _ in range(80):
        offset = (low + high) / 2
        low, high = (offset, high) if weight @ _logistic(offset + z) < share else (low, offset)
    return (low + high) / 2
