"""FAQ against its equations, cell by cell, on networks of a few accounts."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from graphs import random_network
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.methods import faq
from kedge.types import Problem


def agreeing(A: Any, B: Any, P: Any) -> float:
    """tr(A P B Pᵀ), cell by cell: edges on both sides, weighed by P."""
    n = len(A)
    cells = range(n)
    return sum(A[i, j] * P[j, k] * B[k, m] * P[i, m] for i, j, k, m in product(cells, repeat=4))


def frank_wolfe(A: Any, B: Any, between: Any, rounds: int = 30, still: float = 0.001) -> Any:
    """The last doubly stochastic P: every assignment by trying all permutations, every step by trying many."""
    n = len(A)
    P = np.full((n, n), 1 / n)

    def objective(M: Any) -> Any:
        return (between * M).sum() + agreeing(A, B, M)

    for _ in range(rounds):
        G = np.zeros((n, n))
        for i, j in product(range(n), repeat=2):
            G[i, j] = between[i, j] + 2 * sum(A[i, k] * P[k, m] * B[m, j] for k, m in product(range(n), repeat=2))
        best = max(permutations(range(n)), key=lambda order: sum(G[i, j] for i, j in enumerate(order)))
        Q = np.eye(n)[list(best)]
        steps = np.linspace(0, 1, 401)
        step = steps[int(np.argmax([objective(P + t * (Q - P)) for t in steps]))]
        moved = step * (Q - P)
        P = P + moved
        if np.linalg.norm(moved) / np.sqrt(n) < still:
            break
    return P


def weighted(n: int, seed: int) -> Any:
    """A network with weights, so that no two assignments tie."""
    rng = np.random.default_rng(seed)
    M = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.7), 1)
    return M + M.T


@pytest.mark.parametrize("seed", range(3))
def test_the_matching_is_where_frank_and_wolfe_end(seed: Any) -> None:
    n = 5
    A, B = weighted(n, seed), weighted(n, seed + 50)
    seeds = np.random.default_rng(seed).random((n, n))
    P = frank_wolfe(A, B, 2 * seeds)
    order = max(permutations(range(n)), key=lambda rows: sum(P[i, j] for i, j in enumerate(rows)))
    G, agrees = faq._frank_wolfe(csr_array(A), csr_array(B), csr_array(seeds), 30)
    Q = np.eye(n)[list(order)]
    assert agrees == pytest.approx(2 * (seeds * Q).sum() + agreeing(A, B, Q), rel=1e-5)
    assert G.argmax(axis=1).tolist() == list(order)
    # Behind the matched pair stands the gradient at the matching.
    for i, j in product(range(n), repeat=2):
        expected = 2 * seeds[i, j] + 2 * sum(A[i, k] * B[order[k], j] for k in range(n))
        if j != order[i]:
            assert G[i, j] == pytest.approx(expected, rel=1e-5)


def test_the_line_search_never_loses_edges() -> None:
    """From an isomorphic pair with half of its accounts known every edge is found again."""
    network = random_network(24, 0.3, 3)
    truth = np.column_stack([np.arange(24)] * 2)
    found = faq.align(Problem(network, network, truth[:12]), Config(), 0)
    best, _ = found.top(np.arange(24), 1)
    A = network.adjacency.toarray()
    assert A[np.ix_(best[:, 0], best[:, 0])][A > 0].all()


def test_seeds_count_by_the_edges_to_them() -> None:
    """A_us B_usᵀ: how many anchors two free accounts both neighbour."""
    p = Problem(random_network(9, 0.4, 1), random_network(8, 0.4, 2), [(0, 3), (4, 1), (6, 7)])
    rng = np.random.default_rng(0)
    left, A_seeds, A = faq._split(p.left, p.anchors[:, 0], rng)
    right, B_seeds, _ = faq._split(p.right, p.anchors[:, 1], rng)
    dense = p.left.adjacency.toarray(), p.right.adjacency.toarray()
    between = csr_array(A_seeds @ B_seeds.T).toarray()
    for i, j in product(range(len(left)), range(len(right))):
        assert between[i, j] == sum(dense[0][left[i], a] * dense[1][right[j], b] for a, b in p.anchors)
    assert (A.toarray() == dense[0][np.ix_(left, left)]).all()
