"""The nearest accounts of each account, in the order of their cosines or of what a judge says of them.

Which order is the better one is tried on anchors that neither the vectors' common space nor the judges have seen.
Candidates are free accounts: whoever has a known partner is proposed to nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import Judge, VectorAlignment
from kedge.link.candidates import EXACT_UP_TO, Nearest, nearest_pairs
from kedge.link.choice import gains
from kedge.link.unseen import Unseen
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["free_candidates", "prefer", "rerank"]

_FEWEST_HELD = 10  # fewer cannot tell two orders apart


def free_candidates(
    problem: Problem, vectors: VectorAlignment, nearest: int, exact_up_to: int = EXACT_UP_TO
) -> Nearest:
    """The `nearest` of each free account among the free ones, seen from both sides."""
    sides = ((problem.left.n, problem.anchors[:, 0]), (problem.right.n, problem.anchors[:, 1]))
    left, right = (np.setdiff1d(np.arange(size), anchored) for size, anchored in sides)
    return nearest_pairs(vectors.left, vectors.right, nearest, left, right, exact_up_to)


def rerank(problem: Problem, vectors: VectorAlignment, pairs: IntArray, judge: Judge | None) -> csr_array:
    """A `VectorAlignment`'s head: the candidates `pairs`, and the anchors on top.

    Candidates are ordered by the judge's log-odds, or by cosine where nobody judges; all of them are above 1.
    """
    said = vectors.cosine(pairs) if judge is None else judge.log_odds(vectors.left, vectors.right, pairs)
    said = 2.0 + said - said.min(initial=np.inf) if len(said) else said
    top = np.full(len(problem.anchors), said.max(initial=1.0) + 1.0, np.float32)
    rows, columns = np.concatenate([pairs, problem.anchors]).T
    return csr_array((np.concatenate([said, top]), (rows, columns)), shape=(problem.left.n, problem.right.n))


def prefer(trial: Unseen, anchors: IntArray, judges: Iterable[Judge], nearest: int) -> Judge | None:
    """Whose order sets the trial's pairs higher among their candidates; None: that of the cosines.

    Each judge in turn takes over where the mean reciprocal rank rises by more than its standard error.
    """
    if len(trial.pairs) < _FEWEST_HELD:
        return None
    best, reached = None, _reciprocal_ranks(trial, anchors, None, nearest)
    for judge in judges:
        tried = _reciprocal_ranks(trial, anchors, judge, nearest)
        if gains(tried, reached):
            best, reached = judge, tried
    return best


def _reciprocal_ranks(trial: Unseen, anchors: IntArray, judge: Judge | None, nearest: int) -> FloatArray:
    """1 / rank of each of the trial's pairs among free candidates, a mean over both sides; 0 where it is none."""
    ranked = np.zeros(len(trial.pairs))
    for side in (0, 1):
        mine, other = (trial.left, trial.right) if side == 0 else (trial.right, trial.left)
        taken = np.setdiff1d(anchors[:, 1 - side], trial.pairs[:, 1 - side])
        free = np.setdiff1d(np.arange(len(other)), taken)
        asking, partner = trial.pairs[:, side], np.searchsorted(free, trial.pairs[:, 1 - side])
        best, said = VectorAlignment(mine[asking], other[free]).top(np.arange(len(asking)), min(nearest, len(free)))
        if judge is not None:
            pairs = np.column_stack([np.repeat(asking, best.shape[1]), free[best].ravel()])
            said = judge.log_odds(trial.left, trial.right, pairs if side == 0 else pairs[:, ::-1]).reshape(best.shape)
        ranked += _places(said, best == partner[:, None]) / 2
    return ranked


def _places(scores: FloatArray, true: FloatArray) -> FloatArray:
    """1 / rank of the true candidate of each row, ties averaged; 0 in a row without one."""
    own = np.where(true, scores, -np.inf).max(axis=1, keepdims=True)
    rank = 1 + (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    result: FloatArray = np.where(true.any(axis=1), 1 / rank, 0.0)
    return result
