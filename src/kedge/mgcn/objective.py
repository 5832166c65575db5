"""The embedding objective (Eq. 10): pooled, at the cost of one product; and term by term, as printed.

Eq. 10 is maximised in the paper; here its negative, divided by the number of edges, is a loss to be minimised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numba
import numpy as np
import torch
from scipy.sparse import coo_array, csr_array
from torch import Tensor
from torch.nn.functional import softplus

from kedge.config import MgcnConfig
from kedge.linalg import pattern
from kedge.linalg.spmm import Rows, multiply
from kedge.mgcn.device import edge_term, noise_term
from kedge.mgcn.edge_dropout import weigh_entries
from kedge.mgcn.holdout import list_edges
from kedge.types import FloatArray, IntArray, Network, narrow

_BLOCK_CELLS = 1 << 17  # logits are made in blocks of 512 KB, which stay in the cache between their uses
_REORDERED = {"reassoc", "nsz", "contract", "arcp"}  # sums may be vectorised; NaN and infinity stay what they are
_FACTORS = 64
_ONE, _ZERO = np.float32(1), np.float32(0)


@dataclass(frozen=True)
class Edges:
    """The edges of a network as the objective needs them: each once for its logit, each twice for its gradient.

    `first` and `second` [m] are the ends i < j of each; `both` is the symmetric pattern of ones, whose entry t is
    the edge `number[t]`; `share` is d_v / 2|E|, the share of all edge ends at each account.
    """

    first: IntArray | Tensor  # tensors on another device than the CPU
    second: IntArray | Tensor
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
            first=narrow(pairs[:, 0]),
            second=narrow(pairs[:, 1]),
            both=Rows.of(pattern(both)),
            number=narrow(both.data - 1),
            share=torch.from_numpy((network.degrees / max(1, 2 * len(pairs))).astype(np.float32)),
        )

    @property
    def count(self) -> int:
        """|E|."""
        return len(self.first)


@numba.njit(cache=True, nogil=True, fastmath=_REORDERED)  # type: ignore[untyped-decorator]
def _dot_edges(X: FloatArray, first: IntArray, second: IntArray, weights: FloatArray, out: FloatArray) -> None:
    """out_e = x_i · x_j of edges e = (i, j) of weight above 0; 0 for the others."""
    for edge in range(len(first)):
        out[edge] = 0
        if weights[edge] != 0:
            x, y = X[first[edge]], X[second[edge]]
            product = _ZERO
            for k in range(X.shape[1]):
                product += x[k] * y[k]
            out[edge] = product


@numba.njit(cache=True, nogil=True, fastmath=_REORDERED, error_model="numpy")  # type: ignore[untyped-decorator]
def softplus_noise(logits: FloatArray, decayed: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Σ w_v softplus(logit_vk), and the sum of its slopes w_v σ(logit_vk), which take the place of the logits.

    `decayed` is exp(-|logit|), both [rows, q]. softplus(x) = max(x, 0) + log(1 + exp(-|x|)): the argument of the
    logarithm is between 1 and 2, so 64 of them are multiplied before one logarithm is taken, which loses nothing.
    """
    loss, total = 0.0, 0.0
    for v in range(len(logits)):
        weight, row, low = weights[v], logits[v], decayed[v]
        positive, slopes = _ZERO, _ZERO
        for k in range(len(row)):
            x, t = row[k], low[k]
            positive += x if x > 0 else _ZERO
            slope = (_ONE if x >= 0 else t) / (_ONE + t)
            slopes += slope
            row[k] = slope * weight
        logarithms = 0.0
        for begin in range(0, len(row), _FACTORS):
            product = _ONE
            for t in low[begin : begin + _FACTORS]:
                product *= _ONE + t
            logarithms += math.log(product)
        loss += weight * (positive + logarithms)
        total += weight * slopes
    return loss, total


class Sample(NamedTuple):
    """The terms of Eq. 10 in one step: noise accounts int64 [q], the weight of their mean where the mean over edges
    has 1, and the edges, [|E|] of 0 and 1; None: all of them."""

    pool: Tensor
    weight: float = 1.0
    chosen: Tensor | None = None


def noise_distribution(network: Network) -> Tensor:
    """P(v) ∝ d_v^0.75, float64 [n], the noise distribution of Eq. 10."""
    return torch.from_numpy(network.degrees.astype(np.float64) ** 0.75)


def noise_weight(settings: MgcnConfig) -> float:
    """The weight of the mean over noise, where the mean over edges has 1: 2 M as printed, or 1 (`mean`)."""
    return 2.0 * settings.negatives if settings.weighing == "paper" else 1.0


def trivial_loss(weight: float = 1.0, bias: bool = False) -> float:
    """The loss of equal vectors for noise of this weight: every logit 0, or with a free bias the best constant.

    As printed it is (1 + 2M) ln 2, 7.62 for M = 5, where a collapsed fit stays.
    """
    if not bias:
        return (1 + weight) * math.log(2)
    return math.log1p(weight) + weight * math.log1p(1 / weight)


def _lose_edges(X: Tensor, bias: Tensor, edges: Edges, chosen: Tensor | None) -> tuple[Tensor, Tensor]:
    """The loss of edges, and its slope at each edge's logit [m]."""
    weights = torch.full((edges.count,), 1 / edges.count) if chosen is None else chosen / chosen.sum().clamp(min=1.0)
    logits = torch.empty_like(weights)
    _dot_edges(X.numpy(), edges.first, edges.second, weights.numpy(), logits.numpy())
    logits += bias
    return softplus(-logits).mul_(weights).sum(), torch.sigmoid(-logits).mul_(weights).neg_()


def _add_slopes(X: Tensor, edges: Edges, slopes: Tensor) -> Tensor:
    """Σ over edges e = (v, u) of slope_e x_u, a row for each account v; edges without a slope cost nothing."""
    return multiply(weigh_entries(edges.both, edges.number, slopes.numpy()), X)


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
    """Edges and noise at once. The gradient is made with the loss, while logits are in the cache."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, bias: Tensor, edges: Edges, sample: Sample) -> Tensor:
        X = X.contiguous()
        shares = edges.share * (sample.weight / len(sample.pool))
        lost, into_X, into_bias = _lose_noise(X, bias, sample.pool, shares)
        loss, slopes = _lose_edges(X, bias, edges, sample.chosen)
        into_X += _add_slopes(X, edges, slopes)
        ctx.save_for_backward(into_X, slopes.sum() + into_bias)
        return loss + lost

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        into_X, into_bias = ctx.saved_tensors
        (gradient,) = gradients
        return into_X if gradient == 1 else into_X * gradient, into_bias * gradient, None, None


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
        lost, slopes = softplus_noise(logits.numpy(), decayed.numpy(), weight.numpy())
        loss, into_bias = loss + lost, into_bias + slopes
        torch.mm(logits, noise, out=into_block)
        into_noise.addmm_(logits.T, block)
    return loss, into_X.index_add_(0, pool, into_noise), into_bias


def pooled_loss(X: Tensor, bias: Tensor, edges: Edges, sample: Sample) -> Tensor:
    """-O_embedding / |E| (Eq. 10) with all expectations taken over one pool of noise accounts.

    Σ over edges of M expectations at both ends = M Σ_v d_v E_k[log σ(-x_v · x_k)], so one n × q product serves every
    edge: unbiased for the same objective. A weight of 1 weighs edges and noise equally instead of 1 : 2M.
    """
    if isinstance(edges.first, Tensor):  # on another device: see kedge.mgcn.device
        weights = edges.share * (sample.weight / len(sample.pool))
        noise = noise_term(X, bias, sample.pool, weights)
        return edge_term(X, bias, edges.first, cast(Tensor, edges.second), sample.chosen) + noise
    return cast(Tensor, _PooledLoss.apply(X, bias, edges, sample))  # type: ignore[no-untyped-call]


def sampled_loss(X: Tensor, bias: Tensor, pairs: Tensor, noise: Tensor, weight: float = 1.0) -> Tensor:
    """-O_embedding / |E| (Eq. 10) as printed: `noise` int64 [|E|, 2, M] are M accounts for each end of each edge."""
    ends = X[pairs]
    positive = softplus(-((ends[:, 0] * ends[:, 1]).sum(-1) + bias)).mean()
    logits = torch.einsum("ead,eamd->eam", ends, X[noise]) + bias
    return positive + weight * softplus(logits).mean()
