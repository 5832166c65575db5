"""Scores of every pair spread over the product of two networks, from the anchors; random walks from the anchors."""

from __future__ import annotations

import torch
from scipy.sparse import csr_array
from torch import Tensor

from kedge.linalg import normalise, pattern
from kedge.linalg.spmm import Rows, multiply
from kedge.types import FloatArray, IntArray, Network, Problem

_RESTART = 0.15  # of JOENA and of NeXtAlign


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


def walk_from(network: Network, anchored: IntArray) -> Tensor:
    """R [n, m]: where random walks from the anchors are, each of which restarts at its own."""
    back = Rows.of(normalise(pattern(network.adjacency), columns=1))
    E = torch.zeros(network.n, len(anchored))
    E[torch.from_numpy(anchored.copy()), torch.arange(len(anchored))] = _RESTART
    R = E
    for _ in range(100):
        renewed = multiply(back, R).mul_(1 - _RESTART).add_(E)
        change = float((renewed - R).abs().max())
        R = renewed
        if change < 1e-6:
            break
    return R
