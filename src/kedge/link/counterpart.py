"""How likely an account has a counterpart at all, although nobody ever labels one that has none.

Assumption: the anchors are a fair sample of the accounts that have a counterpart (as in Elkan and Noto, 2008). Let x be
the logit of an account's best candidate. Held-out anchors show how x is distributed among accounts with a counterpart,
all free accounts show the mixture, so the share π with a counterpart cannot be larger than

    π ≤ P(x ≥ t | all) / P(x ≥ t | anchored)      for every t,

with equality where only accounts with a counterpart score that high. Let r be this ratio and z how many standard errors
it lies below 1. Less than `_DOUBT` of them say nothing (there are nine looks); what lies beyond is believed in part,

    π = min over t of 1 - (1 - r) max(0, 1 - (_DOUBT / z)^2),

the shrinkage of James and Stein towards "everybody has one", and no more than leaves a free right account for each
pair. (The largest share that no t contradicts was tried first: on planted pairs, where the truth is known, 0.77 to 0.89
of the matches were right that should have been 0.9, benchmarks/counterparts.py; r itself jumps, so that one of 40 pairs
where everybody has a counterpart would lose most of its matches.) Given π,

    h(x) = P(counterpart | x) = π f_anchored(x) / f_all(x), rising with x and at most 1

by isotonic regression over bins of x. (A logistic h was tried first: its tail is too thin, and with scores that level
off it held the surest accounts of one real pair at 0.9, so that no match was ever sure.) Where anchors were chosen for
being well connected, their x is too high and the share comes out too low: that errs on the careful side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import norm

from kedge.types import FloatArray

__all__ = ["Counterpart", "estimate_counterpart"]

_BIN_ANCHORS = 25  # held-out anchors a bin
_MOST_BINS = 20
_TAILS = np.linspace(0.2, 1, 9)  # of the anchored; smaller tails are too noisy to tell
_DOUBT = float(norm.isf(0.025 / len(_TAILS)))  # standard errors: nine looks, and a false alarm in one of 40 pairs


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


def estimate_counterpart(anchored: FloatArray, everyone: FloatArray, limit: float) -> Counterpart:
    """From x of the held-out anchors and of all free left accounts."""
    limit = float(np.clip(limit, 0, 1))
    share = min(_share(anchored, everyone), limit)
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


def _share(anchored: FloatArray, everyone: FloatArray) -> float:
    """π of this module's docstring, before the limit."""
    if len(anchored) == 0 or len(everyone) == 0:
        return 1.0
    shares = [1.0]
    for tail in _TAILS:
        at = np.quantile(anchored, 1 - tail)
        of_anchored, of_all = float((anchored >= at).mean()), float((everyone >= at).mean())
        error = np.sqrt((1 - of_anchored) / (of_anchored * len(anchored)) + 1 / len(anchored))
        ratio = of_all / of_anchored
        doubt = _DOUBT * float(error) * ratio / max(1 - ratio, 1e-12)  # _DOUBT / z
        shares.append(1 - (1 - ratio) * max(0.0, 1 - doubt**2))
    return max(min(shares), 1 / (len(everyone) + 1))
