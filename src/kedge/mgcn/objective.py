"""The embedding objective (Eq. 10): pooled, at the cost of one product; and term by term, as printed.

Eq. 10 is maximised in the paper; here its negative, divided by the number of edges, is a loss to be minimised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from scipy.sparse import coo_array, csr_array
from torch import Tensor
from torch.nn.functional import softplus

from kedge.mgcn.holdout import list_edges
from kedge.mgcn.logistic import dot_edges, lose_noise
from kedge.mgcn.sifting import sift_rows
from kedge.spmm import Rows, multiply
from kedge.types import IntArray, Network

__all__ = ["Edges", "Weighing", "edge_loss", "noise_weights", "pooled_loss", "sampled_loss", "trivial_loss"]

Weighing = Literal["paper", "mean"]

_BLOCK_CELLS = 1 << 17  # logits are made in blocks of 512 KB, which stay in the cache between their uses


@dataclass(frozen=True)
class Edges:
    """The edges of a network as the objective needs them: each once for its logit, each twice for its gradient.

    `first` and `second` [m] are the ends i < j of each; `both` is the symmetric pattern of ones, whose entry t stands
    for the edge `number[t]`; `share` is d_v / 2|E|, the share of all edge ends at each account.
    """

    first: IntArray
    second: IntArray
    both: Rows
    number: IntArray
    share: Tensor

    @classmethod
    def of(cls, network: Network) -> Edges:
        """The edges of a network; weights do not count."""
        pairs = list_edges(network)
        numbers = coo_array((np.arange(1, len(pairs) + 1), (pairs[:, 0], pairs[:, 1])), shape=network.adjacency.shape)
        both = csr_array((numbers + numbers.T).tocsr())
        both.sort_indices()
        return cls(
            first=pairs[:, 0].astype(np.int32),
            second=pairs[:, 1].astype(np.int32),
            both=Rows.of(csr_array((np.ones(both.nnz), both.indices, both.indptr), shape=both.shape)),
            number=(both.data - 1).astype(np.int32),
            share=torch.from_numpy((network.degrees / max(1, 2 * len(pairs))).astype(np.float32)),
        )

    @property
    def count(self) -> int:
        """|E|."""
        return len(self.first)


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


def _lose_edges(X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None) -> tuple[Tensor, Tensor]:
    """The loss of edges, and its slope at each edge's logit [m]."""
    weights = torch.full((edges.count,), 1 / edges.count) if chosen is None else chosen / chosen.sum().clamp(min=1.0)
    logits = torch.empty_like(weights)
    dot_edges(X.numpy(), edges.first, edges.second, weights.numpy(), logits.numpy())
    logits += bias
    return softplus(-logits).mul_(weights).sum(), torch.sigmoid(-logits).mul_(weights).neg_()


def _add_slopes(X: Tensor, edges: Edges, slopes: Tensor) -> Tensor:
    """Σ over edges e = (v, u) of slope_e x_u, a row for each account v; edges without a slope cost nothing."""
    return multiply(sift_rows(edges.both, edges.number, slopes.numpy()), X)


class _EdgeLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None) -> Tensor:
        X = X.contiguous()
        loss, slopes = _lose_edges(X, bias, edges, chosen)
        ctx.save_for_backward(X, slopes)
        ctx.edges = edges
        return loss

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        X, slopes = ctx.saved_tensors
        slopes = slopes * gradients[0]
        return _add_slopes(X, ctx.edges, slopes), slopes.sum(), None, None


def edge_loss(X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None = None) -> Tensor:
    """- mean over edges (i, j) of log σ(x_i · x_j + b): the first sum of Eq. 10; `chosen` [|E|] of 0/1 picks some."""
    return cast(Tensor, _EdgeLoss.apply(X, bias, edges, chosen))  # type: ignore[no-untyped-call]


class _PooledLoss(torch.autograd.Function):
    """Edges and noise at once. The gradient is made with the loss, while logits are in the cache and never kept."""

    @staticmethod
    def forward(
        ctx: Any, X: Tensor, bias: Tensor, edges: Edges, pool: Tensor, weight: float, chosen: Tensor | None
    ) -> Tensor:
        X = X.contiguous()
        noise, into_X, into_bias = _lose_noise(X, bias, pool, edges.share * (weight / len(pool)))
        loss, slopes = _lose_edges(X, bias, edges, chosen)
        into_X += _add_slopes(X, edges, slopes)
        ctx.save_for_backward(into_X, slopes.sum() + into_bias)
        return loss + noise

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None, None, None]:
        into_X, into_bias = ctx.saved_tensors
        (gradient,) = gradients
        return into_X if gradient == 1 else into_X * gradient, into_bias * gradient, None, None, None, None


def _lose_noise(X: Tensor, bias: Tensor, pool: Tensor, weights: Tensor) -> tuple[float, Tensor, float]:
    """Σ_v w_v Σ_k softplus(x_v · x_k + b), k over the pool, and its gradients for X and b."""
    noise = X[pool]
    into_X, into_noise = torch.empty_like(X), torch.zeros_like(noise)
    loss = into_bias = 0.0
    rows = max(1, _BLOCK_CELLS // max(1, len(pool)))
    for block, weight, into_block in zip(
        torch.split(X, rows), torch.split(weights, rows), torch.split(into_X, rows), strict=True
    ):
        logits = torch.addmm(bias, block, noise.T)
        decayed = logits.abs().neg_().exp_()
        lost, slopes = lose_noise(logits.numpy(), decayed.numpy(), weight.numpy())
        loss, into_bias = loss + lost, into_bias + slopes
        torch.mm(logits, noise, out=into_block)
        into_noise.addmm_(logits.T, block)
    return loss, into_X.index_add_(0, pool, into_noise), into_bias


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
    weight = _negative_weight(weighing, negatives)
    return cast(Tensor, _PooledLoss.apply(X, bias, edges, pool, weight, chosen))  # type: ignore[no-untyped-call]


def sampled_loss(
    X: Tensor, bias: Tensor, pairs: Tensor, noise: Tensor, weighing: Weighing = "mean", negatives: int = 5
) -> Tensor:
    """-O_embedding / |E| (Eq. 10) as printed: `noise` int64 [|E|, 2, M] are M accounts for each end of each edge."""
    ends = X[pairs]
    positive = softplus(-((ends[:, 0] * ends[:, 1]).sum(-1) + bias)).mean()
    logits = torch.einsum("ead,eamd->eam", ends, X[noise]) + bias
    return positive + _negative_weight(weighing, negatives) * softplus(logits).mean()
