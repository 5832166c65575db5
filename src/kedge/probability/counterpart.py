"""The probability that an account has a counterpart at all, although no account without one is ever labelled.

Assumption: the anchors are a fair sample of the accounts that have a counterpart (as in Elkan and Noto, 2008). Let x be
the logit of an account's best candidate. Validation anchors show how x is distributed among accounts with a
counterpart. The same accounts with their true partner removed from their lists ("unpaired" below) show how it is among
accounts that have none: both have rivals only. All free accounts show the mixture, so the share π with a counterpart
solves

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

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import norm

from kedge.types import FloatArray

_BIN_ANCHORS = 25  # validation anchors per bin
_MOST_BINS = 20
_TAILS = (0.5, 0.4, 0.3, 0.25, 0.2)  # of the anchored: fewer are too noisy
_RARE = 0.1  # unpaired accounts above t per anchored one: so few that their likeness to the rest hardly matters
_DOUBT = float(norm.isf(0.1))  # standard errors: one of ten shares of 1 is estimated lower, and slightly


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
