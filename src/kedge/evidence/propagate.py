"""Evidence propagation: a matched pair of neighbours is evidence for a pair of accounts, a missing edge against it.

With s = P(edge on the right | edge on the left, ends matched), t its mirror, chance rates p(u, a) = x / (1 + x) for
x = d_u d_a / 2m_1 and q(v, b) likewise, beliefs P(a, b) (anchors: 1), rho(a) = sum_b P(a, b) at most 1:

    left(u, v)  = sum_{a in N(u)} log(1 - s rho(a) + sum_{b in N(v)} P(a, b) (s / q(v, b) - (1 - s)))
    right(u, v) = sum_{b in N(v)} log(1 - t rho(b) + sum_{a in N(u)} P(a, b) (t / p(u, a) - (1 - t)))
    L(u, v)     = (left + right) / 2 + degree_prior(u, v) + prior(u, v)

A term is the log of the mean likelihood ratio over where a neighbour's partner may be, with ratio 1 for "nowhere": an
uncertain neighbour counts little, whatever it misses. Averaging the two views counts a common edge once by the
geometric mean of its two ratios, and each missing edge half. Temperature falls from round to round (schedule.py), so
that early rounds, which have only the evidence of the anchors, do not decide what later rounds estimate better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.alignment import VectorAlignment
from kedge.config import EvidenceConfig
from kedge.evidence.beliefs import matched, two_sided
from kedge.evidence.degree_prior import DegreePrior, fit_degree_prior
from kedge.evidence.kernels import LEAST_RATIO
from kedge.evidence.locality import nearby_order, renumber, reorder
from kedge.evidence.round import Model, one_round
from kedge.evidence.schedule import schedule
from kedge.linalg import row_index, with_data
from kedge.types import FloatArray, IntArray, Problem

_CACHED = 50_000  # accounts of both networks up to which their order does not matter
_FREE_WORK = 2e8  # below this a round takes a second or two, and nothing is left out


@dataclass(frozen=True)
class Term:
    """What one matched neighbour pair (a, b) adds to L(u, v); -1 stands for no account: a miss or the prior."""

    a: int
    b: int
    belief: float
    weight: float


@dataclass(frozen=True)
class Evidence:
    """Log-odds of candidate pairs, the beliefs they stand on, and how the rounds went.

    `log_odds` n_1 × n_2 sparse; `support` the beliefs that entered the last round, so that `terms` adds up to
    `log_odds`; `beliefs` what follows from them, in the same entries; `assigned` marks the entries in the best
    one-to-one assignment; `trace` the mean change of belief per round; `prior` the log-odds from elsewhere, if any;
    `mixed` what takes the place of the log-odds in the order of candidates, if anything does (mixture.py); `vectors`
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


def _with_anchors(problem: Problem, L: csr_array, belief: FloatArray, least: float) -> csr_array:
    """Beliefs of at least `least` beside the anchors' certainty."""
    kept = belief >= least
    rows = np.concatenate([row_index(L)[kept], problem.anchors[:, 0]])
    columns = np.concatenate([L.indices[kept], problem.anchors[:, 1]])
    values = np.concatenate([belief[kept], np.ones(len(problem.anchors))])
    return csr_array((values, (rows, columns)), shape=L.shape)


def _damped(P: csr_array, before: csr_array, share: float, least: float) -> csr_array:
    """`share` of the beliefs before and the rest of the new ones, without what is then under `least`."""
    if share == 0:
        return P
    mixed = csr_array((1 - share) * P + share * before)
    mixed.data[mixed.data < least] = 0
    mixed.eliminate_zeros()
    return mixed


def _affordable(problem: Problem, P: csr_array, work: float) -> csr_array:
    """P without the beliefs between the largest hubs, where more messages than `work` would be sent.

    A pair (a, b) sends messages to d_a d_b pairs; the more there are, the less each of them counts.
    """
    rows = row_index(P)
    cost = problem.left.degrees[rows] * problem.right.degrees[P.indices]
    if cost.sum() <= work:
        return P
    order = np.argsort(cost / P.data, kind="stable")
    kept = np.sort(order[np.cumsum(cost[order]) <= work])
    return csr_array((P.data[kept], (rows[kept], P.indices[kept])), shape=P.shape)


def propagate(problem: Problem, config: EvidenceConfig, prior: csr_array | None = None) -> Evidence:
    """Repeat: send the evidence of the believed pairs to their neighbours, and renew the beliefs.

    `prior` holds log-odds of pairs from elsewhere, n_1 × n_2; its pairs are candidates even without evidence. Networks
    that the cache does not hold are worked on in an order that spares it (locality.py); only between equals, where
    numbers decide, does that change anything.
    """
    if problem.left.n + problem.right.n <= _CACHED:
        return _propagate(problem, config, prior)
    left, right = nearby_order(problem.left), nearby_order(problem.right)
    moved = None if prior is None else reorder(prior, left, right)[0]
    made = _propagate(renumber(problem, left, right), config, moved)
    back = np.argsort(left), np.argsort(right)
    log_odds, entries = reorder(made.log_odds, *back)
    return replace(
        made,
        log_odds=log_odds,
        support=reorder(made.support, *back)[0],
        beliefs=with_data(log_odds, made.beliefs.data[entries]),
        assigned=made.assigned[entries],
        degree_prior=made.degree_prior.of_accounts(*back),
        prior=prior,
    )


def _propagate(problem: Problem, config: EvidenceConfig, prior: csr_array | None) -> Evidence:
    shape = (problem.left.n, problem.right.n)
    given = prior
    prior = csr_array(shape, dtype=np.float64) if prior is None else prior.astype(np.float64)
    s, t = edge_rates(problem)
    degree_prior = fit_degree_prior(problem)
    model = Model((s, t), degree_prior, prior)
    P = _with_anchors(problem, csr_array(shape, dtype=np.float64), np.zeros(0), config.least_belief)
    work = max(_FREE_WORK, config.work * (problem.left.edges + problem.right.edges))
    rounds = schedule(problem, config.rounds, config.least_rounds, config.first_temperature, config.temperature)
    trace: list[float] = []
    for turn, this in enumerate(rounds, 1):
        before = P
        support = _affordable(problem, P, work)
        keep = config.keep if turn == len(rounds) else config.candidates
        L = one_round(problem, support, model, keep)
        belief = two_sided(L, this.temperature)
        P = _damped(_with_anchors(problem, L, belief, config.least_belief), before, this.kept, config.least_belief)
        trace.append(float(abs(P - before).sum() / max(sum(shape) / 2, 1)))
    beliefs = with_data(L, belief)
    return Evidence(L, support, beliefs, matched(L), degree_prior, s, t, len(rounds), tuple(trace), given)


def terms(problem: Problem, evidence: Evidence, u: int, v: int) -> list[Term]:
    """The terms that add up to L(u, v) without an outer prior: matched neighbours by weight, then misses.

    A hit of `a` in several b is shared out by their parts of the mean likelihood ratio. A neighbour without a hit
    is a miss, with -1 in the other place; the degree prior has -1 in both. Works for any pair,
    also one that is no candidate.
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
            partners, masses = _row(P, a)
            rho = min(float(masses.sum()), 1.0)
            parts = {}
            for b, mass in zip(partners.tolist(), masses.tolist(), strict=True):
                if b in far_neighbours:
                    rarity = ends / (float(far.degrees[there]) * float(far.degrees[b]))
                    ratio = max(hit * (1 + rarity), LEAST_RATIO)
                    parts[b] = mass * (ratio - (1 - hit))
                    belief[(b, a) if swapped else (a, b)] = mass
            received = sum(parts.values())
            total = 0.5 * float(np.log(1 - rho * hit + received))
            if not parts and rho > 0:
                pair = (-1, a) if swapped else (a, -1)
                weight[pair] = weight.get(pair, 0.0) + total
                belief[pair] = rho
            for b, part in parts.items():
                pair = (b, a) if swapped else (a, b)
                weight[pair] = weight.get(pair, 0.0) + total * part / received
    found = [Term(a, b, belief[a, b], weight[a, b]) for a, b in weight]
    found.append(Term(-1, -1, 1.0, evidence.degree_prior.ratio(u, v)))
    return sorted(found, key=lambda term: (-term.weight, term.a, term.b))


def _row(matrix: csr_array, row: int) -> tuple[IntArray, FloatArray]:
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]
