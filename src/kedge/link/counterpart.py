"""How likely an account has a counterpart at all, although nobody ever labels one that has none.

Assumption: the anchors are a fair sample of the accounts that have a counterpart (as in Elkan and Noto, 2008). Let x be
the logit of an account's best candidate. Held-out anchors show how x is distributed among accounts with a counterpart.
The same accounts with their true partner struck from their lists show how it is among accounts that have none: who has
lost a partner is left with rivals, as one that never had one is. All free accounts show the mixture, so the share π
with a counterpart solves

    P(x ≥ t | all) = π P(x ≥ t | anchored) + (1 - π) P(x ≥ t | bereft)      for every t.

High t are to be trusted: accounts without counterpart may be less active than bereft ones, and then stand lower, where
they cannot be mistaken. Of several t in the upper half the one is asked that tells most where everybody has a
counterpart. What it says is not believed within `_DOUBT` standard errors of that, and in part beyond (the shrinkage of
James and Stein),

    1 - π = (1 - π_t) max(0, 1 - (_DOUBT / z)^2),   z = (1 - π_t) / its standard error,

and π is no more than leaves a free right account for each pair. (Before, accounts without counterpart were taken never
to stand high: on copies of real networks the share came out 0.21 too high in the mean, docs/decisions/0026.) Given π,

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
_TAILS = np.linspace(0.2, 0.5, 4)  # of the anchored: fewer are too noisy to tell, more stand too low
_DOUBT = float(norm.isf(0.025))  # standard errors: a false alarm in one of 40 pairs


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


def estimate_counterpart(anchored: FloatArray, bereft: FloatArray, everyone: FloatArray, limit: float) -> Counterpart:
    """From x of the held-out anchors, of the same without their partners, and of all free left accounts."""
    limit = float(np.clip(limit, 0, 1))
    share = min(_share(anchored, bereft, everyone), limit)
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


def _share(anchored: FloatArray, bereft: FloatArray, everyone: FloatArray) -> float:
    """π of this module's docstring, before the limit."""
    if len(anchored) == 0 or len(everyone) == 0:
        return 1.0
    # t is chosen before its answer is known: the surest answer after the fact would be a chance low one.
    at = max(np.quantile(anchored, 1 - _TAILS), key=lambda t: _tells(anchored, bereft, t))
    with_partner, without, of_all = (float((x >= at).mean()) for x in (anchored, bereft, everyone))
    if with_partner <= without:
        return 1.0
    share = (of_all - without) / (with_partner - without)
    error = _error(float(np.clip(share, 0, 1)), with_partner, without, len(anchored))
    missing = 1 - share
    believed = missing * max(0.0, 1 - (_DOUBT * error / missing) ** 2) if missing > 0 else 0.0
    return float(np.clip(1 - believed, 1 / (len(everyone) + 1), 1))


def _tells(anchored: FloatArray, bereft: FloatArray, at: float) -> float:
    """How sure the answer at this t would be if everybody had a counterpart: 1 / its standard error."""
    with_partner, without = float((anchored >= at).mean()), float((bereft >= at).mean())
    return 1 / _error(1.0, with_partner, without, len(anchored)) if with_partner > without else 0.0


def _error(share: float, with_partner: float, without: float, count: int) -> float:
    """The standard error of π_t, if it is this share, from `count` anchors of which these shares stand above t."""
    variance = share**2 * with_partner * (1 - with_partner) + (1 - share) ** 2 * without * (1 - without)
    # Who stands above t without a partner does so with one, so the two shares go together.
    variance += 2 * share * (1 - share) * without * (1 - with_partner)
    # One more account on the fence: a part that nobody is seen in is not known to be empty.
    return float(np.sqrt((variance + 1 / count) / count) / (with_partner - without))
