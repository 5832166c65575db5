"""The order of candidates: by their cosines, or by the log-odds of a model; validation anchors choose.

They are anchors that neither the alignment of the vectors nor the models were fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import VectorAlignment
from kedge.linalg import gains, rank_in_rows
from kedge.similarity.folds import ValidationFold
from kedge.types import FloatArray, IntArray, Problem

_FEWEST_VALIDATION = 10  # fewer cannot separate two orders

LogOdds: TypeAlias = Callable[[FloatArray, FloatArray, IntArray], FloatArray]  # (X, Y, pairs of rows [m, 2]) -> [m]


def rerank(problem: Problem, vectors: VectorAlignment, pairs: IntArray, log_odds: LogOdds | None) -> csr_array:
    """A `VectorAlignment`'s head: the candidates `pairs`, and the anchors on top.

    Candidates are ordered by the log-odds, or by cosine where there is no model; all of them are above 1.
    """
    score = vectors.cosine(pairs) if log_odds is None else log_odds(vectors.left, vectors.right, pairs)
    score = 2.0 + score - score.min(initial=np.inf) if len(score) else score
    top = np.full(len(problem.anchors), score.max(initial=1.0) + 1.0, np.float32)
    rows, columns = np.concatenate([pairs, problem.anchors]).T
    return csr_array((np.concatenate([score, top]), (rows, columns)), shape=(problem.left.n, problem.right.n))


def choose_order(trial: ValidationFold, anchors: IntArray, models: Iterable[LogOdds], nearest: int) -> LogOdds | None:
    """The model that ranks the trial's pairs highest among their candidates; None: the order of the cosines.

    A later model replaces an earlier one where the mean reciprocal rank rises by more than its standard error.
    """
    if len(trial.pairs) < _FEWEST_VALIDATION:
        return None
    best, reached = None, _reciprocal_ranks(trial, anchors, None, nearest)
    for model in models:
        tried = _reciprocal_ranks(trial, anchors, model, nearest)
        if gains(tried, reached):
            best, reached = model, tried
    return best


def _reciprocal_ranks(trial: ValidationFold, anchors: IntArray, log_odds: LogOdds | None, nearest: int) -> FloatArray:
    """1 / rank of each of the trial's pairs among free candidates, a mean over both sides; 0 where it is none."""
    ranked = np.zeros(len(trial.pairs))
    for side in (0, 1):
        mine, other = (trial.left, trial.right) if side == 0 else (trial.right, trial.left)
        taken = np.setdiff1d(anchors[:, 1 - side], trial.pairs[:, 1 - side])
        free = np.setdiff1d(np.arange(len(other)), taken)
        accounts, partner = trial.pairs[:, side], np.searchsorted(free, trial.pairs[:, 1 - side])
        best, score = VectorAlignment(mine[accounts], other[free]).top(
            np.arange(len(accounts)), min(nearest, len(free))
        )
        if log_odds is not None:
            pairs = np.column_stack([np.repeat(accounts, best.shape[1]), free[best].ravel()])
            score = log_odds(trial.left, trial.right, pairs if side == 0 else pairs[:, ::-1]).reshape(best.shape)
        true = best == partner[:, None]
        rank = rank_in_rows(score, np.where(true, score, -np.inf).max(axis=1))
        ranked += np.where(true.any(axis=1), 0.5 / rank, 0.0)
    return ranked
