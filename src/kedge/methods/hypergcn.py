"""HyperGCN (Yadati, Nimishakavi, Yadav, Nitin, Louis, Talukdar; NeurIPS 2019) trained on edges, then phase 2.

A hyperedge e becomes a few edges: between its two accounts that are farthest apart in the signal S = X Θ of the layer,

    (i, j) = argmax over pairs of e of |s_i - s_j|

and, as mediators, between these two and each other account of e: 2 |e| - 3 edges of weight 1/(2 |e| - 3) each. A is
their sum over all hyperedges, and a layer is a graph convolution over it:

    Ā = D^-1/2 (A + I) D^-1/2,    Z = Ā_2 ReLU(Ā_1 X Θ_1 + b_1) Θ_2 + b_2

Each layer makes its own A from its own signal, anew while it is trained.

Deviations: no labels, so no softmax, and trained on edges (the KDD paper's Eq. 10); X is one-hot, so X Θ_1 are free
vectors; the hypergraph is the user's own or that of `config.hypergraph`, memberships not weighed; A is made anew every
ten steps, where the paper has each; the farthest pair is exact up to 64 accounts, as the paper has it (the authors'
code takes the ends of a random projection), and beyond that the account farthest from the mean and the one farthest
from it; ties take the first. Dropout of 1/2 before Θ_2 is the authors'. Cost: 4 |H| d per step, and every ten steps
|e|² d for each hyperedge; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import njit
from scipy.sparse import csr_array, diags_array
from torch import Tensor, nn

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, normalise
from kedge.linalg.spmm import Sparse, spmm
from kedge.methods.shared.edge_training import draw_first, draw_glorot, train_on_edges
from kedge.methods.shared.embedded import align_on_hyperedges
from kedge.mgcn.row_ops import drop
from kedge.types import FloatArray, Hypergraph, Problem

_RENEWED = 10  # steps between two approximations; unmeasured
_EXACT = 64  # accounts of a hyperedge up to which all pairs are compared; unmeasured
_DROPPED = 0.5  # the authors'


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""

    def convolve(source: Source, drawn: Hypergraph) -> FloatArray:
        members = csr_array(drawn.H.T.tocsr())

        def layers(_: Source, generator: torch.Generator) -> nn.Module:
            return HyperGcn(members, config.baselines.dimensions, generator)

        return train_on_edges("hypergcn", source, config, layers)

    return align_on_hyperedges("hypergcn", problem, config, context, convolve)


class HyperGcn(nn.Module):
    """Z of two layers; `members` [m, n] has a row for each hyperedge."""

    def __init__(self, members: csr_array, d: int, generator: torch.Generator) -> None:
        super().__init__()
        self.members, self.generator = members, generator
        self.first = draw_first(members.shape[1], d, generator)
        self.second = draw_glorot(d, d, generator)
        self.biases = nn.ParameterList(torch.zeros(d) for _ in range(2))
        self.graphs: dict[int, Sparse] = {}
        self.calls = 0

    def forward(self) -> Tensor:
        """Z [n, d]; in training with dropout, and with graphs that are up to ten steps old."""
        if not self.training or self.calls % _RENEWED == 0:
            self.graphs = {}
        self.calls += 1
        X = torch.relu(self._convolve(0, self.first))
        if self.training:
            X = drop(X, _DROPPED, self.generator)
        return self._convolve(1, X @ self.second)

    def _convolve(self, layer: int, S: Tensor) -> Tensor:
        if layer not in self.graphs:
            self.graphs[layer] = Sparse.of(approximate(self.members, S.detach().numpy()), symmetric=True)
        bias: Tensor = self.biases[layer]
        return spmm(self.graphs[layer], S) + bias


def approximate(members: csr_array, S: FloatArray) -> csr_array:
    """Ā [n, n] of the hyperedges `members` [m, n] for the signal S [n, d]."""
    n, sizes = members.shape[1], np.diff(members.indptr)
    ends = farthest(members.indptr, members.indices, np.ascontiguousarray(S, np.float32), _EXACT)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    mediates = (members.indices[:, None] != ends[owner]).all(axis=1) & (sizes[owner] > 1)
    mediators, owner = members.indices[mediates], owner[mediates]
    pairs = np.flatnonzero(sizes > 1)
    rows = np.concatenate([ends[pairs, 0], ends[owner, 0], ends[owner, 1]])
    columns = np.concatenate([ends[pairs, 1], mediators, mediators])
    weights = 1 / (2 * sizes[np.concatenate([pairs, owner, owner])] - 3)
    A = csr_array((weights, (rows, columns)), shape=(n, n))
    return normalise(csr_array(A + A.T + diags_array(np.ones(n))), 0.5, 0.5)


@njit(cache=True, fastmath=True)
def _apart(x, y):  # type: ignore[no-untyped-def]
    """|x - y|²."""
    total = np.float32(0)
    for f in range(len(x)):
        total += (x[f] - y[f]) * (x[f] - y[f])
    return total


@njit(cache=True)
def farthest(indptr, members, S, exact):  # type: ignore[no-untyped-def]
    """The two accounts of each hyperedge that are farthest apart, int64 [m, 2]; -1 where it has fewer than two."""
    ends = np.full((len(indptr) - 1, 2), -1, np.int64)
    middle = np.zeros(S.shape[1], np.float32)
    for e in range(len(indptr) - 1):
        accounts = members[indptr[e] : indptr[e + 1]]
        size = len(accounts)
        if size < 2:
            continue
        most = np.float32(-1)
        if size <= exact:
            for a in range(size):
                for b in range(a + 1, size):
                    apart = _apart(S[accounts[a]], S[accounts[b]])
                    if apart > most:
                        most, ends[e, 0], ends[e, 1] = apart, accounts[a], accounts[b]
            continue
        middle[:] = 0
        for account in accounts:
            middle += S[account] / np.float32(size)
        for account in accounts:
            apart = _apart(S[account], middle)
            if apart > most:
                most, ends[e, 0] = apart, account
        most = np.float32(-1)
        for account in accounts:
            if account != ends[e, 0]:
                apart = _apart(S[account], S[ends[e, 0]])
                if apart > most:
                    most, ends[e, 1] = apart, account
    return ends
