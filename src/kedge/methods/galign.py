"""GAlign (Trung, Vinh, Tam, Yin, Weidlich, Hung; ICDE 2020): convolutions that noise must not change, then refinement.

One graph convolution with the same weights W for both networks, F the attributes, Â = D^-1/2 (A + I) D^-1/2:

    H_0 = F,    H_l = tanh(Â H_{l-1} W_l), l = 1, 2,    S = Σ_l cos(H_l of the left, H_l of the right)

The weights are to reconstruct the edges, and to give copies with noise (edges removed, edges added, attributes
exchanged, a hundredth each) the same vectors:

    0.8 (0.8 J(H, Â) + 0.2 J(H', Â')) + 0.2 Σ (H - H')^2 / 3 over entries that differ by less than 0.01, H = H_2
    J(H, Â) = Σ (P - Â)^2 / n,    P the cosines of all pairs, rows scaled to length 1

Refinement: an account is stable where both layers have the same best partner, each with a cosine of 0.94 or more. It
and its partner then count 1.1 times as much in Â, which becomes Q Â Q. Of ten iterations the one with the highest mean
of the left accounts' best S is kept.

Compared with the authors' published code. Deviations: plain networks have no attributes; here an anchored account's is
its anchor, which both networks share, and another's is its degree, in buckets of powers of two. Without anchors the
method is as unsupervised as the paper's. J is computed from the edges and XᵀX, which is the same sum without an n × n
matrix. An account without edges and anchor has no vector.

Cost: 120 steps of (|E| + n d) d, and of each of ten iterations three searches of n_1 n_2 d; no n × n matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, triu
from torch import Tensor, nn
from torch.nn.functional import normalize

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory, spawn_seeds
from kedge.linalg import VectorAlignment, normalise, pattern, unit_rows
from kedge.linalg.spmm import Sparse, spmm
from kedge.similarity import align_shared
from kedge.types import FloatArray, IntArray, Network, Problem

_EPOCHS, _RATE, _ITERATIONS = 20, 0.01, 10  # the authors', as are all numbers below
_NOISE, _ALIKE = 0.01, 0.01
_OWN, _CONSISTENT = 0.8, 0.8
_STABLE, _GAIN = 0.94, 1.1


@dataclass(frozen=True)
class View:
    """A network, or a copy of it with noise: Â, and the number of each account's attribute."""

    A: Sparse
    attribute: Tensor


class _Convolution(nn.Module):
    """H_1 and H_2."""

    def __init__(self, attributes: int, d: int, generator: torch.Generator) -> None:
        super().__init__()
        gain = nn.init.calculate_gain("tanh")
        self.W = nn.ParameterList([nn.Parameter(torch.empty(rows, d)) for rows in (attributes, d)])
        for W in self.W:
            nn.init.xavier_uniform_(W, gain, generator=generator)

    def forward(self, view: View) -> tuple[Tensor, Tensor]:
        """Both layers [n, d]; an attribute chooses a row of the first weights."""
        first = torch.tanh(spmm(view.A, self.W[0][view.attribute]))
        return first, torch.tanh(spmm(view.A, first @ self.W[1]))


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """The sum of the layers' cosines; `seed` draws weights and noise."""
    reuse_freed_memory()
    rng = np.random.default_rng(config.seed)
    networks = problem.left, problem.right
    attributes, count = _attributes(problem)
    generator = torch.Generator().manual_seed(spawn_seeds(config.seed, 1)[0])
    model = _Convolution(count, config.baselines.dimensions, generator)
    _train(model, [_views(network, own, rng) for network, own in zip(networks, attributes, strict=True)], config)
    left, right = _refine(model, networks, attributes, len(problem.anchors))
    for X, network, side in ((left, problem.left, 0), (right, problem.right, 1)):
        X[np.setdiff1d(np.flatnonzero(network.degrees == 0), problem.anchors[:, side])] = 0
    return align_shared(problem, left, right, config.pairing)


def _attributes(problem: Problem) -> tuple[list[IntArray], int]:
    """The attribute of each account, on the left and on the right, and how many there are."""
    m = len(problem.anchors)
    found: list[IntArray] = [
        m + np.log2(network.degrees + 1).astype(np.int64) for network in (problem.left, problem.right)
    ]
    for side in (0, 1):
        found[side][problem.anchors[:, side]] = np.arange(m)
    return found, int(max(own.max(initial=0) for own in found)) + 1


def _normalised(A: csr_array) -> csr_array:
    """Â = D^-1/2 (A + I) D^-1/2."""
    return normalise(csr_array(pattern(A) + diags_array(np.ones(A.shape[0])).tocsr()), 0.5, 0.5)


def _views(network: Network, attribute: IntArray, rng: np.random.Generator) -> list[View]:
    """The network itself, and with edges removed, edges added, attributes exchanged."""
    n = network.n
    rows, columns = triu(network.adjacency, 1).tocoo().coords
    some = max(1, int(_NOISE * len(rows)))
    kept = rng.permutation(len(rows))[some:]
    more = rng.integers(0, n, (2, some))
    more = more[:, more[0] != more[1]]
    fewer, extended = (
        _of_edges(a, b, n) for a, b in ((rows[kept], columns[kept]), (np.r_[rows, more[0]], np.r_[columns, more[1]]))
    )
    exchanged = attribute.copy()
    changed = rng.permutation(n)[: max(1, int(_NOISE * n))]
    exchanged[changed] = attribute[rng.integers(0, n, len(changed))]
    A, own = Sparse.of(_normalised(network.adjacency), symmetric=True), torch.from_numpy(attribute)
    noisy = [View(Sparse.of(_normalised(B), symmetric=True), own) for B in (fewer, extended)]
    return [View(A, own), *noisy, View(A, torch.from_numpy(exchanged))]


def _of_edges(rows: IntArray, columns: IntArray, n: int) -> csr_array:
    ends = np.r_[rows, columns], np.r_[columns, rows]
    return pattern(csr_array((np.ones(len(ends[0]), np.float32), ends), shape=(n, n)))


def _train(model: _Convolution, networks: list[list[View]], config: Config) -> None:
    """Adam on the loss of each network and copy in turn."""
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    for _ in range(min(_EPOCHS, config.baselines.steps)):
        for own, *copies in networks:
            for copy in copies:
                optimiser.zero_grad()
                _loss(model, own, copy).backward()  # type: ignore[no-untyped-call]
                optimiser.step()


def _loss(model: _Convolution, own: View, copy: View) -> Tensor:
    H: Tensor = model(own)[-1]
    other: Tensor = model(copy)[-1]
    consistent = _OWN * _misses(H, own.A) + (1 - _OWN) * _misses(other, copy.A)
    apart = H - other
    adaptive: Tensor = apart[apart.abs() < _ALIKE].square().sum() / 3  # the number of layers with the attributes
    return _CONSISTENT * consistent + (1 - _CONSISTENT) * adaptive


def _misses(H: Tensor, A: Sparse) -> Tensor:
    """J(H, Â) = (1/n) Σ_u (1 - 2 x_u · (Â X)_u / |X x_u| + |Â_u|^2), X unit rows."""
    X = normalize(H)
    lengths = ((X @ (X.T @ X)) * X).sum(dim=1).clamp(min=1e-12).sqrt()
    reached = (X * spmm(A, X)).sum(dim=1) / lengths
    return 1 - 2 * reached.mean() + A.forward.values.square().sum() / len(H)


def _refine(
    model: _Convolution, networks: tuple[Network, Network], attributes: list[IntArray], anchors: int
) -> tuple[FloatArray, FloatArray]:
    """The layers of both networks, unit rows side by side, of the iteration with the highest mean of the best S."""
    plain = [_normalised(network.adjacency) for network in networks]
    count = [np.ones(network.n) for network in networks]  # Q of each network
    starts = [_one_hot(own, anchors) for own in attributes]
    best, kept = -np.inf, (starts[0], starts[1])
    for _ in range(_ITERATIONS + 1):
        layers = [
            _layers(model, csr_array(diags_array(Q) @ A @ diags_array(Q)), own)
            for A, Q, own in zip(plain, count, attributes, strict=True)
        ]
        X, Y = (np.concatenate([start, *own], axis=1) for start, own in zip(starts, layers, strict=True))
        mean = float(_best(X, Y)[1].mean())
        if mean > best:
            best, kept = mean, (X, Y)
        accounts, partners = stable_pairs(layers[0], layers[1])
        if len(accounts) == 0:
            break
        count[0][accounts] *= _GAIN
        count[1][np.unique(partners)] *= _GAIN
    return kept


def _one_hot(attribute: IntArray, anchors: int) -> FloatArray:
    """H_0 without the anchors' own attributes, which no free account has: [n, degrees]."""
    return np.asarray(attribute[:, None] == np.arange(anchors, anchors + 64), np.float32)


def _layers(model: _Convolution, A: csr_array, attribute: IntArray) -> tuple[FloatArray, FloatArray]:
    """H_1 and H_2 as unit rows."""
    with torch.no_grad():
        first, second = model(View(Sparse.of(A, symmetric=True), torch.from_numpy(attribute)))
    return unit_rows(first.numpy()), unit_rows(second.numpy())


def _best(X: FloatArray, Y: FloatArray) -> tuple[IntArray, FloatArray]:
    """For each row of X the row of Y with the largest product, and that product."""
    partner, value = np.zeros(len(X), np.int64), np.zeros(len(X), np.float32)
    for start in range(0, len(X), 512):
        block = X[start : start + 512] @ Y.T
        partner[start : start + 512] = block.argmax(axis=1)
        value[start : start + 512] = block.max(axis=1)
    return partner, value


def stable_pairs(left: tuple[FloatArray, ...], right: tuple[FloatArray, ...]) -> tuple[IntArray, IntArray]:
    """Left accounts whose best partner is the same in all layers, each time with a cosine of 0.94 or more."""
    found = [_best(X, Y) for X, Y in zip(left, right, strict=True)]
    same = np.all([partner == found[0][0] for partner, _ in found], axis=0)
    stable = np.flatnonzero(same & np.all([value >= _STABLE for _, value in found], axis=0))
    return stable, found[0][0][stable]
