"""The embedding objective (Eq. 10): pooled, at the cost of one product; and term by term, as printed.

Eq. 10 is maximised in the paper; here its negative, divided by the number of edges, is a loss to be minimised.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array
from torch import Tensor
from torch.nn.functional import softplus

from kedge.spmm import Rows, multiply
from kedge.types import Network

__all__ = ["Edges", "Weighing", "edge_loss", "noise_weights", "pooled_loss", "sampled_loss", "trivial_loss"]

Weighing = Literal["paper", "mean"]

_BLOCK_CELLS = 1 << 19  # logits are made in blocks of 2 MB, which stay in the cache between their four uses


@dataclass(frozen=True)
class Edges:
    """The edges of a network as the objective needs them: each once for its logit, each twice for its gradient.

    `upper` is the CSR of the pairs i < j; `both` the symmetric pattern, whose entry t takes its value from entry
    `place[t]` of `upper`; `share` is d_v / 2|E|, the share of all edge ends at each account.
    """

    upper: Tensor
    both: Rows
    place: Tensor
    share: Tensor
    count: int

    @classmethod
    def of(cls, network: Network) -> Edges:
        """The edges of a network; weights do not count."""
        A = network.adjacency
        rows = np.repeat(np.arange(network.n), network.degrees)
        above = rows < A.indices
        i, j = rows[above], A.indices[above]
        count = len(i)
        numbers = coo_array((np.arange(1, count + 1), (i, j)), shape=A.shape)
        # Row after row, so that sampled_addmm gives the logits in the order of i, j.
        upper = csr_array((np.zeros(count, np.float32), (i, j)), shape=A.shape)
        both = csr_array((numbers + numbers.T).tocsr())
        both.sort_indices()
        with warnings.catch_warnings():  # torch calls its CSR tensors beta; only sampled_addmm is used of them
            warnings.simplefilter("ignore", UserWarning)
            pattern = torch.sparse_csr_tensor(
                torch.from_numpy(upper.indptr.astype(np.int32)),
                torch.from_numpy(upper.indices.astype(np.int32)),
                torch.from_numpy(upper.data),
                upper.shape,
                check_invariants=False,
            )
        return cls(
            upper=pattern,
            both=Rows.of(csr_array((np.ones(both.nnz, np.float32), both.indices, both.indptr), shape=A.shape)),
            place=torch.from_numpy(both.data.astype(np.int64) - 1),
            share=torch.from_numpy((network.degrees / max(1, 2 * count)).astype(np.float32)),
            count=count,
        )


def noise_weights(network: Network) -> Tensor:
    """P(v) ∝ d_v^0.75, float64 [n], the noise distribution of Eq. 10."""
    return torch.from_numpy(network.degrees.astype(np.float64) ** 0.75)


def _negative_weight(weighing: Weighing, negatives: int) -> float:
    """How much the mean over noise counts against the mean over edges: 2 M as printed, or 1."""
    return 2.0 * negatives if weighing == "paper" else 1.0


def trivial_loss(weighing: Weighing = "mean", negatives: int = 5, bias: bool = False) -> float:
    """The loss of vectors that say nothing: every logit 0, or with a free bias the best constant.

    As printed it is (1 + 2M) ln 2, 7.62 for M = 5: where a collapsed fit rests for ever.
    """
    weight = _negative_weight(weighing, negatives)
    if not bias:
        return (1 + weight) * math.log(2)
    return math.log1p(weight) + weight * math.log1p(1 / weight)


class _EdgeLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None) -> Tensor:
        logits = torch.sparse.sampled_addmm(edges.upper, X, X.T, beta=0.0).values() + bias
        weight = 1.0 / edges.count if chosen is None else chosen / chosen.sum().clamp(min=1.0)
        ctx.save_for_backward(X)
        ctx.edges, ctx.coefficients = edges, torch.sigmoid(-logits).mul_(weight).neg_()
        return (softplus(-logits) * weight).sum()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (X,) = ctx.saved_tensors
        edges, coefficients = ctx.edges, ctx.coefficients * gradients[0]
        rows = Rows(edges.both.offsets, edges.both.indices, coefficients[edges.place])
        return multiply(rows, X), coefficients.sum(), None, None


def edge_loss(X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None = None) -> Tensor:
    """- mean over edges (i, j) of log σ(x_i · x_j + b): the first sum of Eq. 10; `chosen` [|E|] of 0/1 picks some."""
    return cast(Tensor, _EdgeLoss.apply(X, bias, edges, chosen))  # type: ignore[no-untyped-call]


class _PoolLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, pool: Tensor, bias: Tensor, share: Tensor) -> Tensor:
        gradient = torch.empty_like(X)
        pool_gradient = torch.zeros_like(pool)
        loss = X.new_zeros((), dtype=torch.float64)
        bias_gradient = X.new_zeros((), dtype=torch.float64)
        step = max(1, _BLOCK_CELLS // max(1, len(pool)))
        for start in range(0, len(X), step):
            block = X[start : start + step]
            weight = share[start : start + step, None] / len(pool)
            logits = torch.addmm(bias, block, pool.T)
            # The gradient is made here, while the logits are in the cache, and the logits are never kept.
            loss += (softplus(logits).sum(dim=1) * weight[:, 0]).sum(dtype=torch.float64)
            slope = logits.sigmoid_().mul_(weight)
            torch.mm(slope, pool, out=gradient[start : start + step])
            pool_gradient.addmm_(slope.T, block)
            bias_gradient += slope.sum(dtype=torch.float64)
        ctx.save_for_backward(gradient, pool_gradient, bias_gradient.to(X.dtype))
        return loss.to(X.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        gradient, pool_gradient, bias_gradient = ctx.saved_tensors
        return gradient * gradients[0], pool_gradient * gradients[0], bias_gradient * gradients[0], None


def pooled_loss(
    X: Tensor,
    bias: Tensor,
    edges: Edges,
    pool: Tensor,
    weighing: Weighing = "mean",
    negatives: int = 5,
    chosen: Tensor | None = None,
) -> Tensor:
    """-O_embedding / |E| (Eq. 10) with all expectations taken over one pool of noise accounts, int64 [q].

    Σ over edges of M expectations at both ends = M Σ_v d_v E_k[log σ(-x_v · x_k)], so one n × q product serves every
    edge: unbiased for the same objective. `mean` weighs edges and noise equally instead of 1 : 2M.
    """
    noise = cast(Tensor, _PoolLoss.apply(X, X[pool], bias, edges.share))  # type: ignore[no-untyped-call]
    return edge_loss(X, bias, edges, chosen) + _negative_weight(weighing, negatives) * noise


def sampled_loss(
    X: Tensor, bias: Tensor, pairs: Tensor, noise: Tensor, weighing: Weighing = "mean", negatives: int = 5
) -> Tensor:
    """-O_embedding / |E| (Eq. 10) as printed: `noise` int64 [|E|, 2, M] are M accounts for each end of each edge."""
    ends = X[pairs]
    positive = softplus(-((ends[:, 0] * ends[:, 1]).sum(-1) + bias)).mean()
    logits = torch.einsum("ead,eamd->eam", ends, X[noise]) + bias
    return positive + _negative_weight(weighing, negatives) * softplus(logits).mean()
