"""Decisions after an audit: probabilities corrected by its answers, a threshold from them, and the measured precision.

The correction is Platt's (1999), on the log-odds of the assigned pairs:

    logit p' = a + b logit p,   a ~ 0.35 t(3),  log b ~ N(0, 0.25²)

so that without answers nothing changes. Its posterior is summed over a grid: p' has the means of a and b, the threshold
all of it. Which pairs were asked depends on p alone,
so that answers count alike whatever stratum they are from; sampling weights would only add variance.

The precision is estimated apart from that model, from the sample alone: in each stratum the share of right answers,
with exact limits (hypergeometric, after Clopper and Pearson), and strata weighted by how many matches they have; limits
of several strata are combined by the squares of their distances (MOVER, Zou and Donner 2008).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.special import expit, logit

from kedge.answers import STRATA, Sample
from kedge.config import DecideConfig
from kedge.types import DECISIONS, BoolArray, FloatArray, IntArray, Matches

CONFIDENCE: Final = 0.9  # of the interval, and of the threshold: benchmarks/audit.py
_SLACK: Final = 0.02  # matches may be right so much less often than asked for, with 1 - CONFIDENCE
_SHIFT: Final = 0.35  # scale of a, by Student's t with 3 degrees of freedom: benchmarks/audit.py
_SLOPE: Final = 0.25  # standard deviation of log b
_SUREST: Final = 1e-3  # log-odds are taken of probabilities no nearer to 0 and 1
_POINTS: Final = logit(np.linspace(_SUREST, 1 - _SUREST, 999))
_MATCH: Final = DECISIONS.index("match")
_GRID: Final = np.round(np.arange(0.01, 1.0, 0.01), 2)


@dataclass(frozen=True)
class Correction:
    """The posterior of a and b, [g] each, and how probable each of the g points is."""

    a: FloatArray
    b: FloatArray
    weight: FloatArray

    @property
    def mean(self) -> tuple[float, float]:
        """The posterior means of a and b."""
        return float(self.weight @ self.a), float(self.weight @ self.b)

    def threshold(self, probability: FloatArray, config: DecideConfig) -> float:
        """The lowest threshold on p', not under the floor, from which matches are to be right as often as asked for.

        Expected to be, and with `CONFIDENCE` at most `_SLACK` less often. Where no threshold is, the precision itself.
        """
        counts = np.bincount(np.searchsorted(_POINTS[:-1], _log_odds(probability)), minlength=len(_POINTS))[::-1]
        made = np.maximum(np.cumsum(counts), 1)
        # For each a and b: the precision of all pairs from a point on, the surest point first, [g, points].
        precision = np.cumsum(expit(self.a[:, None] + self.b[:, None] * _POINTS[::-1]) * counts, axis=1) / made
        sure = self.weight @ (precision >= config.precision - _SLACK) >= CONFIDENCE
        good = (sure & (self.weight @ precision >= config.precision))[::-1]
        points, surest = correct(expit(_POINTS), *self.mean), correct(probability, *self.mean).max(initial=0.0)
        for t in _GRID[(config.floor <= _GRID) & (surest >= _GRID)]:
            if good[min(np.searchsorted(points, t), len(good) - 1)]:
                return float(t)
        return max(config.precision, config.floor)


def correct(probability: FloatArray, shift: float, slope: float) -> FloatArray:
    """Probabilities after an audit: logit p' = shift + slope · logit p; 0 and 1 stay."""
    return np.asarray(expit(shift + slope * logit(probability)))


def fit_correction(probability: FloatArray, right: BoolArray) -> Correction:
    """The correction that answers about pairs of these probabilities support."""
    steps = np.linspace(-2, 2, 61)
    a = np.repeat(_SHIFT * steps**3, 31)
    b = np.tile(np.exp(np.linspace(-3, 3, 31) * _SLOPE), 61)
    space = np.repeat(steps**2 + 1e-2, 31)  # of the grid of a, up to a factor: it is denser about 0
    z = a[:, None] + b[:, None] * _log_odds(probability)
    log_posterior = np.where(right, z, 0.0).sum(axis=1) - np.logaddexp(0, z).sum(axis=1)
    log_posterior += np.log(space) - 2 * np.log1p((a / _SHIFT) ** 2 / 3) - (np.log(b) / _SLOPE) ** 2 / 2
    weight = np.exp(log_posterior - log_posterior.max())
    return Correction(a, b, weight / weight.sum())


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, _SUREST, 1 - _SUREST)))


def exact_limits(right: int, asked: int, size: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Limits of the share of right ones among `size`, of which `asked` were drawn; in a census both are the share."""
    from scipy.stats import hypergeom  # slow to load

    if asked == 0:
        return 0.0, 1.0
    tail, wrong = (1 - confidence) / 2, asked - right
    near = min(max(round(right / asked * size), right), size - wrong)  # a plausible number of right ones
    least = right + bisect_left(
        range(right, near), True, key=lambda k: bool(hypergeom.sf(right - 1, size, k, asked) > tail)
    )
    most = (
        near
        - 1
        + bisect_left(
            range(near, size - wrong + 1), True, key=lambda k: bool(hypergeom.cdf(right, size, k, asked) <= tail)
        )
    )
    return least / size, most / size


def decide_audited(matches: Matches, sample: Sample, config: DecideConfig) -> tuple[Matches, dict[str, Any]]:
    """The matches of a run as they are after an audit, and what the audit shows, for people and JSON.

    Its figures are of the pairs from the threshold on; single answers have `added` and `removed` so many matches.
    `drawn` has the figures of the pairs that were called a match when the sample was drawn, None where there was none.

    A pair that was answered is known: yes is probability 1, no is 0. Of every left account the assigned pair (else the
    best candidate) is corrected; what is left to its other candidates, and to a counterpart that is no candidate,
    shrinks or grows in proportion: (1 - p') / (1 - p). So probabilities of one account never exceed its `counterpart`.
    """
    rows = sample.rows(matches)
    answer = np.array(sample.answer, dtype="U6")
    known = np.flatnonzero((rows >= 0) & np.isin(answer, ("yes", "no")))
    at, right = rows[known], answer[known] == "yes"
    raw = matches.probability.astype(np.float64)
    drawn = _precision(matches, sample, raw, matches.assigned & (raw >= sample.cut), at, right)
    summary = {**_counts(sample, matches, rows, answer), "drawn": drawn if sample.called else None}
    if len(known) == 0:
        return matches, {**summary, **_precision(matches, sample, raw, matches.decision == _MATCH, at, right)}
    correction = fit_correction(raw[at], right)
    threshold = config.threshold
    if threshold is None:
        threshold = correction.threshold(raw[matches.assigned], config)
    mapped = correct(raw, *correction.mean)
    called = matches.assigned & (mapped >= threshold)
    estimate = _precision(matches, sample, mapped, called, at, right)
    decided = _corrected(matches, mapped, (at, right), threshold, config)
    changed = {"added": int((right & ~called[at]).sum()), "removed": int((~right & called[at]).sum())}
    return decided, {**summary, **estimate, **changed, **dict(zip(("shift", "slope"), correction.mean, strict=True))}


def _corrected(
    matches: Matches, mapped: FloatArray, known: tuple[IntArray, BoolArray], threshold: float, config: DecideConfig
) -> Matches:
    """The matches with corrected probabilities, decided by them."""
    raw, left = matches.probability.astype(np.float64), matches.left
    best = np.lexsort((matches.rank, ~matches.assigned, left))
    reference = best[np.unique(left[best], return_index=True)[1]]
    new = mapped.copy()
    new[known[0]] = known[1]
    of_account = np.zeros(len(matches.left_ids), np.int64)
    of_account[left[reference]] = reference
    own = of_account[left]
    rest = (1 - new[own]) / np.maximum(1 - raw[own], 1e-9)
    probability = np.where(np.arange(len(left)) == own, new, np.clip(raw * rest, 0, 1))
    taken = np.isin(matches.right, matches.right[known[0][known[1]]])
    taken[known[0][known[1]]] = False
    probability[taken] = 0.0  # the right account is known to be another's
    counterpart = np.clip(new[own] + np.maximum(matches.counterpart - raw[own], 0) * rest, probability, 1)
    np.maximum.at(largest := np.zeros(len(matches.left_ids)), left, counterpart)
    decision = np.zeros(len(left), np.int8)
    decision[matches.assigned & (probability >= min(config.review, threshold))] = 1
    decision[matches.assigned & (probability >= threshold)] = 2
    decision[known[0][~known[1]]] = 0
    order = np.lexsort((matches.right, -probability, left))
    first = np.searchsorted(left[order], left[order])
    columns = ("left", "right", "score", "margin", "assigned")
    return replace(
        matches,
        **{name: getattr(matches, name)[order] for name in columns},
        probability=probability[order],
        counterpart=largest[left[order]],
        decision=decision[order],
        rank=np.arange(len(left)) - first + 1,
        threshold=float(threshold),
    )


def _counts(sample: Sample, matches: Matches, rows: IntArray, answer: Any) -> dict[str, Any]:
    """How far the audit has come."""
    return {
        "asked": len(sample),
        "yes": int((answer == "yes").sum()),
        "no": int((answer == "no").sum()),
        "unsure": int((answer == "unsure").sum()),
        "open": int((answer == "").sum()),
        "called": sample.called,
        "gone": int((rows < 0).sum()),
        "same_pairs": sample.is_of(matches),
    }


def _precision(
    matches: Matches, sample: Sample, mapped: FloatArray, called: BoolArray, at: IntArray, right: BoolArray
) -> dict[str, Any]:
    """The precision of the called pairs, [m], with its limits; `at` are the rows that were answered.

    A stratum without an answer about its matches counts with its mean probability, and with limits 0 and 1.
    """
    strata = np.where(matches.assigned, sample.strata(matches.probability), -1)
    parts, audited, correct = [], 0, 0
    for place in range(len(STRATA)):
        inside = called & (strata == place)
        size, mine = int(inside.sum()), inside[at]
        if size == 0:
            continue
        asked, yes = int(mine.sum()), int(right[mine].sum())
        low, high = exact_limits(yes, asked, size)
        parts.append((size, yes / asked if asked else float(mapped[inside].mean()), low, high))
        audited, correct = audited + asked, correct + yes
    found: dict[str, Any] = {
        "audited": audited,
        "right": correct,
        "matches": int(called.sum()),
        "outside": int((called & (strata < 0)).sum()),
        "precision": None,
        "low": None,
        "high": None,
        "confidence": CONFIDENCE,
        "census": False,
        "strata": len(parts),
    }
    if audited == 0:
        return found
    size, share, low, high = np.array(parts).T
    weight = size / size.sum()
    precision = float(weight @ share)
    spread = [float(np.sqrt(((weight * (share - limit)) ** 2).sum())) for limit in (low, high)]
    return found | {
        "precision": precision,
        "low": float(max(precision - spread[0], 0.0)),
        "high": float(min(precision + spread[1], 1.0)),
        "census": audited == found["matches"],
    }
