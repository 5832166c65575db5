"""What methods that score every pair share: a stated limit, products with sparse networks, and the scores to keep.

A matrix of scores has n_1 × n_2 cells of 4 bytes, and a method holds a few of them at a time, so these methods refuse
problems above `baselines.dense_cells`.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.errors import KedgeError
from kedge.spmm import Rows, hold_memory, multiply
from kedge.types import BoolArray, FloatArray, Problem

__all__ = ["above_all", "between", "keep_best", "need_anchors", "refuse_large", "seed_scores", "spread"]


def refuse_large(problem: Problem, config: Config, method: str) -> None:
    """A problem whose pairs are too many to hold is refused before anything is allocated."""
    cells, limit = problem.left.n * problem.right.n, config.baselines.dense_cells
    if cells > limit:
        raise KedgeError(
            f"{method} scores every pair: {problem.left.n:,} x {problem.right.n:,} accounts are {cells:,} cells, "
            f"above {limit:,}",
            remedy="use evidence, user-matching or an embedding method, or raise baselines.dense_cells",
        )
    hold_memory()


def need_anchors(problem: Problem, method: str) -> None:
    """A method that starts from anchors says so where there are none."""
    if len(problem.anchors) == 0:
        raise KedgeError(f"{method} needs anchors and there are none", remedy="give at least one known pair")


def seed_scores(problem: Problem) -> Tensor:
    """A prior that sums to 1: the anchors; without anchors every pair alike. Float32 [n_1, n_2]."""
    shape = (problem.left.n, problem.right.n)
    if len(problem.anchors) == 0:
        return torch.full(shape, 1.0 / max(1, shape[0] * shape[1]))
    H = torch.zeros(shape)
    rows, columns = torch.from_numpy(problem.anchors.copy()).T
    H[rows, columns] = 1.0 / len(problem.anchors)
    return H


def between(left: Rows, S: Tensor, right: Rows) -> Tensor:
    """M_1 S M_2ᵀ [n_1, n_2] for sparse M_1 and M_2."""
    return multiply(left, multiply(right, S.T.contiguous()).T.contiguous())


def spread(left: csr_array, right: csr_array, H: Tensor, alpha: float, rounds: int) -> FloatArray:
    """The fixed point of S = α M_1 S M_2ᵀ + (1 - α) H, by at most `rounds` rounds of |E_1| n_2 + |E_2| n_1 products."""
    first, second = Rows.of(left), Rows.of(right)
    S = H
    for _ in range(rounds):
        renewed = between(first, S, second).mul_(alpha).add_(H, alpha=1 - alpha)
        change = float((renewed - S).abs_().max())
        S = renewed
        if change <= 1e-7 * float(S.max()):
            break
    scores: FloatArray = S.numpy()
    return scores


def _best_of_rows(S: FloatArray, keep: int) -> BoolArray:
    """Which entries are among the `keep` largest of their row; entries that tie at the border are left out together.

    To take some of them would mean to choose by number, and numbers carry no meaning.
    """
    kept = np.zeros(S.shape, bool)
    if S.shape[1] == 0:
        return kept
    for start in range(0, len(S), 512):
        block = S[start : start + 512]
        if keep >= S.shape[1]:
            border = np.full(len(block), -np.inf, np.float32)
        else:
            border = np.partition(block, S.shape[1] - keep - 1, axis=1)[:, S.shape[1] - keep - 1]
        kept[start : start + 512] = block > border[:, None]
    return kept


def keep_best(problem: Problem, S: FloatArray, keep: int) -> SparseAlignment:
    """The `keep` best finite scores of each left and of each right account, with the anchors above them all.

    An anchored account has its partner and is proposed to nobody else.
    """
    S = np.array(S, np.float32)
    S[problem.anchors[:, 0]] = -np.inf
    S[:, problem.anchors[:, 1]] = -np.inf
    rows, columns = np.nonzero(_best_of_rows(S, keep) | _best_of_rows(np.ascontiguousarray(S.T), keep).T)
    return above_all(problem, csr_array((S[rows, columns], (rows, columns)), shape=S.shape))


def above_all(problem: Problem, scores: csr_array) -> SparseAlignment:
    """The scores of pairs without anchored accounts, and the anchors one above the highest of them."""
    entries = scores.tocoo()
    rows, columns = entries.coords
    free_left, free_right = np.ones(problem.left.n, bool), np.ones(problem.right.n, bool)
    free_left[problem.anchors[:, 0]] = False
    free_right[problem.anchors[:, 1]] = False
    free = free_left[rows] & free_right[columns]
    values = entries.data[free].astype(np.float64)
    top = np.full(len(problem.anchors), (values.max() if len(values) else 0.0) + 1.0)
    merged = (
        np.concatenate([values, top]),
        (
            np.concatenate([rows[free], problem.anchors[:, 0]]),
            np.concatenate([columns[free], problem.anchors[:, 1]]),
        ),
    )
    return SparseAlignment(csr_array(merged, shape=scores.shape))
