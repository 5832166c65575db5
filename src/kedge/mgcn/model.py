"""MGCN: K convolutions within hyperedges, then K over the hypergraph (section 2.3 and 2.4), as one torch module."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array
from torch import Tensor, nn

from kedge.config import MgcnConfig
from kedge.linalg.spmm import Propagation, Sparse, propagate
from kedge.mgcn.device import place
from kedge.mgcn.edge_dropout import Marks, mark, mark_memberships
from kedge.mgcn.fusion import Block, Chunk, blocks, chunks, fuse_basis, fuse_concat, fuse_linear, fuse_sum
from kedge.mgcn.layers import bounded, convolve_hypergraph, factor_theta, normalise_adjacency, overlay
from kedge.mgcn.row_ops import drop, unit_rows
from kedge.types import Hypergraph, KedgeError, Network

# The gates (a, b) to start from, simple and hypergraph: half and an eighth of a level's output is passed on at first.
_GATES = ((0.0, 0.0), (-2.0, 0.0))  # docs/decisions/0016
_MAX_CONCAT = 1000  # beyond this many hyperedges a d × d block each is a mistake, not a model


@dataclass(frozen=True)
class Operators:
    """What stays constant while one part is trained: the sparse operators of both levels.

    `standing` [n, 1] is log d_v less its mean: a learned gate differs between accounts by it.
    """

    n: int
    hyperedges: int
    local: Sparse | tuple[Chunk, ...] | tuple[Block, ...]
    G: Sparse
    standing: Tensor
    local_marks: Marks | None = None
    G_marks: Marks | None = None


def prepare(network: Network, hypergraph: Hypergraph, config: MgcnConfig) -> Operators:
    """Â, A_e (Eq. 3) in the form that the fusion needs, and Θ's factor (Eq. 9)."""
    if hypergraph.n != network.n:
        raise KedgeError(
            f"the hypergraph has {hypergraph.n:,} accounts, the network {network.n:,}",
            remedy="give one row of H for each account",
        )
    A_hat = normalise_adjacency(network)
    H = hypergraph
    if config.share:
        # Dividing row v by (Σ_e p(v,e)²)^1/2 gives every account the same mass over its hyperedges, however many.
        lengths = np.sqrt(np.asarray(H.H.multiply(H.H).sum(axis=1)).ravel())
        scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        H = Hypergraph(csr_array((diags_array(scale) @ H.H).tocsr()).astype(np.float32).minimum(1.0))
    local: Sparse | tuple[Chunk, ...] | tuple[Block, ...]
    if config.levels in ("none", "hypergraph"):
        local = ()
    elif config.fusion == "linear" and config.reweigh:
        weighed = overlay(network.adjacency.astype(np.float64), csr_array(hypergraph.H))
        local = Sparse.of(normalise_adjacency(Network(weighed.astype(np.float32), network.ids)), symmetric=True)
    elif config.fusion == "linear":
        local = Sparse.of(overlay(A_hat, csr_array(H.H)), symmetric=True)
    elif config.fusion == "concat":
        if hypergraph.hyperedges > _MAX_CONCAT:
            raise KedgeError(
                f"fusion 'concat' has a d × d block for each of {hypergraph.hyperedges:,} hyperedges",
                remedy=f"at most {_MAX_CONCAT:,}: use mgcn.fusion = basis, sum or linear",
            )
        local = blocks(A_hat, H)
    else:
        local = chunks(A_hat, H)
    G = factor_theta(hypergraph, config.theta)
    if config.theta == "paper":
        G = bounded(G)
    degrees = np.log(np.maximum(network.degrees, 1))
    standing = torch.from_numpy((degrees - degrees.mean()).astype(np.float32)[:, None])
    if not config.drop_edges:
        return Operators(network.n, hypergraph.hyperedges, local, G, standing)
    local_marks = mark(network, local) if isinstance(local, Sparse) else None
    G_marks = mark_memberships(network, hypergraph, G)
    return Operators(network.n, hypergraph.hyperedges, local, G, standing, local_marks, G_marks)


class Mgcn(nn.Module):
    """X^K of Eq. 9 from X^0, with the deviations that `config` names.

    `skip` adds each layer's input to its output. `gate` mixes the output of a level with its input: learned, by
    g_v = σ(a + b (log d_v - mean log d)) with one a and b per level; fixed, by 1 for the simple level and `blend` for
    the other. `transform = False` leaves out W, and F where there is only one (they are I); `unit` makes the rows of
    X^K unit vectors times a learned length, with a learned bias in the logit.
    """

    def __init__(self, operators: Operators, config: MgcnConfig, start: Tensor, generator: torch.Generator) -> None:
        super().__init__()
        self.operators, self.config = operators, config
        self.enter: nn.Parameter | None = None
        self.X0: Tensor
        if config.start == "given":  # features are data: a learned matrix brings them to d dimensions
            self.register_buffer("X0", start)
            self.enter = nn.Parameter(_draw((start.shape[1], config.dimensions), generator))
        else:
            self.X0 = nn.Parameter(start)
        self.W, self.F, self.a, self.W_h = (nn.ParameterList() for _ in range(4))
        for _ in range(config.layers):
            if config.levels in ("both", "simple"):
                self._add_simple(generator)
            if config.levels in ("both", "hypergraph") and config.transform:
                self.W_h.append(_draw_square(config, generator))
        learned = config.gate == "learned" and config.levels != "none"
        self.gates = nn.Parameter(torch.tensor(_GATES), requires_grad=learned)
        self.log_length = nn.Parameter(torch.tensor(math.log(config.length)), requires_grad=config.unit)
        self.bias = nn.Parameter(torch.tensor(0.0), requires_grad=config.unit)

    def _add_simple(self, generator: torch.Generator) -> None:
        config, m = self.config, self.operators.hyperedges
        if config.transform:
            self.W.append(_draw_square(config, generator))
        if config.fusion == "concat":
            self.F.append(torch.stack([_draw_square(config, generator) for _ in range(m)]))
        elif config.fusion == "basis":
            self.F.append(torch.stack([_draw_square(config, generator) for _ in range(config.bases)]))
            self.a.append(torch.full((m, config.bases), 1.0 / config.bases))
        elif config.transform:
            self.F.append(_draw_square(config, generator))

    def _convolve_simple(self, k: int, X: Tensor, operator: Any) -> Tensor:
        """Eq. 1-4, one layer."""
        config, local = self.config, cast(Any, operator)
        W = self.W[k] if config.transform else None
        if config.fusion == "concat":
            return fuse_concat(local, X, W, self.F[k], config.activation)
        if config.fusion == "basis":
            return fuse_basis(local, X, W, self.a[k], self.F[k], config.activation)
        F = self.F[k] if config.transform else None
        fuse = fuse_sum if config.fusion == "sum" else fuse_linear
        return fuse(local, X, W, F, config.activation)

    def _operators(self, kept: Tensor | None) -> tuple[Any, Sparse]:
        """The operators of both levels, without dropped edges."""
        whole = self.operators
        if kept is None:
            return whole.local, whole.G
        local, G = whole.local, whole.G
        if whole.local_marks is not None:
            local = whole.local_marks.drop(cast(Sparse, local), kept, 1 / (1 - self.config.drop_edges))
        if whole.G_marks is not None:
            G = whole.G_marks.drop(G, kept, 1.0)
        return local, G

    def open(self, level: int) -> Tensor:
        """The share of a level's output that is passed on at each account, [n, 1], where that is learned."""
        a, b = self.gates[level]
        return torch.sigmoid(a + b * self.operators.standing)

    def _pass(self, level: int, X: Tensor, Y: Tensor) -> Tensor:
        """The input X and output Y of a level, mixed; 0 is the simple level, 1 the hypergraph's."""
        config = self.config
        Y = X + Y if config.skip else Y
        if config.gate == "learned":
            return torch.lerp(X, Y, self.open(level))
        return Y if level == 0 else torch.lerp(X, Y, config.blend)

    def _step(self, level: int, *factors: Sparse) -> Propagation:
        """`_pass` for a level whose output is a product of sparse matrices and its input."""
        config = self.config
        if config.gate == "learned":
            return Propagation(factors, float(config.skip), gate=self.open(level))
        part = 1.0 if level == 0 else config.blend
        return Propagation(factors, 1 - part + part * config.skip, part)

    def forward(self, generator: torch.Generator | None = None, kept: Tensor | None = None) -> Tensor:
        """X^K [n, d]; with a generator, entries and hyperedges are dropped at random as in training.

        `kept` [|E| + 1] drops edges from both levels (see `edge_dropout`).
        """
        config = self.config
        local, G = self._operators(kept)
        X = self.X0 if self.enter is None else self.X0 @ self.enter
        if generator is not None:
            X = drop(X, config.dropout, generator)
        linear = config.activation == "none" and not config.transform
        steps: list[Propagation] = []  # propagations that follow one another are done together
        if config.levels in ("both", "simple"):
            if linear and config.fusion == "linear":
                steps += [self._step(0, local)] * config.layers
            else:
                for k in range(config.layers):
                    X = self._pass(0, X, self._convolve_simple(k, X, local))
        if config.levels in ("both", "hypergraph"):
            weights = self._weigh_hyperedges(generator)
            if linear and weights is None:
                steps += [self._step(1, G, G.transposed)] * config.layers
            else:
                X, steps = propagate(steps, X), []
                for k in range(config.layers):
                    W = self.W_h[k] if config.transform else None
                    X = self._pass(1, X, convolve_hypergraph(G, X, W, config.activation, weights))
        X = propagate(steps, X)
        if generator is not None:
            X = drop(X, config.drop_output, generator)
        return unit_rows(X, self.log_length) if config.unit else X

    def _weigh_hyperedges(self, generator: torch.Generator | None) -> Tensor | None:
        """Hyperedges dropped at random, [m, 1]; None: none are."""
        if generator is None or self.config.drop_hyperedges == 0:
            return None
        ones = torch.ones(self.operators.hyperedges, 1, device=self.gates.device)
        return drop(ones, self.config.drop_hyperedges, generator)

    def moved(self, device: torch.device) -> Mgcn:
        """The model with its parameters and operators on another device."""
        self.operators = place(self.operators, device)
        return self.to(device)


def _draw(shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    """Glorot's uniform draw."""
    bound = math.sqrt(6 / sum(shape))
    return (torch.rand(shape, generator=generator) * 2 - 1) * bound


def _draw_square(config: MgcnConfig, generator: torch.Generator) -> Tensor:
    """A d × d matrix to start from: Glorot's draw, or I and a tenth of it, which starts as plain propagation."""
    d = config.dimensions
    drawn = _draw((d, d), generator)
    return torch.eye(d) + 0.1 * drawn if config.identity else drawn
