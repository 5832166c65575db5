"""Decisions: who is assigned to whom, and which of these pairs are a match, a matter for review, or no match.

An account with a known anchor is not decided about again: it stands in no row, neither on the left nor on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.special import betaincinv

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.link.assign import assign
from kedge.link.calibrate import Calibrator
from kedge.link.shortlist import shortlist
from kedge.link.signals import margins
from kedge.types import FloatArray, Matches, Problem

__all__ = ["choose_threshold", "decide", "threshold_grid", "thresholds"]

_GRID: Final = np.round(np.arange(0.01, 1.0, 0.01), 2)
_PRIOR_WEIGHT: Final = 5.0  # pseudo-observations, at the probability said, behind each estimated precision


def decide(problem: Problem, alignment: Alignment, calibrator: Calibrator, config: Config) -> Matches:
    """The candidates of each left account with probabilities and decisions.

    The assignment maximises the sum of the probabilities, that is the expected number of right pairs, so every account
    gets the best partner that others leave it. Only assigned pairs are called match (from the threshold on) or review.
    """
    pairs = shortlist(problem, alignment, config.candidates)
    probability = calibrator.probability(pairs)
    # Rows stand by probability, which knows more than the score: how many others want the same partner.
    order = np.lexsort((pairs.right, -probability, pairs.left))
    chosen = assign(pairs.matrix(probability), config.decide.assignment)
    width = np.int64(max(pairs.n_right, 1))
    assigned = np.isin(pairs.left * width + pairs.right, chosen[:, 0] * width + chosen[:, 1])
    threshold = choose_threshold(calibrator, probability[assigned], config)
    decision = np.zeros(len(pairs), np.int8)
    decision[assigned & (probability >= min(config.decide.review, threshold))] = 1
    decision[assigned & (probability >= threshold)] = 2
    return Matches(
        left_ids=problem.left.ids,
        right_ids=problem.right.ids,
        left=pairs.left[order],
        right=pairs.right[order],
        rank=pairs.rank,  # the rows of an account keep their places, so 1, 2, ... still counts them
        score=pairs.score[order],
        probability=probability[order],
        margin=margins(pairs, calibrator.scale.floor)[0][order],
        decision=decision[order],
        counterpart=calibrator.has_counterpart(pairs)[pairs.left[order]],
        assigned=assigned[order],
    )


def choose_threshold(calibrator: Calibrator, assigned: FloatArray, config: Config) -> float:
    """The lowest threshold, not under the floor, from which matches are to be right as often as `precision` asks.

    Both estimates must reach it: the share of right ones among held-out anchors, as far as so few can vouch for it
    (`confidence`; the lowest of many thresholds is the luckiest one too), and the mean probability of the `assigned`
    pairs, since held-out anchors cannot show matches made of accounts without counterpart. Where no threshold does, the
    precision itself is the threshold: a pair that sure is right that often.
    """
    if config.decide.threshold is not None:
        return config.decide.threshold
    for t in _GRID[config.decide.floor <= _GRID]:
        held_out = _least_precision(calibrator, t, config.decide.confidence)
        mean = assigned[assigned >= t].mean() if (assigned >= t).any() else None
        if held_out is not None and held_out >= config.decide.precision and (mean or 0) >= config.decide.precision:
            return float(t)
    return max(config.decide.precision, config.decide.floor)


def _least_precision(calibrator: Calibrator, t: float, confidence: float) -> float | None:
    """What the precision from `t` on exceeds with `confidence`: a quantile of its Beta posterior; None above all."""
    above = calibrator.said >= t
    if not above.any():
        return None
    said, right = float(calibrator.said[above].mean()), float(calibrator.right[above].sum())
    wrong = float(above.sum()) - right
    return float(betaincinv(right + _PRIOR_WEIGHT * said, wrong + _PRIOR_WEIGHT * (1 - said), 1 - confidence))


def threshold_grid(threshold: float) -> list[float]:
    """The thresholds worth looking at: steps of 0.01, and the run's own where it lies between them."""
    return sorted({*_GRID.tolist(), threshold})


def thresholds(calibrator: Calibrator, at: Sequence[float] | None = None) -> list[dict[str, float | int | None]]:
    """For each threshold what held-out anchors got: matches made, precision, recall; `at` steps of 0.01."""
    rows: list[dict[str, float | int | None]] = []
    for t in _GRID.tolist() if at is None else at:
        above = calibrator.said >= t
        right = int(calibrator.right[above].sum())
        rows.append(
            {
                "threshold": float(t),
                "matches": int(above.sum()),
                "precision": right / int(above.sum()) if above.any() else None,
                "recall": right / calibrator.validated if calibrator.validated else None,
            }
        )
    return rows
