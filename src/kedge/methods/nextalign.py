"""NeXtAlign (Zhang, Tong, Jin, Xia, Guo; KDD 2021): near neighbours consistent, other accounts apart, in balance.

Anchors merge both networks into one. With A_1 and A_2 the edges of each network, E the anchors as unit vectors [n, m]
and R random walks with restart from the anchors (for an anchor: E):

    H = unit(√½ (A_1 W_1 + A_2 W_2 + W_0) + b),    P = unit(√½ (A_1 + A_2 + I) E),    X = unit((P ∘ w + R) C + c)

where unit has absolute sum 1 and w = softmax over the anchors a of (t · H_a) is attention. The halves x', x'' of a
vector are its parts for the two networks. A pair's score is a learnt combination of four distances,

    s(u, v) = β - w_1 |x'_u - x'_v| - w_2 |x'_u - x''_v| - w_3 |x''_u - x'_v| - w_4 |x''_u - x''_v|

(absolute sums; between two accounts of the right network in the opposite order). Cross-entropy of two kinds of pairs:
an anchor with an account up to two steps of a walk away, against accounts of its own network that are drawn by
σ(-x' · x') (right: x''); and an anchor with itself, against accounts of the other network drawn by
σ(x' · y'' + x'' · y').

Compared with the authors' published code. Deviations: no attributes; a batch draws its contexts by walks of up to two
steps, where the code lists those of node2vec once; `baselines.steps` steps in place of 100 epochs over them; the
convolution of E has no bias. In the paper attention depends on the account too, by a term that softmax cancels.

Cost: steps · n · m · d, m the number of anchors; memory two n × m matrices and three n_1 × n_2 of float32, refused
above `baselines.dense_cells`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory, spawn_seeds
from kedge.linalg import SparseAlignment, pattern, row_index
from kedge.linalg.spmm import Sparse, multiply, spmm
from kedge.methods.shared.embedded import Merged, merge
from kedge.methods.shared.pairs import keep_best
from kedge.methods.shared.spread import walk_from
from kedge.types import IntArray, Network, Problem

_WIDTH, _RATE, _BATCH, _NEGATIVES = 128, 0.01, 300, 20  # the authors'
_HALF = 0.5**0.5


class World(NamedTuple):
    """The merged network: A_1 and A_2 [n, n], P and R [n, m], the anchors' places [m]."""

    edges: tuple[Sparse, Sparse]
    P: Tensor
    R: Tensor
    anchors: Tensor


class _Model(nn.Module):
    """X, and the score of pairs."""

    def __init__(self, world: World, generator: torch.Generator) -> None:
        super().__init__()
        n, m = world.P.shape
        self.W = nn.ParameterList([nn.Parameter(torch.empty(n, _WIDTH)) for _ in range(3)])
        self.C, self.t, self.mix = (nn.Parameter(torch.empty(*shape)) for shape in ((m, _WIDTH), (_WIDTH, 1), (4, 1)))
        self.b, self.c, self.beta = (nn.Parameter(torch.zeros(size)) for size in (_WIDTH, _WIDTH, 1))
        for W in (*self.W, self.C, self.t, self.mix):
            nn.init.xavier_uniform_(W, generator=generator)
        with torch.no_grad():
            self.mix.abs_()  # so that a distance lowers the score at the start

    def forward(self, world: World) -> Tensor:
        """X [n, d]."""
        H = sum(spmm(A, W) for A, W in zip(world.edges, self.W[1:], strict=True)) + self.W[0]
        H = normalize(_HALF * H + self.b, p=1)
        attention = torch.softmax((H[world.anchors] @ self.t)[:, 0], dim=0)
        return normalize((world.P * attention + world.R) @ self.C + self.c, p=1)

    def score(self, x: Tensor, y: Tensor, mirrored: bool = False) -> Tensor:
        """s of pairs of rows, [pairs]."""
        one, other = x.chunk(2, dim=-1), y.chunk(2, dim=-1)
        apart = torch.stack([(a - b).abs().sum(dim=-1) for a in one for b in other], dim=-1)
        return self.beta - (apart.flip(-1) if mirrored else apart) @ self.mix[:, 0]


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The best of s for each account; `seed` draws weights, contexts and other accounts."""
    reuse_freed_memory()
    merged = merge(problem)
    world = _world(problem, merged)
    generator = torch.Generator().manual_seed(spawn_seeds(config.seed, 1)[0])
    model = _Model(world, generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    draw = Draw(np.random.default_rng(config.seed), generator)
    for _ in range(config.baselines.steps):
        optimiser.zero_grad()
        X = model(world)
        batch = draw_batch(problem, X.detach()[merged.left], X.detach()[merged.right], draw)
        _loss(model, X[merged.left], X[merged.right], batch).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        X = model(world)
        return keep_best(problem, _scores(model, X[merged.left], X[merged.right]).numpy(), config.baselines.keep)


def _world(problem: Problem, merged: Merged) -> World:
    sides = ((problem.left, merged.left), (problem.right, merged.right))
    anchors, m = merged.left[problem.anchors[:, 0]], len(problem.anchors)
    edges = [Sparse.of(_placed(network, place, merged.n), symmetric=True) for network, place in sides]
    E, R = torch.zeros(merged.n, m), torch.zeros(merged.n, m)
    E[anchors, torch.arange(m)] = 1
    for side, (network, place) in enumerate(sides):
        R[place] = walk_from(network, problem.anchors[:, side])
    R[anchors] = E[anchors]
    P = normalize(_HALF * (multiply(edges[0].forward, E) + multiply(edges[1].forward, E) + E), p=1)
    return World((edges[0], edges[1]), P, R, torch.from_numpy(anchors.copy()))


def _placed(network: Network, place: IntArray, n: int) -> csr_array:
    """The edges of one network between merged places."""
    A = pattern(network.adjacency)
    return csr_array((A.data, (place[row_index(A)], place[A.indices])), shape=(n, n))


class Draw(NamedTuple):
    """Where random numbers are from."""

    numbers: np.random.Generator
    weighted: torch.Generator


class Batch(NamedTuple):
    """Anchored accounts, their contexts, and other accounts of the same and of the other network, [2, batch, ...]."""

    anchored: tuple[Tensor, Tensor]
    contexts: tuple[Tensor, Tensor]
    same: tuple[Tensor, Tensor]
    across: tuple[Tensor, Tensor]


def draw_batch(problem: Problem, X: Tensor, Y: Tensor, draw: Draw) -> Batch:
    """Anchors, accounts up to two steps away, and other accounts by how near their vectors are."""
    rows = problem.anchors[draw.numbers.integers(0, len(problem.anchors), _BATCH)]
    own = torch.from_numpy(rows[:, 0].copy()), torch.from_numpy(rows[:, 1].copy())
    networks = problem.left, problem.right
    contexts = tuple(torch.from_numpy(_wander(networks[side], rows[:, side], draw.numbers)) for side in (0, 1))
    same = tuple(
        _others(torch.sigmoid(-(V[at] @ V.T)), at, draw.weighted)
        for V, at in ((X.chunk(2, dim=1)[0], own[0]), (Y.chunk(2, dim=1)[1], own[1]))
    )
    # The two accounts of an anchor have one vector.
    opposite = [torch.cat(V.chunk(2, dim=1)[::-1], dim=1) for V in (X, Y)]
    across = tuple(
        _others(torch.sigmoid(V[at] @ W.T), own[1 - side], draw.weighted)
        for side, (V, at, W) in enumerate(((X, own[0], opposite[1]), (Y, own[1], opposite[0])))
    )
    return Batch(own, contexts, same, across)  # type: ignore[arg-type]


def _wander(network: Network, accounts: IntArray, rng: np.random.Generator) -> IntArray:
    """What a window of two on a walk shows: of five accounts two are a step away, two are two steps, one is here."""
    A, reached = network.adjacency, accounts.astype(np.int64)
    steps = rng.integers(0, 5, len(accounts)) // 2  # 0, 0, 1, 1, 2
    for step in range(2):
        degrees = network.degrees[reached]
        drawn = A.indptr[reached] + (rng.random(len(reached)) * degrees).astype(np.int64)
        goes = (steps <= step) & (degrees > 0)
        reached = np.where(goes, A.indices[np.where(goes, drawn, 0)] if A.nnz else reached, reached)
    return reached


def _others(weights: Tensor, never: Tensor, generator: torch.Generator) -> Tensor:
    """Accounts [batch, negatives] drawn by the weights [batch, n], never an anchor's own."""
    weights = weights.scatter(1, never[:, None], 0.0)
    weights[weights.sum(dim=1) == 0] = 1.0  # there is no other account
    return torch.multinomial(weights, _NEGATIVES, replacement=True, generator=generator)


def _loss(model: _Model, X: Tensor, Y: Tensor, batch: Batch) -> Tensor:
    """The cross-entropy of contexts and of anchors, for both networks."""
    total = X.new_zeros(())
    for side, (own, other) in enumerate(((X, Y), (Y, X))):
        x = own[batch.anchored[side]]
        for near, far in (
            (own[batch.contexts[side]], own[batch.same[side]]),
            (x, other[batch.across[side]]),
        ):
            mirrored = side == 1
            scores = torch.cat([model.score(x, near, mirrored), model.score(x[:, None], far, mirrored).flatten()])
            labels = (torch.arange(len(scores)) < len(x)).to(scores.dtype)
            total = total + binary_cross_entropy_with_logits(scores, labels)
    return total


def _scores(model: _Model, X: Tensor, Y: Tensor) -> Tensor:
    """s of every pair, [n_1, n_2], without β."""
    S = torch.zeros(len(X), len(Y))
    halves = [(a.contiguous(), b.contiguous()) for a in X.chunk(2, dim=1) for b in Y.chunk(2, dim=1)]
    for weight, (a, b) in zip(model.mix[:, 0].tolist(), halves, strict=True):
        S.sub_(torch.cdist(a, b, p=1), alpha=weight)
    return S
