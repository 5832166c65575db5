"""How likely an account has a counterpart at all, although nobody ever labels one that has none.

Assumption: the anchors are a fair sample of the accounts that have a counterpart (selected at random, as in Elkan and
Noto, 2008). Then held-out anchors show how the best score x of an account with a counterpart is distributed, all
free accounts show the mixture, and where the second falls short of the first there are accounts without one:

    h(x) = P(counterpart | x) = σ(a + b x), b ≥ 0       f_anchored(x) ∝ h(x) f_all(x)

(a, b) maximise the likelihood of the held-out anchors' x among all free accounts'. The level of h is known only as far
as h levels off, so two more things are used: there cannot be more pairs than free accounts on the smaller side (mean
of h ≤ free right / free left), and of shares that fit alike the larger is preferred. Where anchors were chosen for
being well connected, x of the anchored is too high and the share comes out too low: that errs on the careful side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.types import FloatArray

__all__ = ["Counterpart", "estimate_counterpart"]

_BINS = 256
_SLOPES = np.concatenate([[0.0], np.geomspace(0.05, 8, 32)])
_OFFSETS = np.linspace(-12, 8, 81)
_PRIOR_WEIGHT = 2.0  # pseudo-observations in favour of the largest share


@dataclass(frozen=True)
class Counterpart:
    """h(x) = σ(offset + slope x); `share` is its mean over the free left accounts, `limit` the largest possible."""

    offset: float
    slope: float
    share: float
    limit: float

    def probability(self, x: FloatArray) -> FloatArray:
        """P(counterpart | best score x)."""
        result: FloatArray = _logistic(self.offset + self.slope * np.asarray(x, np.float64))
        return result


def _logistic(z: FloatArray) -> FloatArray:
    return 0.5 * (1 + np.tanh(z / 2))


def estimate_counterpart(anchored: FloatArray, everyone: FloatArray, limit: float) -> Counterpart:
    """From the best scores of held-out anchors and of all free left accounts, by search over a grid of (a, b)."""
    limit = float(np.clip(limit, 1e-6, 1))
    if len(anchored) == 0 or len(everyone) == 0 or np.ptp(everyone) == 0:
        return Counterpart(float(np.log(limit) - np.log1p(-min(limit, 1 - 1e-6))), 0.0, limit, limit)
    edges = np.unique(np.quantile(everyone, np.linspace(0, 1, _BINS + 1)))
    inner = edges[1:-1]
    place = np.searchsorted(inner, everyone, side="right")
    count = np.bincount(place, minlength=len(inner) + 1)
    centre = np.bincount(place, everyone, minlength=len(inner) + 1) / np.maximum(count, 1)
    seen = np.bincount(np.searchsorted(inner, anchored, side="right"), minlength=len(inner) + 1)
    h = _logistic(_OFFSETS[:, None, None] + _SLOPES[None, :, None] * centre)
    mean = h @ (count / count.sum())
    fit = np.log(h) @ seen - seen.sum() * np.log(mean) + _PRIOR_WEIGHT * np.log(mean)
    # A grid point just above the limit is the limit, to the width of the grid.
    fit[mean > max(1.02 * limit, mean.min())] = -np.inf
    a, b = np.unravel_index(int(fit.argmax()), fit.shape)
    share = min(float(mean[a, b]), limit)
    return Counterpart(float(_OFFSETS[a]), float(_SLOPES[b]), share, limit)
