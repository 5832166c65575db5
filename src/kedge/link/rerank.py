"""The nearest accounts of each account, in the order of their cosines or of what the pair network says of them.

Which of the two orders is the better one is tried on anchors that neither the vectors' common space nor the network's
weights have seen. Candidates are free accounts: whoever has a known partner is proposed to nobody else.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import Judge, VectorAlignment
from kedge.link.candidates import nearest_pairs
from kedge.link.choice import gains
from kedge.link.unseen import Unseen
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["gains_by_network", "rerank"]

_FEWEST_HELD = 10  # fewer cannot tell two orders apart


def rerank(problem: Problem, vectors: VectorAlignment, nearest: int, judge: Judge | None) -> csr_array:
    """A `VectorAlignment`'s head: the `nearest` of each free account, seen from both sides, and the anchors on top.

    Candidates are ordered by the judge's log-odds, or by cosine where nobody judges; all of them are above 1.
    """
    shape = (problem.left.n, problem.right.n)
    free = [np.setdiff1d(np.arange(size), problem.anchors[:, side]) for side, size in enumerate(shape)]
    pairs = nearest_pairs(vectors.left, vectors.right, nearest, free[0], free[1]).pairs
    said = vectors.cosine(pairs) if judge is None else judge.log_odds(vectors.left, vectors.right, pairs)
    said = 2.0 + said - said.min(initial=np.inf) if len(said) else said
    top = np.full(len(problem.anchors), said.max(initial=1.0) + 1.0, np.float32)
    rows, columns = np.concatenate([pairs, problem.anchors]).T
    return csr_array((np.concatenate([said, top]), (rows, columns)), shape=shape)


def gains_by_network(trial: Unseen, anchors: IntArray, network: Judge, nearest: int) -> bool:
    """Whether the trial's pairs stand clearly higher among their candidates by the network than by cosine.

    Clearly: the mean reciprocal rank rises by more than its standard error.
    """
    if len(trial.pairs) < _FEWEST_HELD:
        return False
    ranked = np.zeros((2, len(trial.pairs)))
    for side in (0, 1):
        mine, other = (trial.left, trial.right) if side == 0 else (trial.right, trial.left)
        taken = np.setdiff1d(anchors[:, 1 - side], trial.pairs[:, 1 - side])
        free = np.setdiff1d(np.arange(len(other)), taken)
        asking, partner = trial.pairs[:, side], np.searchsorted(free, trial.pairs[:, 1 - side])
        best, cosine = VectorAlignment(mine[asking], other[free]).top(np.arange(len(asking)), min(nearest, len(free)))
        pairs = np.column_stack([np.repeat(asking, best.shape[1]), free[best].ravel()])
        said = network.log_odds(trial.left, trial.right, pairs if side == 0 else pairs[:, ::-1]).reshape(best.shape)
        true = best == partner[:, None]
        ranked += np.stack([_reciprocal_ranks(score, true) for score in (cosine, said)]) / 2
    return gains(ranked[1], ranked[0])


def _reciprocal_ranks(scores: FloatArray, true: FloatArray) -> FloatArray:
    """1 / rank of the true candidate of each row, ties averaged; 0 in a row without one."""
    own = np.where(true, scores, -np.inf).max(axis=1, keepdims=True)
    rank = 1 + (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    result: FloatArray = np.where(true.any(axis=1), 1 / rank, 0.0)
    return result
