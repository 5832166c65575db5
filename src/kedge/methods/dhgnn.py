"""Dynamic hypergraph neural networks (DHGNN; Jiang, Wei, Feng, Cao, Gao; IJCAI 2019) trained on edges, then phase 2.

The first layer is a mean over an account and its neighbours, X = D^-1 (A + I) ReLU(X^0). The second draws hyperedges of
k accounts from X: for each account its k nearest by cosine, k of the cluster (k-means) whose centre is nearest, and k
of its neighbours and itself. The accounts x_1 .. x_k of a hyperedge are mixed and become one vector (vertex
convolution), and the hyperedges of an account are weighed (hyperedge convolution):

    T = rows softmax(P_i x_i + p_i),    h = Σ_i w_i (T x)_i + w_0        T: [k, k]
    z = (Σ_e softmax_e(V_2 ReLU(V_1 h_e + v_1) + v_2) h_e) Θ + b

with P, w of their own for each of the three kinds. Hyperedges are drawn anew from the current X while it is trained.

Deviations: no labels, so trained on edges (the KDD paper's Eq. 10) and no activation at the end; X^0 is free, the
weights of one-hot accounts; k = 10 (the authors: 64, and 128 neighbours); n/8 clusters, 400 at most (the authors:
400); drawn anew every twenty steps, where the authors' code has k-means once and the nearest at each step; all three
kinds from the first step. Cost: 3 n k² d per step, and every twenty steps n² d for the nearest: more than
√`baselines.dense_cells` accounts are refused.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array
from torch import Tensor, nn

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, nearest, normalise, pattern, unit_rows
from kedge.linalg.spmm import Sparse, spmm
from kedge.methods.shared.edge_training import draw_first, draw_glorot, train_on_edges
from kedge.methods.shared.embedded import align_embedded
from kedge.mgcn.row_ops import drop
from kedge.types import FloatArray, IntArray, KedgeError, Network, Problem

_MEMBERS = 10  # k; unmeasured
_RENEWED = 20  # steps between two draws; unmeasured
_CLUSTERS = 400  # at most, the authors'
_PER_CLUSTER = 8  # accounts; unmeasured
_ROUNDS = 10  # of k-means; unmeasured
_DROPPED = 0.5  # the authors'


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""
    for network in (problem.left, problem.right):
        refuse_too_many(network.n, config.baselines.dense_cells)

    def layers(source: Source, generator: torch.Generator) -> nn.Module:
        return Dhgnn(source.network, config.baselines.dimensions, generator)

    def convolve(source: Source) -> FloatArray:
        return train_on_edges("dhgnn", source, config, layers)

    return align_embedded("dhgnn", problem, config, context, convolve)


def refuse_too_many(n: int, limit: int) -> None:
    """Refuse a network whose accounts would be compared too often, before anything is computed."""
    if n * n > limit:
        raise KedgeError(
            f"dhgnn compares every two accounts of a network: {n:,} accounts are {n * n:,} cells, above {limit:,}",
            remedy="use hgnn, hypergcn or another sparse method, or raise baselines.dense_cells",
        )


class Dhgnn(nn.Module):
    """Z of the mean over neighbours and one dynamic layer."""

    def __init__(self, network: Network, d: int, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator
        self.rng = np.random.default_rng(int(torch.randint(2**31, (1,), generator=generator)))
        self.near = csr_array((pattern(network.adjacency, np.float32) + diags_array(np.ones(network.n))).tocsr())
        self.mean = Sparse.of(normalise(self.near, 1.0))
        self.k = min(_MEMBERS, network.n)
        self.first = draw_first(network.n, d, generator)
        self.mixing = nn.ModuleList(VertexConvolution(self.k, d, generator) for _ in range(3))
        self.weighing = EdgeConvolution(d, generator)
        self.last = draw_glorot(d, d, generator)
        self.bias = nn.Parameter(torch.zeros(d))
        self.members: list[Tensor] = []
        self.calls = 0

    def forward(self) -> Tensor:
        """Z [n, d]; in training with dropout, and with hyperedges that are up to twenty steps old."""
        X = spmm(self.mean, torch.relu(self.first))
        if not self.training or self.calls % _RENEWED == 0:
            self.members = [torch.from_numpy(m) for m in self._draw(X.detach().numpy())]
        self.calls += 1
        H = torch.stack([mix(X, m) for mix, m in zip(self.mixing, self.members, strict=True)], dim=1)
        X = self.weighing(H)
        if self.training:
            X = drop(X, _DROPPED, self.generator)
        return X @ self.last + self.bias

    def _draw(self, X: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
        """The accounts of each account's three hyperedges, int64 [n, k] each."""
        unit = unit_rows(X)
        own = cluster(X, max(1, min(_CLUSTERS, len(X) // _PER_CLUSTER)), self.rng)
        order = np.argsort(own, kind="stable")
        ends = np.searchsorted(own[order], np.arange(own.max() + 2))
        return (
            nearest(unit, unit, self.k).places,
            order[sample(ends[own], ends[own + 1], self.k, self.rng)],
            self.near.indices[sample(self.near.indptr[:-1], self.near.indptr[1:], self.k, self.rng)].astype(np.int64),
        )


def sample(begin: IntArray, end: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    """k whole numbers from each range [begin, end), with repetition, int64 [n, k]."""
    share = rng.random((len(begin), k))
    return begin[:, None] + (share * (end - begin)[:, None]).astype(np.int64)


def cluster(X: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """The cluster of each row by k-means, numbered from 0: Lloyd's rounds from drawn rows."""
    C = X[rng.choice(len(X), count, replace=False)]
    for _ in range(_ROUNDS):
        own = np.argmax(X @ C.T - (C**2).sum(axis=1) / 2, axis=1)
        members = csr_array((np.ones(len(X), X.dtype), (own, np.arange(len(X)))), shape=(count, len(X)))
        sizes = np.bincount(own, minlength=count)
        C = np.where(sizes[:, None] > 0, (members @ X) / np.maximum(sizes, 1)[:, None], C).astype(X.dtype)
    return np.asarray(np.argmax(X @ C.T - (C**2).sum(axis=1) / 2, axis=1))


class VertexConvolution(nn.Module):
    """h [n, d] of hyperedges of k accounts."""

    def __init__(self, k: int, d: int, generator: torch.Generator) -> None:
        super().__init__()
        self.P = nn.Parameter(torch.stack([draw_glorot(d, k, generator).detach() for _ in range(k)]))
        self.p = nn.Parameter(torch.zeros(k, k))
        self.w = nn.Parameter(torch.full((k,), 1 / k))
        self.w_0 = nn.Parameter(torch.tensor(0.0))

    def forward(self, X: Tensor, members: Tensor) -> Tensor:
        """Of the accounts `members` [n, k] of X; Σ_i w_i (T x)_i is computed as (wᵀ T) x."""
        x = X.index_select(0, members.reshape(-1)).view(*members.shape, -1)  # its gradient is quicker than X[members]'s
        T = torch.softmax(torch.einsum("nkd,kdj->nkj", x, self.P) + self.p, dim=2)
        return torch.einsum("nj,njd->nd", torch.einsum("i,nij->nj", self.w, T), x) + self.w_0


class EdgeConvolution(nn.Module):
    """The hyperedges of an account, weighed by attention."""

    def __init__(self, d: int, generator: torch.Generator) -> None:
        super().__init__()
        hidden = max(1, d // 4)
        self.V_1, self.v_1 = draw_glorot(d, hidden, generator), nn.Parameter(torch.zeros(hidden))
        self.V_2, self.v_2 = draw_glorot(hidden, 1, generator), nn.Parameter(torch.zeros(1))

    def forward(self, H: Tensor) -> Tensor:
        """[n, d] of H [n, hyperedges, d]."""
        scores = torch.relu(H @ self.V_1 + self.v_1) @ self.V_2 + self.v_2
        return (torch.softmax(scores, dim=1) * H).sum(dim=1)
