"""Seeded graph matching by FAQ (Vogelstein et al., PLOS ONE 2015; seeds: Fishkind et al., Pattern Recognition 2019).

Maximises the edges that agree, tr(A P B Pᵀ) with anchors fixed, over doubly stochastic P by Frank and Wolfe's steps
from the barycentre: the gradient G = 2 (A_us B_us' + A_uu P B_uu), the permutation Q that maximises <G, Q> by linear
assignment, the best step between P and Q; until P moves less than 0.001 (scipy: 0.03), 30 steps at
most; then one permutation.

Deviations: networks of unequal size are matched as if the smaller were padded by accounts without edges, so that some
accounts of the larger one stay free; accounts are shuffled by the seed first, since assignment decides between equals
by their order, and of three shuffles the one with most agreeing edges is kept (the paper starts anew from drawn
matrices); the result ranks pairs by the gradient at the final matching, matched pairs first.

Cost: the assignment, up to n^3 and mostly far below; A Q B is a sparse product. Memory four n_1 × n_2 matrices of
float32 and one of float64, refused above `baselines.dense_cells`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory
from kedge.linalg import SparseAlignment, pattern
from kedge.methods.shared.pairs import keep_best
from kedge.types import FloatArray, IntArray, Network, Problem

_STILL = 0.001  # how little P moves at the end; scipy has 0.03
_ORDERS = 3  # shuffles tried; unmeasured


def _split(network: Network, anchored: IntArray, rng: np.random.Generator) -> tuple[IntArray, csr_array, csr_array]:
    """The free accounts in a drawn order, their edges to the anchored ones, and those among themselves."""
    free = rng.permutation(np.setdiff1d(np.arange(network.n), anchored))
    A = pattern(csr_array(network.adjacency[free]), np.float32)
    return free, csr_array(A[:, anchored]), csr_array(A[:, free])


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """Pairs by the gradient at the matching that was found; `seed` decides between equals."""
    reuse_freed_memory()
    rng = np.random.default_rng(config.seed)
    S, most = np.zeros((problem.left.n, problem.right.n), np.float32), -1.0
    for _ in range(_ORDERS):
        left, A_seeds, A = _split(problem.left, problem.anchors[:, 0], rng)
        right, B_seeds, B = _split(problem.right, problem.anchors[:, 1], rng)
        if len(left) and len(right):
            G, agreeing = _frank_wolfe(A, B, csr_array(A_seeds @ B_seeds.T), config.baselines.rounds)
            if agreeing > most:
                S[np.ix_(left, right)], most = G, agreeing
    return keep_best(problem, S, config.baselines.keep)


def _frank_wolfe(A: csr_array, B: csr_array, seeds: csr_array, rounds: int) -> tuple[FloatArray, float]:
    """The gradient at the final matching, with matched pairs above all others, [n_1, n_2]; and how well it does.

    The second is what is maximised: twice the edges that agree, those between anchors aside.
    """
    n1, n2 = A.shape[0], B.shape[0]
    between = 2 * seeds.toarray()
    P = np.full((n1, n2), 1 / max(n1, n2), np.float32)
    APB = np.outer(A.sum(axis=1), B.sum(axis=0)).astype(np.float32) / max(n1, n2)
    for _ in range(rounds):
        G = between + 2 * APB
        rows, columns = linear_sum_assignment(G, maximize=True)
        AQB = csr_array(A[:, rows] @ B[columns])
        # f(P + t (Q - P)) = f(P) + t <G, Q - P> + t^2 <A (Q - P) B, Q - P>
        slope = float(G[rows, columns].sum(dtype=np.float64) - np.vdot(G, P))
        moved = AQB.toarray() - APB
        bend = float(moved[rows, columns].sum(dtype=np.float64) - np.vdot(moved, P))
        step = 1.0 if bend >= 0 else min(1.0, -slope / (2 * bend))
        if slope <= 0:
            break
        # |Q - P|^2, where Q has a 1 for each of its pairs
        length = len(rows) - 2 * float(P[rows, columns].sum(dtype=np.float64)) + float(np.vdot(P, P))
        P *= 1 - step
        P[rows, columns] += step
        APB += step * moved
        if step * np.sqrt(length / len(rows)) < _STILL:
            break
    rows, columns = linear_sum_assignment(P, maximize=True)
    around = csr_array(A[:, rows] @ B[columns]).toarray()
    agreeing = float((between + around)[rows, columns].sum(dtype=np.float64))
    G = between + 2 * around
    G[rows, columns] += G.max() + 1
    gradient: FloatArray = G
    return gradient, agreeing
