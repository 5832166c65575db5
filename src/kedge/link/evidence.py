"""Evidence propagation: a matched pair of neighbours speaks for a pair of accounts, a missing edge against it.

With s = P(edge on the right | edge on the left, ends matched), t its mirror, chance rates p(u, a) = d_u d_a / 2m_1 and
q(v, b) = d_v d_b / 2m_2, beliefs P(a, b) (anchors: 1), rho(a) = sum_b P(a, b) at most 1 and rho(b) likewise:

    left(u, v)  = sum_{a in N(u)} log(1 - s rho(a) + sum_{b in N(v)} P(a, b) (s / q(v, b) - (1 - s)))
    right(u, v) = sum_{b in N(v)} log(1 - t rho(b) + sum_{a in N(u)} P(a, b) (t / p(u, a) - (1 - t)))
    L(u, v)     = (left + right) / 2 + prior(u, v)

A term is the log of the mean likelihood ratio over where a neighbour's partner may be, with ratio 1 for "nowhere": an
uncertain neighbour says little, whatever it misses. Averaging the two views counts a common edge once by the geometric
mean of its two ratios, and each missing edge half.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.config import EvidenceConfig
from kedge.link.beliefs import matched, owners, two_sided
from kedge.link.evidence_kernels import LEAST_RATIO, hear, say
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["Evidence", "Term", "edge_rates", "propagate", "terms"]

_BLOCKS = 64  # fixed, so that work is divided alike for any number of threads


@dataclass(frozen=True)
class Term:
    """What one matched neighbour pair (a, b) adds to L(u, v); -1 stands for "nobody": a miss or the prior."""

    a: int
    b: int
    belief: float
    weight: float


@dataclass(frozen=True)
class Evidence:
    """Log-odds of candidate pairs, the beliefs they stand on, and how the rounds went.

    `log_odds` n_1 × n_2 sparse; `support` the beliefs that the last round heard, so that `terms` adds up to
    `log_odds`; `beliefs` what follows from them; `assigned` marks the entries of `log_odds` in the best one-to-one
    assignment; `trace` the mean change of belief a round.
    """

    log_odds: csr_array
    support: csr_array
    beliefs: csr_array
    assigned: NDArray[np.bool_]
    s: float
    t: float
    rounds: int
    trace: tuple[float, ...]


def edge_rates(problem: Problem) -> tuple[float, float]:
    """(s, t) from the edges among the anchors, smoothed by one common edge in two."""
    left, right = problem.anchors.T
    on_left = problem.left.adjacency[left][:, left] != 0
    on_right = problem.right.adjacency[right][:, right] != 0
    common = on_left.multiply(on_right).nnz / 2
    return (common + 1) / (on_left.nnz / 2 + 2), (common + 1) / (on_right.nnz / 2 + 2)


def _with_anchors(problem: Problem, L: csr_array, belief: FloatArray, least: float) -> csr_array:
    """Beliefs of at least `least` beside the anchors' certainty."""
    kept = belief >= least
    rows = np.concatenate([owners(L)[kept], problem.anchors[:, 0]])
    columns = np.concatenate([L.indices[kept], problem.anchors[:, 1]])
    values = np.concatenate([belief[kept], np.ones(len(problem.anchors))])
    return csr_array((values, (rows, columns)), shape=L.shape)


def _one_round(problem: Problem, P: csr_array, rates: tuple[float, float], prior: csr_array, keep: int) -> csr_array:
    """L over the `keep` best candidates of each account of either side."""
    networks = (problem.left, problem.right)
    beliefs = (P, csr_array(P.T.tocsr()))
    priors = (prior, csr_array(prior.T.tocsr()))
    degrees = [network.degrees.astype(np.float64) for network in networks]
    rho = [np.minimum(belief.sum(axis=1), 1.0) for belief in beliefs]
    misses = [
        network.adjacency @ np.log1p(-mass * rate) for network, mass, rate in zip(networks, rho, rates, strict=True)
    ]
    taken = [np.zeros(network.n, np.bool_) for network in networks]
    for side in (0, 1):
        taken[side][problem.anchors[:, side]] = True
    found = []
    for near in (0, 1):
        far = 1 - near
        belief, edges, far_edges = beliefs[near], networks[near].adjacency, networks[far].adjacency
        start = np.concatenate([[0], np.cumsum(degrees[far][belief.indices])]).astype(np.int64)[belief.indptr]
        columns = np.empty(start[-1], np.int32)
        values = np.empty(start[-1], np.float32)
        lengths = np.zeros(networks[near].n, np.int64)
        say(
            belief.indptr, belief.indices, belief.data,
            far_edges.indptr, far_edges.indices, degrees[far], float(far_edges.nnz),
            rates[near], start, columns, values, lengths, _BLOCKS,
        )  # fmt: skip
        best = np.empty((networks[near].n, keep), np.int64)
        score = np.empty((networks[near].n, keep))
        hear(
            edges.indptr, edges.indices, degrees[near], float(edges.nnz), rates[far],
            belief.indptr, belief.indices, belief.data,
            far_edges.indptr, far_edges.indices, rho[far],
            start, columns, values, lengths, misses[near], misses[far], taken[near], taken[far],
            priors[near].indptr, priors[near].indices, priors[near].data,
            best, score, _BLOCKS,
        )  # fmt: skip
        row, place = np.nonzero(best >= 0)
        pair = (row, best[row, place]) if near == 0 else (best[row, place], row)
        found.append((*pair, score[row, place]))
    width = problem.right.n
    keys = np.concatenate([left * width + right for left, right, _ in found])
    keys, first = np.unique(keys, return_index=True)
    L = np.concatenate([score for _, _, score in found])[first]
    if len(problem.rejected):
        ruled_out = np.isin(keys, problem.rejected[:, 0] * width + problem.rejected[:, 1])
        keys, L = keys[~ruled_out], L[~ruled_out]
    return csr_array((L, (keys // width, keys % width)), shape=P.shape)


def propagate(problem: Problem, config: EvidenceConfig, prior: csr_array | None = None) -> Evidence:
    """Repeat: hear the evidence of the believed pairs, believe the pairs that it speaks for.

    `prior` holds log-odds of pairs from elsewhere, n_1 × n_2; its pairs are candidates even without evidence.
    """
    shape = (problem.left.n, problem.right.n)
    prior = csr_array(shape, dtype=np.float64) if prior is None else prior.astype(np.float64)
    s, t = edge_rates(problem)
    P = _with_anchors(problem, csr_array(shape, dtype=np.float64), np.zeros(0), config.least_belief)
    trace: list[float] = []
    for turn in range(config.rounds):
        support = P
        last = turn == config.rounds - 1
        L = _one_round(problem, support, (s, t), prior, config.keep if last else config.candidates)
        belief = two_sided(L, config.temperature)
        P = _with_anchors(problem, L, belief, config.least_belief)
        trace.append(float(abs(P - support).sum() / max(sum(shape) / 2, 1)))
    return Evidence(L, support, P, matched(L), s, t, config.rounds, tuple(trace))


def terms(problem: Problem, evidence: Evidence, u: int, v: int) -> list[Term]:
    """The terms that add up to L(u, v) without the prior: matched neighbours by weight, then misses.

    A hit of `a` in several b is shared out by their parts of the mean likelihood ratio. A neighbour that hits nobody
    is a miss, with -1 in the other place. Works for any pair, also one that is no candidate.
    """
    weight: dict[tuple[int, int], float] = {}
    belief: dict[tuple[int, int], float] = {}
    views = (
        (problem.left, problem.right, evidence.support, evidence.s, u, v, False),
        (problem.right, problem.left, csr_array(evidence.support.T.tocsr()), evidence.t, v, u, True),
    )
    for near, far, P, hit, here, there, swapped in views:
        neighbours = _row(near.adjacency, here)[0]
        far_neighbours = set(_row(far.adjacency, there)[0].tolist())
        ends = float(far.adjacency.nnz)
        for a in neighbours.tolist():
            partners, chance = _row(P, a)
            rho = min(float(chance.sum()), 1.0)
            parts = {}
            for b, mass in zip(partners.tolist(), chance.tolist(), strict=True):
                if b in far_neighbours:
                    ratio = max(hit * ends / (float(far.degrees[there]) * float(far.degrees[b])), LEAST_RATIO)
                    parts[b] = mass * (ratio - (1 - hit))
                    belief[(b, a) if swapped else (a, b)] = mass
            heard = sum(parts.values())
            total = 0.5 * float(np.log(1 - rho * hit + heard))
            if not parts and rho > 0:
                pair = (-1, a) if swapped else (a, -1)
                weight[pair] = weight.get(pair, 0.0) + total
                belief[pair] = rho
            for b, part in parts.items():
                pair = (b, a) if swapped else (a, b)
                weight[pair] = weight.get(pair, 0.0) + total * part / heard
    found = [Term(a, b, belief[a, b], weight[a, b]) for a, b in weight]
    return sorted(found, key=lambda term: (-term.weight, term.a, term.b))


def _row(matrix: csr_array, row: int) -> tuple[IntArray, FloatArray]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]
