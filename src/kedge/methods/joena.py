"""JOENA (Yu, Zeng, Yan, Ying, Srikant, Tong; WWW 2025): optimal transport and embedding, each the other's objective.

Random walks with restart from the anchors, R = 0.85 A D^-1 R + 0.15 E [n, m], are the coordinates that both networks
share. One map for both makes vectors of them, x = unit(W_2 [r, relu(W_1 r + b_1)] + b_2), and these make the costs

    C_uv = exp(-x_u · y_v),    C_1 = exp(-x_i · x_k) on the edges of the left network,    C_2 likewise

of the fused Gromov-Wasserstein distance, in which a threshold λ turns the plan S into samples of both signs, Ŝ = S - λ:

    J(S, λ) = <C, Ŝ> + w Σ (C_1(i, k) - C_2(j, l))^2 Ŝ_ij Ŝ_kl,    w = α / (1 - α) √min(n_1, n_2)

An epoch finds S by ten linear costs C + w L(Ŝ), each solved by five of Sinkhorn's rounds in the log domain with
entropy γ, the new plan 0.95 of the step; moves λ a twentieth of the way to its optimum; and takes one step of Adam
down the gradient of J for the map. Pairs are ranked by log S of the last epoch.

Compared with the authors' published code. Deviations: no attributes, as in the paper's plain case. The authors set
α, γ, λ, the rate and the epochs for each pair and report the best epoch by the test pairs; here a fifth of the
anchors, for validation, chooses one of two of their settings, and its epoch; at most `baselines.steps` epochs, and
fewer than a hundred on networks of more than 2 million pairs.

Cost: of each epoch 50 exponentials of every cell, ten times |E_1| n_2 + |E_2| n_1, once as much for the gradient;
memory six n_1 × n_2 matrices of float32, refused above `baselines.dense_cells`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory, spawn_seeds
from kedge.linalg import SparseAlignment, pattern, reciprocal_ranks
from kedge.linalg.spmm import Rows, multiply
from kedge.methods.shared.pairs import keep_best
from kedge.methods.shared.spread import between, walk_from
from kedge.types import Problem

_WIDTH = 128  # of the hidden layer and of the vectors
_OUTER, _INNER = 10, 5
_STEP = 0.95  # of the way to a new plan
_THRESHOLD_STEP = 0.05
_TINY = 1e-30
_FEWEST = 50  # anchors; with fewer a fifth of them cannot separate two settings; unmeasured
_WORK, _LEAST_EPOCHS = 200_000_000, 15  # cells of all epochs of one setting, which take a minute or two; unmeasured
_PATIENCE = 5  # epochs without a better rank of the validation anchors; unmeasured
_BLOCK = 1 << 18  # cells at once, which stay in the cache


@dataclass(frozen=True)
class Setting:
    """α, γ, λ in units of 1 / (n_1 n_2), Adam's rate, epochs."""

    alpha: float
    entropy: float
    threshold: float
    rate: float
    epochs: int


# The authors', for phone-email and for foursquare-twitter.
SETTINGS: Final = (Setting(0.72, 1e-2, 0.5, 1e-4, 100), Setting(0.5, 1e-3, 1.0, 5e-4, 15))


@dataclass(frozen=True)
class Costs:
    """C [n_1, n_2], and C_1 and C_2 as sparse as the networks."""

    across: Tensor
    left: Rows
    right: Rows


class _Map(nn.Module):
    """x = unit(W_2 [r, relu(W_1 r + b_1)] + b_2)."""

    def __init__(self, anchors: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(anchors, _WIDTH), nn.Linear(anchors + _WIDTH, _WIDTH)
        for layer in (self.first, self.second):
            for values in (layer.weight, layer.bias):
                nn.init.uniform_(values, -(layer.in_features**-0.5), layer.in_features**-0.5, generator=generator)

    def forward(self, R: Tensor) -> Tensor:
        """Unit rows [n, d]."""
        return normalize(self.second(torch.cat([R, torch.relu(self.first(R))], dim=1)))


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The best of log S for each account; `seed` draws the map's first weights and the validation anchors."""
    reuse_freed_memory()
    setting = _choose(problem, config)
    S = torch.empty(0)
    for S in islice(_plans(problem, config.seed, setting), _epochs(problem, config, setting)):  # noqa: B007
        pass
    return _rank(problem, S, config)


def _choose(problem: Problem, config: Config) -> Setting:
    """The setting and the number of epochs that best rank a fifth of the anchors; the first where they are few."""
    count = len(problem.anchors)
    if count < _FEWEST:
        return SETTINGS[0]
    trial, held = problem.hold_out(np.random.default_rng(config.seed).permutation(count)[: count // 5])
    best = -1.0, SETTINGS[0]
    for setting in SETTINGS:
        here = -1.0, 0
        for epoch, S in enumerate(islice(_plans(trial, config.seed, setting), _epochs(trial, config, setting)), 1):
            reached = float(reciprocal_ranks(_rank(trial, S, config).scores, held).mean())
            if reached > here[0]:
                here = reached, epoch
            if epoch - here[1] >= _PATIENCE:
                break
        if here[0] > best[0]:
            best = here[0], replace(setting, epochs=here[1])
    return best[1]


def _epochs(problem: Problem, config: Config, setting: Setting) -> int:
    """The setting's epochs, fewer on large networks."""
    affordable = max(_LEAST_EPOCHS, _WORK // max(1, problem.left.n * problem.right.n))
    return min(setting.epochs, config.baselines.steps, affordable)


def _rank(problem: Problem, S: Tensor, config: Config) -> SparseAlignment:
    return keep_best(problem, S.clamp(min=_TINY).log_().numpy(), config.baselines.keep)


def _plans(problem: Problem, seed: int, setting: Setting) -> Iterator[Tensor]:
    """S [n_1, n_2] of one epoch after the other, under one setting."""
    networks = problem.left, problem.right
    places = [walk_from(network, problem.anchors[:, side]) for side, network in enumerate(networks)]
    edges = [Rows.of(pattern(network.adjacency)) for network in networks]
    n1, n2 = problem.left.n, problem.right.n
    weight = setting.alpha / (1 - setting.alpha) * min(n1, n2) ** 0.5
    threshold = setting.threshold / (n1 * n2)
    made = _Map(len(problem.anchors), torch.Generator().manual_seed(spawn_seeds(seed, 1)[0]))
    optimiser = torch.optim.Adam(made.parameters(), lr=setting.rate)
    while True:
        X, Y = (made(R) for R in places)
        with torch.no_grad():
            costs = _costs(X, Y, edges)
            S = _transport(costs, weight, threshold, setting.entropy)
            yield S
            threshold += _THRESHOLD_STEP * (_best_threshold(costs, S, weight) - threshold)
            slopes = _slopes(X, Y, costs, S - threshold, weight)
        optimiser.zero_grad()
        torch.autograd.backward([X, Y], list(slopes))
        optimiser.step()


def _costs(X: Tensor, Y: Tensor, edges: list[Rows]) -> Costs:
    """exp(-cos) across the networks, and of the ends of each edge."""
    left, right = (
        Rows(E.offsets, E.indices, torch.exp(-_products(V, V, E))) for V, E in zip((X, Y), edges, strict=True)
    )
    return Costs((X @ Y.T).neg_().exp_(), left, right)


def _products(P: Tensor, Q: Tensor, edges: Rows) -> Tensor:
    """P_i · Q_k of each entry (i, k) of a sparse matrix."""
    rows = torch.repeat_interleave(edges.offsets.diff().long())
    size = max(1, _BLOCK // max(1, P.shape[1]))
    parts = [
        (P[rows[start : start + size]] * Q[edges.indices[start : start + size]]).sum(dim=1)
        for start in range(0, len(rows), size)
    ]
    return torch.cat(parts) if parts else P.new_zeros(0)


def _sums(cost: Rows, power: int) -> Tensor:
    """Σ_k C(i, k)^power [n]."""
    weighted = Rows(cost.offsets, cost.indices, cost.values**power)
    return multiply(weighted, torch.ones(len(cost.offsets) - 1, 1))[:, 0]


def _linearised(costs: Costs, S: Tensor, weight: float, threshold: float) -> Tensor:
    """C + w L(Ŝ), L = C_1^2 Ŝ1 1ᵀ + 1 (C_2^2 Ŝᵀ1)ᵀ - 2 C_1 Ŝ C_2ᵀ; both C_1 and C_2 are symmetric."""
    squares = [Rows(cost.offsets, cost.indices, cost.values**2) for cost in (costs.left, costs.right)]
    rows = multiply(squares[0], (S.sum(dim=1, keepdim=True) - threshold * S.shape[1]))
    columns = multiply(squares[1], (S.sum(dim=0)[:, None] - threshold * S.shape[0])).T
    L = between(costs.left, S, costs.right).mul_(-2).add_(rows).add_(columns)
    L.addr_(_sums(costs.left, 1), _sums(costs.right, 1), alpha=2 * threshold)
    return L.mul_(weight).add_(costs.across)


def _transport(costs: Costs, weight: float, threshold: float, entropy: float) -> Tensor:
    """S [n_1, n_2]."""
    n1, n2 = costs.across.shape
    S = torch.full((n1, n2), 1.0 / (n1 * n2))
    g = torch.zeros(n2)
    for _ in range(_OUTER):
        Q = _linearised(costs, S, weight, threshold).div_(-entropy)
        f = torch.zeros(n1)
        for _ in range(_INNER):
            f, g = _sinkhorn(Q, g)
        S.mul_(1 - _STEP).add_(Q.add_(f[:, None]).add_(g).exp_(), alpha=_STEP)
    return S


def _sinkhorn(Q: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """f and then g with which exp(f_i + g_j + Q_ij) has row sums 1 / n_1, then column sums 1 / n_2."""
    n1, n2 = Q.shape
    f, sums = torch.empty(n1), torch.full((n2,), float("-inf"))
    size = max(1, _BLOCK // n2)
    for start in range(0, n1, size):
        block = Q[start : start + size]
        f[start : start + size] = -torch.logsumexp(block + g, dim=1) - float(np.log(n1))
        sums = torch.logaddexp(sums, torch.logsumexp(block + f[start : start + size, None], dim=0))
    return f, -sums - float(np.log(n2))


def _best_threshold(costs: Costs, S: Tensor, weight: float) -> float:
    """The λ at which the derivative of J is 0: (Σ C + 2 w <M, S>) / (2 w ΣM), M = L of a plan of ones."""
    n1, n2 = S.shape
    ones, squares = ([_sums(cost, power) for cost in (costs.left, costs.right)] for power in (1, 2))
    with_plan = n2 * (squares[0] @ S.sum(dim=1)) + n1 * (squares[1] @ S.sum(dim=0)) - 2 * (ones[0] @ S @ ones[1])
    whole = n2**2 * squares[0].sum() + n1**2 * squares[1].sum() - 2 * ones[0].sum() * ones[1].sum()
    if float(whole) == 0:
        return 0.0  # no edges on either side
    return float((costs.across.sum() + 2 * weight * with_plan) / (2 * weight * whole))


def _slopes(X: Tensor, Y: Tensor, costs: Costs, S: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    """The gradient of J for X and for Y, by C = exp(-x · y)."""
    through = costs.across * S
    of_left, of_right = -(through @ Y), -(through.T @ X)
    of_left -= multiply(_edge_slopes(costs.left, costs.right, S, weight), X)
    of_right -= multiply(_edge_slopes(costs.right, costs.left, S.T.contiguous(), weight), Y)
    return of_left, of_right


def _edge_slopes(mine: Rows, other: Rows, S: Tensor, weight: float) -> Rows:
    """2 (∂J/∂C_1) C_1 on the edges: 4 w (C_1(i, k) a_i a_k - (Ŝ C_2 Ŝᵀ)(i, k)) C_1(i, k), a the row sums of Ŝ."""
    a = S.sum(dim=1)
    rows = torch.repeat_interleave(mine.offsets.diff().long())
    around = _products(multiply(other, S.T.contiguous()).T.contiguous(), S, mine)
    slope = mine.values * a[rows] * a[mine.indices] - around
    return Rows(mine.offsets, mine.indices, 4 * weight * slope * mine.values)
