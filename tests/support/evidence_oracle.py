"""Evidence propagation as its docstring states it, loop by loop over dense matrices."""

from __future__ import annotations

import math

import numpy as np

from kedge.evidence.model import fit_degree_prior
from kedge.types import Problem


def rates(problem: Problem) -> tuple[float, float]:
    A, B = problem.left.adjacency.toarray() != 0, problem.right.adjacency.toarray() != 0
    left = right = common = 0
    for i, (a, b) in enumerate(problem.anchors):
        for c, d in problem.anchors[:i]:
            left += A[a, c]
            right += B[b, d]
            common += A[a, c] and B[b, d]
    return (common + 1) / (left + 2), (common + 1) / (right + 2)


def log_odds(problem: Problem, P: np.ndarray) -> np.ndarray:
    """L(u, v) of every pair, from beliefs P."""
    s, t = rates(problem)
    A, B = problem.left.adjacency.toarray() != 0, problem.right.adjacency.toarray() != 0
    d, e = A.sum(axis=1), B.sum(axis=1)
    degree_prior = fit_degree_prior(problem)
    L = np.zeros(P.shape)
    for u in range(len(A)):
        for v in range(len(B)):
            total = 0.0
            for a in np.flatnonzero(A[u]):
                mean = 1 - s * min(P[a].sum(), 1)
                for b in np.flatnonzero(B[v]):
                    x = e[v] * e[b] / B.sum()
                    mean += P[a, b] * (max(s / (x / (1 + x)), 1.05) - (1 - s))
                total += math.log(mean) / 2
            for b in np.flatnonzero(B[v]):
                mean = 1 - t * min(P[:, b].sum(), 1)
                for a in np.flatnonzero(A[u]):
                    x = d[u] * d[a] / A.sum()
                    mean += P[a, b] * (max(t / (x / (1 + x)), 1.05) - (1 - t))
                total += math.log(mean) / 2
            L[u, v] = total + degree_prior.ratio(u, v)
    return L


def beliefs(problem: Problem, L: np.ndarray, reached: np.ndarray, temperature: float) -> np.ndarray:
    """Two-sided softmax over the reached pairs of accounts that are not anchored."""
    n, m = L.shape
    open_pair = reached.copy()
    for u, v in problem.anchors:
        open_pair[u, :] = False
        open_pair[:, v] = False
    weight = np.where(open_pair, np.exp(L / temperature), 0)
    P = np.zeros(L.shape)
    for u in range(n):
        for v in range(m):
            if open_pair[u, v]:
                forth = weight[u, v] / (weight[u].sum() + m)
                back = weight[u, v] / (weight[:, v].sum() + n)
                P[u, v] = math.sqrt(forth * back)
    return P


def propagate(problem: Problem, rounds: int, first: float, last: float, least: float) -> np.ndarray:
    """L after all rounds, with every reached pair a candidate; -inf elsewhere."""
    A = (problem.left.adjacency.toarray() != 0).astype(int)
    B = (problem.right.adjacency.toarray() != 0).astype(int)
    P = np.zeros((len(A), len(B)))
    for u, v in problem.anchors:
        P[u, v] = 1
    certain = P.copy()
    for turn in range(rounds):
        reached = A @ (P > 0) @ B > 0
        L = log_odds(problem, P)
        cold = rounds - round(rounds / 3)
        heat = (first / last) ** max(1 - turn / cold, 0)
        Q = beliefs(problem, L, reached, last * heat)
        fresh = certain + np.where(least <= Q, Q, 0)
        if turn >= max(cold - 2, 1):
            fresh = (fresh + P) / 2
            fresh[fresh < least] = 0
        P = fresh
    for u, v in problem.anchors:
        reached[u, :] = False
        reached[:, v] = False
    return np.where(reached, L, -np.inf)
