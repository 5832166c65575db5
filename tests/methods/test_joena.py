"""JOENA's steps against loops over cells, on networks of a few accounts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, product
from typing import Any

import numpy as np
import pytest
import torch
from graphs import random_network

from kedge.config import Config
from kedge.linalg import pattern
from kedge.linalg.spmm import Rows
from kedge.methods import joena
from kedge.methods.shared.spread import walk_from
from kedge.types import Network, Problem

N, M = 7, 6
WEIGHT, THRESHOLD, ENTROPY = 2.0, 0.4 / (N * M), 0.2
LEFT, RIGHT = random_network(N, 0.5, 1), random_network(M, 0.5, 2)
A1, A2 = (network.adjacency.toarray() > 0 for network in (LEFT, RIGHT))


def dense(cost: Rows) -> np.ndarray:
    n = len(cost.offsets) - 1
    found = np.zeros((n, n))
    for i in range(n):
        for place in range(int(cost.offsets[i]), int(cost.offsets[i + 1])):
            found[i, int(cost.indices[place])] = float(cost.values[place])
    return found


@pytest.fixture
def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(0)
    return tuple(torch.from_numpy(rng.normal(size=(n, 4)).astype(np.float32) / 2) for n in (N, M))  # type: ignore[return-value]


@pytest.fixture
def costs(vectors: tuple[torch.Tensor, torch.Tensor]) -> Any:
    edges = [Rows.of(pattern(network.adjacency)) for network in (LEFT, RIGHT)]
    return joena._costs(*vectors, edges)


def plan(seed: int = 3) -> np.ndarray:
    S = np.random.default_rng(seed).random((N, M))
    return S / S.sum()


def quadratic(C1: np.ndarray, C2: np.ndarray, S: np.ndarray) -> float:
    """Σ (C_1(i, k) - C_2(j, l))^2 S_ij S_kl, four loops."""
    cells = list(product(range(N), range(M)))
    return float(sum((C1[i, k] - C2[j, m]) ** 2 * S[i, j] * S[k, m] for i, j in cells for k, m in cells))


def objective(C: np.ndarray, C1: np.ndarray, C2: np.ndarray, S: np.ndarray) -> float:
    return float((C * S).sum()) + WEIGHT * quadratic(C1, C2, S)


def test_walks_restart_at_their_anchor() -> None:
    anchored = np.array([0, 4])
    P = np.array([[A1[k, i] / max(A1[i].sum(), 1) for i in range(N)] for k in range(N)])  # column i: the steps from i
    expected = np.linalg.solve(np.eye(N) - 0.85 * P, 0.15 * np.eye(N)[:, anchored])
    np.testing.assert_allclose(walk_from(LEFT, anchored).numpy(), expected, atol=1e-5)


def test_costs_are_across_all_pairs_and_within_edges_only(vectors: Any, costs: Any) -> None:
    X, Y = (V.numpy() for V in vectors)
    for i, j in product(range(N), range(M)):
        assert float(costs.across[i, j]) == pytest.approx(np.exp(-float(X[i] @ Y[j])), rel=1e-5)
    for A, V, cost in ((A1, X, costs.left), (A2, Y, costs.right)):
        found = dense(cost)
        for i, k in product(range(len(V)), repeat=2):
            assert found[i, k] == pytest.approx(np.exp(-float(V[i] @ V[k])) if A[i, k] else 0.0, rel=1e-5)


def test_the_linear_cost_is_half_the_slope_of_the_quadratic_part(costs: Any) -> None:
    """C + w L(Ŝ), where 2 L is the derivative of the quadratic form of a symmetric pair of costs."""
    C, C1, C2 = costs.across.numpy(), dense(costs.left), dense(costs.right)
    S = plan()
    found = joena._linearised(costs, torch.from_numpy(S.astype(np.float32)), WEIGHT, THRESHOLD).numpy()
    for i, j in product(range(N), range(M)):
        cells = product(range(N), range(M))
        L = sum((C1[i, k] ** 2 + C2[j, m] ** 2 - 2 * C1[i, k] * C2[j, m]) * (S[k, m] - THRESHOLD) for k, m in cells)
        assert found[i, j] == pytest.approx(C[i, j] + WEIGHT * L, rel=1e-4)


def test_the_plan_is_that_of_ten_linear_problems_with_sinkhorns_scaling(
    costs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joena, "_BLOCK", 2 * M)  # several blocks of rows
    found = joena._transport(costs, WEIGHT, THRESHOLD, ENTROPY).numpy()
    C, C1, C2 = costs.across.numpy(), dense(costs.left), dense(costs.right)
    S, g = np.full((N, M), 1 / (N * M)), np.zeros(M)
    for _ in range(10):
        Q = np.zeros((N, M))
        for i, j in product(range(N), range(M)):
            cells = product(range(N), range(M))
            Q[i, j] = C[i, j] + WEIGHT * sum((C1[i, k] - C2[j, m]) ** 2 * (S[k, m] - THRESHOLD) for k, m in cells)
        K = np.exp(-Q / ENTROPY)
        for _ in range(5):
            f = np.array([-np.log(sum(K[i, j] * np.exp(g[j]) for j in range(M))) - np.log(N) for i in range(N)])
            g = np.array([-np.log(sum(K[i, j] * np.exp(f[i]) for i in range(N))) - np.log(M) for j in range(M)])
        S = 0.05 * S + 0.95 * K * np.exp(f)[:, None] * np.exp(g)
    np.testing.assert_allclose(found, S, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=0), 1 / M, rtol=1e-3)


def test_the_best_threshold_is_where_the_objective_is_least(costs: Any) -> None:
    C, C1, C2 = costs.across.numpy(), dense(costs.left), dense(costs.right)
    S = plan()
    best = joena._best_threshold(costs, torch.from_numpy(S.astype(np.float32)), WEIGHT)
    reached = objective(C, C1, C2, S - best)
    assert all(reached < objective(C, C1, C2, S - (best + step)) for step in (-0.01, 0.01))


def test_the_gradient_is_the_change_of_the_objective(vectors: Any, costs: Any) -> None:
    S = plan() - THRESHOLD

    def at(X: np.ndarray, Y: np.ndarray) -> float:
        C1, C2 = (np.exp(-(V @ V.T)) * A for V, A in ((X, A1), (Y, A2)))
        return objective(np.exp(-(X @ Y.T)), C1, C2, S)

    X, Y = (V.numpy().astype(float) for V in vectors)
    of_left, of_right = joena._slopes(*vectors, costs, torch.from_numpy(S.astype(np.float32)), WEIGHT)
    for i, c in ((0, 0), (3, 2), (6, 3)):
        for V, found, network in ((X, of_left, LEFT), (Y, of_right, RIGHT)):
            row = i % network.n
            step = np.zeros_like(V)
            step[row, c] = 1e-4
            moved = [at(X + s * step, Y) if V is X else at(X, Y + s * step) for s in (1, -1)]
            assert float(found[row, c]) == pytest.approx((moved[0] - moved[1]) / 2e-4, rel=1e-3, abs=1e-5)


def test_a_network_without_edges_has_a_threshold() -> None:
    empty = Rows.of(pattern(Network.from_edges([], 3).adjacency))
    costs = joena._costs(torch.eye(3), torch.eye(3), [empty, empty])
    assert joena._best_threshold(costs, torch.full((3, 3), 1 / 9), WEIGHT) == 0.0


def test_few_anchors_choose_nothing_and_many_choose_the_epoch_that_ranks_them_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = random_network(60, 0.1, 3)
    anchors = np.column_stack([np.arange(60)] * 2)
    right, wrong = torch.eye(60), torch.eye(60).flip(0).contiguous()
    seen = []

    def plans(problem: Problem, _seed: int, setting: Any) -> Iterator[torch.Tensor]:
        """Only the third epoch of the second setting is right; validation anchors are removed."""
        assert len(problem.anchors) == 44
        for epoch in count(1):
            seen.append((setting, epoch))
            yield right if (setting, epoch) == (joena.SETTINGS[1], 3) else wrong

    monkeypatch.setattr(joena, "_plans", plans)
    assert joena._choose(Problem(network, network, anchors[:40]), Config()) == joena.SETTINGS[0]
    assert seen == []
    chosen = joena._choose(Problem(network, network, anchors[:55]), Config())
    assert chosen == replace(joena.SETTINGS[1], epochs=3)
    assert [epoch for _, epoch in seen] == [*range(1, 7), *range(1, 9)], "five epochs without a gain end a trial"


def test_large_networks_have_fewer_epochs() -> None:
    few, many = (Problem(Network.from_edges([], n), Network.from_edges([], n), [(0, 0)]) for n in (1000, 3000))
    config = Config()
    assert [joena._epochs(few, config, setting) for setting in joena.SETTINGS] == [100, 15]
    assert [joena._epochs(many, config, setting) for setting in joena.SETTINGS] == [22, 15]
    short = config.model_copy(update={"baselines": config.baselines.model_copy(update={"steps": 3})})
    assert joena._epochs(many, short, joena.SETTINGS[0]) == 3
