"""PARROT's four steps against loops over cells, on networks of a few accounts."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from graphs import communities, random_network
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.linalg import SparseAlignment
from kedge.methods import parrot
from kedge.types import Problem

N, M = 7, 6
PHONE_EMAIL = parrot.SETTINGS[0]


@pytest.fixture
def problem() -> Problem:
    return Problem(random_network(N, 0.5, 1), random_network(M, 0.5, 2), [(0, 3), (4, 1)])


def walk(network: Any) -> np.ndarray:
    A = network.adjacency.toarray() > 0
    return np.array([[A[i, j] / max(A[i].sum(), 1) for j in range(len(A))] for i in range(len(A))])


def positions(network: Any, anchored: Any) -> np.ndarray:
    """r = (1 - β) W r + β e solved, unit rows."""
    W, n = walk(network), network.n
    r = np.linalg.solve(np.eye(n) - 0.85 * W, 0.15 * np.eye(n)[:, anchored])
    return np.array([row / np.linalg.norm(row) if row.any() else row for row in r])


def made(problem: Problem) -> Any:
    walks = tuple(parrot._walk(network) for network in (problem.left, problem.right))
    places = tuple(parrot._positions(W, problem.anchors[:, side], PHONE_EMAIL) for side, W in enumerate(walks))
    anchors = tuple(torch.from_numpy(problem.anchors.copy()).T)
    return walks, places, anchors


def test_positions_solve_the_random_walk_with_restart(problem: Problem) -> None:
    _, places, _ = made(problem)
    for side, network in enumerate((problem.left, problem.right)):
        np.testing.assert_allclose(places[side].numpy(), positions(network, problem.anchors[:, side]), atol=1e-3)


def test_the_cost_is_spread_over_the_product_graph(problem: Problem) -> None:
    walks, places, anchors = made(problem)
    rounds, known = 3, {(int(u), int(v)) for u, v in problem.anchors}
    X, Y = (place.numpy().astype(float) for place in places)
    W1, W2 = walk(problem.left), walk(problem.right)
    C = np.zeros((N, M))
    for _ in range(rounds):
        before, C = C, np.zeros((N, M))
        for i, j in product(range(N), range(M)):
            if (i, j) in known:
                continue
            around = sum(W1[i, k] * before[k, m] * W2[j, m] for k, m in product(range(N), range(M)))
            own = 1.5 * np.exp(-float(X[i] @ Y[j]))  # positions stand in for the attributes of weight α = 0.5
            C[i, j] = (1 + 0.7 * 0.15) * own + 0.85 * 0.7 * around
    found = parrot._spread_cost(places, walks, anchors, PHONE_EMAIL, rounds)
    np.testing.assert_allclose(found.numpy(), (1 - 0.7) * C, rtol=1e-4, atol=1e-6)


def test_edges_cost_by_the_positions_of_their_ends(problem: Problem) -> None:
    _, places, _ = made(problem)
    found = parrot._edge_costs(problem.left, places[0]).toarray()
    A, X = problem.left.adjacency.toarray(), places[0].numpy()
    for i, j in product(range(N), repeat=2):
        assert found[i, j] == pytest.approx(np.exp(-float(X[i] @ X[j])) if A[i, j] else 0.0, rel=1e-5)


def test_the_plan_is_that_of_ten_proximal_points_with_sinkhorns_scaling(problem: Problem) -> None:
    """Weights are raised so that no exponential leaves the range of plain, unstabilised arithmetic."""
    strong = replace(PHONE_EMAIL, proximal=0.1, neighbours=0.2, preference=0.1, edges=0.05)
    walks, places, anchors = made(problem)
    cost = parrot._spread_cost(places, walks, anchors, PHONE_EMAIL, 5)
    edges = tuple(
        parrot._edge_costs(network, places[side]) for side, network in enumerate((problem.left, problem.right))
    )
    found = parrot._transport(cost.clone(), walks, edges, anchors, strong).numpy()
    E1, E2 = (E.toarray().astype(float) for E in edges)
    W1, W2 = walk(problem.left), walk(problem.right)
    known = {(int(u), int(v)) for u, v in problem.anchors}
    cells = list(product(range(N), range(M)))
    T = np.full((N, M), 1 / (N * M))
    kept, b = None, np.zeros(N)
    for _ in range(10):
        C = np.zeros((N, M))
        for i, j in cells:
            bent = 0.5 * (sum(E1[i] ** 2) / N + sum(E2[j] ** 2) / M)
            bent -= sum(E1[i, k] * T[k, m] * E2[j, m] for k, m in cells)
            near = sum(W1[i, k] * T[k, m] * W2[j, m] for k, m in cells)
            wish = 1 + 1 / M if (i, j) in known else 1 / M
            C[i, j] = cost[i, j] + 0.05 * N * M * bent - 0.2 * np.log(max(near, 1e-30)) - 0.1 * np.log(wish)
        if kept is not None and (T * C).sum() > (T * kept).sum():
            C = kept
        kept = C
        K = np.exp(-(C - 0.1 * np.log(T)) / (0.1 + 0.2 + 0.1))
        for _ in range(5):
            a = np.log(N) - np.log([sum(K[i, j] * np.exp(b[i]) for i in range(N)) for j in range(M)])
            b = np.log(M) - np.log([sum(K[i, j] * np.exp(a[j]) for j in range(M)) for i in range(N)])
        T = 0.05 * T + 0.95 * K * np.exp(b)[:, None] * np.exp(a)[None, :] / (N * M)
    np.testing.assert_allclose(found, np.log(T), rtol=1e-3, atol=1e-3)


def test_few_anchors_choose_nothing_and_many_choose_what_ranks_them_best(monkeypatch: pytest.MonkeyPatch) -> None:
    network = communities(60, 6, 0.5, 0.02, 3)
    anchors = np.column_stack([np.arange(60)] * 2)
    tried = []

    def align(problem: Problem, config: Config, setting: Any) -> Any:
        tried.append(setting)
        return _ranked(problem, setting)

    monkeypatch.setattr(parrot, "_align", align)
    assert parrot._choose(Problem(network, network, anchors[:40]), Config(), 0) == PHONE_EMAIL
    assert tried == []
    assert parrot._choose(Problem(network, network, anchors[:55]), Config(), 0) == parrot.SETTINGS[1]
    assert set(tried) == set(parrot.SETTINGS)


def _ranked(problem: Problem, setting: Any) -> SparseAlignment:
    """Scores under which the second setting finds all accounts and the first none; validation anchors are removed."""
    assert len(problem.anchors) == 44
    return SparseAlignment(csr_array(np.eye(60) if setting == parrot.SETTINGS[1] else np.eye(60)[::-1].copy()))
