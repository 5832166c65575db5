"""PARROT (Zeng, Zhang, Xia, Tong; WWW 2023): position-aware regularised optimal transport.

Positions are random walks with restart to the anchors, r = (1 - β) W r + β e, W = D^-1 A. The cost of a pair is
exp(-cos of positions), spread over the product graph: C ← (1 + γβ) C_0 + (1 - β) γ W_1 C W_2ᵀ, anchors at 0.
The transport plan T minimises

    <C, T> + λ_e edge consistency (Gromov-Wasserstein) + λ_n KL(W_1 T W_2ᵀ | T) + λ_a KL(H | T)

by proximal points of weight λ_p, each solved by Sinkhorn's iterations in the log domain.

Deviations: no attributes, as in the paper's plain case; of two settings of the authors, who set β, γ and the four λ for
each pair, a fifth of the anchors, for validation, chooses; an account without edges has no position (cosine 0): the
authors join it to all others.

Cost: three times (once where anchors are few) 50 rounds of |E_1| n_2 + |E_2| n_1 and about 100 exponentials of every
cell; memory eight n_1 × n_2 matrices of float32, refused above `baselines.dense_cells`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import normalize

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory
from kedge.linalg import SparseAlignment, normalise, pattern, reciprocal_ranks, row_index, with_data
from kedge.linalg.spmm import Rows, multiply
from kedge.methods.shared.pairs import keep_best
from kedge.methods.shared.spread import between
from kedge.types import IntArray, Network, Problem

_OUTER, _INNER = 10, 5
_TINY = 1e-30
_FEWEST = 50  # anchors; with fewer a fifth of them cannot separate two settings; unmeasured


@dataclass(frozen=True)
class Setting:
    """β, γ, α and λ_p, λ_n, λ_a, λ_e.

    Without attributes positions stand in for them, so that positions count 1 + α times.
    """

    restart: float
    discount: float
    attributes: float
    proximal: float
    neighbours: float
    preference: float
    edges: float


# The authors', for phone-email and for ACM-DBLP without attributes.
SETTINGS: Final = (Setting(0.15, 0.7, 0.5, 5e-4, 5e-3, 5e-4, 2e-5), Setting(0.5, 0.9, 0.1, 1e-3, 4e-4, 1e-2, 1e-5))


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The best of log T for each account, with the setting that validation anchors choose; `seed` draws these."""
    reuse_freed_memory()
    return _align(problem, config, _choose(problem, config, config.seed))


def _choose(problem: Problem, config: Config, seed: int) -> Setting:
    """The setting with the best mean reciprocal rank on a fifth of the anchors; the first where they are few."""
    count = len(problem.anchors)
    if count < _FEWEST:
        return SETTINGS[0]
    trial, held = problem.hold_out(np.random.default_rng(seed).permutation(count)[: count // 5])
    found = [reciprocal_ranks(_align(trial, config, one).scores, held).mean() for one in SETTINGS]
    return SETTINGS[int(np.argmax(found))]


def _align(problem: Problem, config: Config, setting: Setting) -> SparseAlignment:
    """PARROT under one setting."""
    walks = _walk(problem.left), _walk(problem.right)
    places = tuple(_positions(walk, problem.anchors[:, side], setting) for side, walk in enumerate(walks))
    anchors = tuple(torch.from_numpy(problem.anchors.copy()).T)
    cost = _spread_cost(places, walks, anchors, setting, config.baselines.rounds)
    edges = _edge_costs(problem.left, places[0]), _edge_costs(problem.right, places[1])
    return keep_best(problem, _transport(cost, walks, edges, anchors, setting).numpy(), config.baselines.keep)


def _walk(network: Network) -> Rows:
    """W = D^-1 A."""
    return Rows.of(normalise(pattern(network.adjacency), rows=1))


def _positions(walk: Rows, anchored: IntArray, setting: Setting) -> Tensor:
    """Random walks with restart from each account to each anchor, unit rows [n, m]."""
    e = torch.zeros(len(walk.offsets) - 1, len(anchored))
    e[torch.from_numpy(anchored.copy()), torch.arange(len(anchored))] = setting.restart
    r = e
    for _ in range(100):
        renewed = multiply(walk, r).mul_(1 - setting.restart).add_(e)
        change = float((renewed - r).abs().max())
        r = renewed
        if change < 1e-5:
            break
    return normalize(r)


def _spread_cost(
    places: tuple[Tensor, ...], walks: tuple[Rows, Rows], anchors: tuple[Tensor, ...], setting: Setting, rounds: int
) -> Tensor:
    """C [n_1, n_2]: the cost of positions, spread over the product graph."""
    of_pair = torch.exp(-(places[0] @ places[1].T)).mul_(1 + setting.attributes)
    of_pair[anchors] = 0
    C = torch.zeros_like(of_pair)
    for _ in range(rounds):
        renewed = between(walks[0], C, walks[1]).mul_((1 - setting.restart) * setting.discount)
        renewed.add_(of_pair, alpha=1 + setting.discount * setting.restart)
        renewed[anchors] = 0
        change = float((renewed - C).abs_().max())
        C = renewed
        if change < 1e-2:
            break
    return C.mul_(1 - setting.discount)


def _edge_costs(network: Network, places: Tensor) -> csr_array:
    """exp(-cos) of the positions of each edge's ends, as sparse as the network."""
    A = network.adjacency
    rows = row_index(network.adjacency)
    values = np.empty(len(rows), np.float32)
    X = places.numpy()
    for start in range(0, len(rows), 1 << 16):
        part = slice(start, start + (1 << 16))
        values[part] = np.exp(-np.einsum("ij,ij->i", X[rows[part]], X[A.indices[part]]))
    return with_data(A, values)


def _transport(
    cost: Tensor,
    walks: tuple[Rows, Rows],
    edges: tuple[csr_array, csr_array],
    anchors: tuple[Tensor, ...],
    setting: Setting,
) -> Tensor:
    """log T [n_1, n_2] after `_OUTER` proximal points."""
    n1, n2 = cost.shape
    entropy = setting.proximal + setting.neighbours + setting.preference
    squares = [torch.from_numpy(np.asarray(E.power(2).mean(axis=1), np.float32).ravel()) for E in edges]
    fixed = 0.5 * (squares[0][:, None] + squares[1][None, :])
    first, second = Rows.of(edges[0]), Rows.of(edges[1])
    wanted = torch.full_like(cost, float(np.log(1.0 / n2)))
    wanted[anchors] = float(np.log(1.0 + 1.0 / n2))
    T = torch.full_like(cost, 1.0 / (n1 * n2))
    accepted: Tensor | None = None
    b = torch.zeros(n1, 1)
    for _ in range(_OUTER):
        C = (fixed - between(first, T, second)).mul_(setting.edges * n1 * n2).add_(cost)
        C.sub_(between(walks[0], T, walks[1]).clamp_(min=_TINY).log_(), alpha=setting.neighbours)
        C.sub_(wanted, alpha=setting.preference)
        # The cost moves with the plan; a move that makes the present plan dearer is not taken.
        if accepted is not None and float((T * C).sum()) > float((T * accepted).sum()):
            C = accepted
        accepted = C
        Q = (C - T.clamp(min=_TINY).log_().mul_(setting.proximal)).div_(-entropy)
        for _ in range(_INNER):
            a = -torch.logsumexp(Q + b, dim=0, keepdim=True) + float(np.log(n1))
            b = -torch.logsumexp(Q + a, dim=1, keepdim=True) + float(np.log(n2))
        T = T.mul_(0.05).add_(Q.add_(a).add_(b).exp_(), alpha=0.95 / (n1 * n2))
    return T.clamp_(min=_TINY).log_()
