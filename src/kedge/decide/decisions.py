"""Decisions: the one-to-one assignment, and which assigned pairs are a match, to be reviewed, or no match.

An anchored account is in no row, neither on the left nor on the right: its partner is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config, share_range
from kedge.linalg.assign import assign
from kedge.probability import AnyCalibrator, EarlierCalibrator, Shortlist, margins, shortlist
from kedge.types import Alignment, FloatArray, Matches, Problem, is_among

_SHARES: Final = (0.25, 0.5, 0.75, 1.0)  # of the largest possible share, that the report shows
_MOST_ASKED: Final = 2_000_000  # candidates: with more, each share takes seconds
_GRID: Final = np.round(np.arange(0.01, 1.0, 0.01), 2)


def decide(problem: Problem, alignment: Alignment, calibrator: AnyCalibrator, config: Config) -> Matches:
    """The candidates of each left account with probabilities and decisions.

    The assignment maximises the sum of the probabilities, that is the expected number of right pairs, so every account
    gets the best partner that others leave it. Only assigned pairs are called match (from the threshold on) or review.
    """
    mirrored = calibrator.is_mirrored(problem)
    seen, pairs = _candidates(problem, alignment, calibrator, config)
    estimate = calibrator.estimate(seen, pairs, share_range(config.decide.counterparts), int(mirrored))
    probability = estimate.probability
    gains = pairs.matrix(probability)
    if mirrored and config.decide.assignment == "many-to-one":  # the one way with sides: left accounts share a partner
        chosen = assign(csr_array(gains.T), "many-to-one")[:, ::-1]
    else:
        chosen = assign(gains, config.decide.assignment)
    assigned = is_among(np.column_stack([pairs.left, pairs.right]), chosen, pairs.n_right)
    threshold = choose_threshold(probability[assigned], config)
    decision = np.zeros(len(pairs), np.int8)
    decision[assigned & (probability >= min(config.decide.review, threshold))] = 1
    decision[assigned & (probability >= threshold)] = 2
    left, right = (pairs.right, pairs.left) if mirrored else (pairs.left, pairs.right)
    # Rows are in the order of probability, which depends on more than the score: on how many rivals a partner has.
    order = np.lexsort((right, -probability, left))
    first = np.searchsorted(left[order], left[order])
    return Matches(
        left_ids=problem.left.ids,
        right_ids=problem.right.ids,
        left=left[order],
        right=right[order],
        rank=np.arange(len(left)) - first + 1,
        score=pairs.score[order],
        probability=probability[order],
        margin=margins(pairs, pairs.score, calibrator.scale.floor)[int(mirrored)][order],
        decision=decision[order],
        counterpart=(estimate.right if mirrored else estimate.left)[left[order]],
        assigned=assigned[order],
        threshold=threshold,
    )


def _candidates(
    problem: Problem, alignment: Alignment, calibrator: AnyCalibrator, config: Config
) -> tuple[Problem, Shortlist]:
    """The problem in the calibrator's order of the networks, and its candidates."""
    if calibrator.is_mirrored(problem):
        problem, alignment = problem.mirrored(), alignment.mirrored()
    return problem, shortlist(problem, alignment, config.candidates)


def decide_by_share(
    problem: Problem, alignment: Alignment, calibrator: AnyCalibrator, config: Config, matches: Matches
) -> list[dict[str, Any]]:
    """How the decisions hang on the share with a counterpart: matches and their expected precision, by share.

    The first row is the share that was used. The assigned pairs of the `matches` stay: only what they are worth
    changes. Empty for calibrators of earlier versions, which cannot be asked, without given anchors, where the share is
    that of the accounts besides the starting pairs, and where so many candidates would take long.
    """
    if isinstance(calibrator, EarlierCalibrator) or calibrator.anchors_right < 1:
        return []
    if not 0 < len(matches) <= _MOST_ASKED:
        return []
    mirrored = int(calibrator.is_mirrored(problem))
    seen, pairs = _candidates(problem, alignment, calibrator, config)
    assigned = np.column_stack([matches.right, matches.left] if mirrored else [matches.left, matches.right])
    among = is_among(np.column_stack([pairs.left, pairs.right]), assigned[matches.assigned], pairs.n_right)
    free = (pairs.free_left, pairs.free_right)[mirrored]
    most = min(1.0, min(pairs.free_left, pairs.free_right) / max(free, 1))
    rows = []
    for known in (share_range(config.decide.counterparts), *((most * part, most * part) for part in _SHARES)):
        estimate = calibrator.estimate(seen, pairs, known, mirrored)
        p = estimate.probability[among]
        called = p[p >= choose_threshold(p, config)]
        rows.append(
            {
                "share": estimate.share[mirrored],
                "matches": len(called),
                "expected_precision": float(called.mean()) if len(called) else None,
            }
        )
    return rows


def choose_threshold(assigned: FloatArray, config: Config) -> float:
    """The lowest threshold, not under the floor, from which matches are to be right as often as `precision` asks: the
    mean probability of the `assigned` pairs above it.

    Where none does, the precision itself is the threshold: a pair that probable is right that often.
    """
    if config.decide.threshold is not None:
        return config.decide.threshold
    for t in _GRID[config.decide.floor <= _GRID]:
        if (assigned >= t).any() and assigned[assigned >= t].mean() >= config.decide.precision:
            return float(t)
    return max(config.decide.precision, config.decide.floor)


def threshold_grid(threshold: float) -> list[float]:
    """The thresholds that are shown: steps of 0.01, and the run's own where it lies between them."""
    return sorted({*_GRID.tolist(), threshold})


def thresholds(calibrator: AnyCalibrator, at: Sequence[float] | None = None) -> list[dict[str, float | int | None]]:
    """Matches made, precision and recall on validation anchors for each threshold in `at`; by default steps of 0.01."""
    rows: list[dict[str, float | int | None]] = []
    for t in _GRID.tolist() if at is None else at:
        above = calibrator.predicted >= t
        right = int(calibrator.correct[above].sum())
        rows.append(
            {
                "threshold": float(t),
                "matches": int(above.sum()),
                "precision": right / int(above.sum()) if above.any() else None,
                "recall": right / calibrator.validated if calibrator.validated else None,
            }
        )
    return rows
