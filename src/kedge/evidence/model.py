"""What evidence is made of: edge rates, the degree prior, the record of a finished propagation.

The degree prior is how likely two accounts are a pair by their degrees and their neighbours' degrees alone. These
numbers need no matched neighbour. As normal scores, those of the two sides are jointly normal on the anchors with
canonical correlations r_i, which gives

    log f(x, y) / f(x) f(y) = sum_i -log(1 - r_i²)/2 - (r_i² (x_i² + y_i²) - 2 r_i x_i y_i) / 2(1 - r_i²)

in canonical coordinates: a constant, a term for each account and a small dot product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri
from scipy.stats import rankdata

from kedge.linalg import VectorAlignment, pattern
from kedge.types import FloatArray, IntArray, Network, Problem

_LEAST_ANCHORS = 10  # fewer do not determine correlations; unmeasured
_PSEUDO = 10.0  # correlations are shrunk by so many uncorrelated anchors (benchmarks/evidence_choice.py)
_MOST = 0.97  # a correlation from few anchors is never taken to be perfect (benchmarks/evidence_choice.py)


def common_edges(problem: Problem) -> tuple[int, int, int]:
    """Among the anchors: edges that both networks have, edges of the left one, edges of the right one."""
    left, right = problem.anchors.T
    on_left = problem.left.adjacency[left][:, left] != 0
    on_right = problem.right.adjacency[right][:, right] != 0
    return on_left.multiply(on_right).nnz // 2, on_left.nnz // 2, on_right.nnz // 2


def edge_rates(problem: Problem) -> tuple[float, float]:
    """(s, t) from the edges among the anchors, smoothed by one common edge in two."""
    common, on_left, on_right = common_edges(problem)
    return (common + 1) / (on_left + 2), (common + 1) / (on_right + 2)


@dataclass(frozen=True)
class DegreePrior:
    """log-ratio(u, v) = left_term[u] + right_term[v] + left[u] · right[v]; left [n_1, m], right [n_2, m]."""

    left: FloatArray
    right: FloatArray
    left_term: FloatArray
    right_term: FloatArray

    def ratio(self, u: int, v: int) -> float:
        """The log-ratio of one pair."""
        return float(self.left_term[u] + self.right_term[v] + self.left[u] @ self.right[v])

    def of_accounts(self, left: IntArray, right: IntArray) -> DegreePrior:
        """The same for these left and right accounts, in this order."""
        return DegreePrior(self.left[left], self.right[right], self.left_term[left], self.right_term[right])


def describe(network: Network) -> FloatArray:
    """Normal scores of each account's degree and its neighbours' mean log-degree, [n, 2]."""
    degree = network.degrees.astype(np.float64)
    # Rounded, so that accounts with equal neighbourhoods tie in whatever order their neighbours are added up.
    around = np.round((pattern(network.adjacency) @ np.log1p(degree)) / np.maximum(degree, 1), 9)
    return np.column_stack([ndtri((rankdata(number) - 0.5) / max(network.n, 1)) for number in (degree, around)])


def fit_degree_prior(problem: Problem) -> DegreePrior:
    """The canonical correlations of the anchors' descriptions; all zero where anchors are too few."""
    sides = [describe(network) for network in (problem.left, problem.right)]
    count = len(problem.anchors)
    width = sides[0].shape[1]
    if count < _LEAST_ANCHORS:
        nothing = [np.zeros((len(side), width)) for side in sides]
        return DegreePrior(nothing[0], nothing[1], np.zeros(len(sides[0])), np.zeros(len(sides[1])))
    white = []
    for side, anchors in zip(sides, problem.anchors.T, strict=True):
        seen = side[anchors]
        centred = side - seen.mean(axis=0)
        covariance = np.cov(seen, rowvar=False).reshape(width, width)
        # Numbers that hardly vary among the anchors must not be blown up.
        values, vectors = np.linalg.eigh(covariance + 1e-3 * np.eye(width))
        white.append(centred @ (vectors / np.sqrt(values)))
    cross = white[0][problem.anchors[:, 0]].T @ white[1][problem.anchors[:, 1]] / (count + _PSEUDO)
    rotation, r, back = np.linalg.svd(cross)
    r = np.minimum(r, _MOST)
    x, y = white[0] @ rotation, white[1] @ back.T
    square = r**2 / (2 * (1 - r**2))
    scale = np.sqrt(r / (1 - r**2))
    constant = -0.5 * float(np.log1p(-(r**2)).sum())
    return DegreePrior(x * scale, y * scale, constant - x**2 @ square, -(y**2) @ square)


@dataclass(frozen=True)
class Evidence:
    """Log-odds of candidate pairs, the beliefs they stand on, and how the rounds went.

    `log_odds` n_1 × n_2 sparse; `support` the beliefs that entered the last round, so that `terms` adds up to
    `log_odds`; `beliefs` what follows from them, in the same entries; `assigned` marks the entries in the best
    one-to-one assignment; `trace` the mean change of belief per round; `prior` the log-odds from elsewhere, if any;
    `mixed` what takes the place of the log-odds in the order of candidates, if anything does (`mix`); `vectors`
    the vectors in one space that the prior is from; `balanced` whether an account's beliefs sum to 1, on both sides, so
    that they are one-to-one already.
    """

    log_odds: csr_array
    support: csr_array
    beliefs: csr_array
    assigned: NDArray[np.bool_]
    degree_prior: DegreePrior
    s: float
    t: float
    rounds: int
    trace: tuple[float, ...]
    prior: csr_array | None = None
    mixed: csr_array | None = None
    vectors: VectorAlignment | None = None
    balanced: bool = False


def recall(problem: Problem, support: csr_array, prior: csr_array | None = None) -> Evidence:
    """As much of the evidence as `terms` needs, from the beliefs that a run saved."""
    s, t = edge_rates(problem)
    empty: csr_array = csr_array(support.shape, dtype=np.float64)
    return Evidence(
        log_odds=empty,
        support=support,
        beliefs=support,
        assigned=np.zeros(0, bool),
        degree_prior=fit_degree_prior(problem),
        s=s,
        t=t,
        rounds=0,
        trace=(),
        prior=prior,
    )
