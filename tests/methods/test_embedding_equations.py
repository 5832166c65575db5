"""The equations of methods that embed, each against loops on networks of a few accounts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from graphs import communities, random_network

from kedge.config import BaselineConfig
from kedge.methods import line
from kedge.methods.shared.skip_gram import biased_walks
from kedge.types import FloatArray, Network


def log_sigmoid(x: float) -> float:
    return -float(np.logaddexp(0, -x))


# LINE.


def line_objective(X: FloatArray, C: FloatArray, i: int, j: int, noise: list[int]) -> float:
    """log σ(x_i · c_j) + Σ_k log σ(-x_i · c_k), term by term."""
    total = log_sigmoid(sum(X[i, f] * C[j, f] for f in range(X.shape[1])))
    for k in noise:
        total += log_sigmoid(-sum(X[i, f] * C[k, f] for f in range(X.shape[1])))
    return total


@pytest.mark.parametrize("order", [1, 2])
def test_a_step_of_line_goes_up_the_gradient_of_its_objective(order: int) -> None:
    rng = np.random.default_rng(order)
    X = rng.normal(size=(4, 3)).astype(np.float32)
    C = X if order == 1 else rng.normal(size=(4, 3)).astype(np.float32)
    before = [X.astype(np.float64), C.astype(np.float64)]
    i, j, k, rate = 0, 2, 3, 1e-3
    line.ascend(X, C, np.array([[i, j]]), np.ones(1), np.full(8, k), 1, 2, rate, 0)
    for side, (moved, start) in enumerate(zip((X, C), before, strict=True)):
        for row, column in product(range(4), range(3)):
            values = []
            for change in (1e-5, -1e-5):
                tried = [start.copy(), before[1].copy()] if side == 0 else [before[0].copy(), start.copy()]
                tried[side][row, column] += change
                if order == 1:
                    tried = [tried[side]] * 2
                values.append(line_objective(tried[0], tried[1], i, j, [k, k]))
            slope = (values[0] - values[1]) / 2e-5
            assert (moved[row, column] - start[row, column]) / rate == pytest.approx(slope, abs=5e-3)


def test_line_raises_the_expected_objective_of_both_orders() -> None:
    """Σ over edges, with the expectation over noise taken by a loop over all accounts."""
    network = communities(30, 3, 0.5, 0.02, 1)
    A = network.adjacency.toarray()
    noise = network.degrees**0.75 / (network.degrees**0.75).sum()

    def expected(X: FloatArray, C: FloatArray) -> float:
        total = 0.0
        for i, j in np.argwhere(A):
            total += log_sigmoid(X[i] @ C[j])
            total += 3 * sum(noise[k] * log_sigmoid(-X[i] @ C[k]) for k in range(30) if k not in (i, j))
        return total

    ends = np.argwhere(A)
    shares = np.arange(1, len(ends) + 1) / len(ends)
    table = np.random.default_rng(0).choice(30, 4096, p=noise)
    for order in (1, 2):
        X = (np.random.default_rng(1).normal(size=(30, 8)) / 10).astype(np.float32)
        C = X if order == 1 else np.zeros((30, 8), np.float32)
        before = expected(X, C)
        line.ascend(X, C, ends, shares, table, 100 * len(ends), 3, 0.025, 0)
        assert expected(X, C) > before + 0.1 * abs(before)


def test_line_draws_edges_by_their_weight_and_joins_both_orders() -> None:
    """Of a path a - b - c the heavy edge is drawn, the light one hardly ever, so c stays where it began."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 4)).astype(np.float32)
    start = X.copy()
    shares = np.cumsum([1e6, 1e6, 1e-6, 1e-6])
    line.ascend(X, X, np.array([[0, 1], [1, 0], [1, 2], [2, 1]]), shares / shares[-1], np.zeros(4, int), 500, 1, 0.1, 0)
    assert np.abs(X[:2] - start[:2]).max() > 0.1
    np.testing.assert_array_equal(X[2], start[2])
    Y = line.line_vectors(Network.from_edges([(0, 1), (1, 2)], 4), BaselineConfig(dimensions=5, passes=5), 0)
    np.testing.assert_allclose(np.linalg.norm(Y.reshape(4, 2, 5), axis=2), [[1, 1]] * 3 + [[0, 0]], rtol=1e-6)


# node2vec.


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (50.0, 1.0), (1.0, 0.02)])
def test_steps_of_node2vec_have_the_probabilities_of_the_paper(p: float, q: float) -> None:
    network = random_network(7, 0.5, 3)
    A = network.adjacency.toarray() > 0
    walks = biased_walks(network.adjacency.indptr, network.adjacency.indices, 60, 1500, p, q, 1)
    counts = np.zeros((7, 7, 7))
    for t, v, x in zip(walks[:, :-2].ravel(), walks[:, 1:-1].ravel(), walks[:, 2:].ravel(), strict=True):
        if x >= 0:
            counts[t, v, x] += 1
    for t, v in np.argwhere(A):
        weight = np.zeros(7)
        for x in np.flatnonzero(A[v]):
            weight[x] = 1 / p if x == t else 1.0 if A[t, x] else 1 / q
        expected, seen = weight / weight.sum(), counts[t, v].sum()
        assert seen > 1000
        error = np.sqrt(expected * (1 - expected) / seen)
        assert (np.abs(counts[t, v] / seen - expected) <= 5 * error).all()


def test_walks_of_node2vec_follow_edges_and_stop_only_where_there_are_none() -> None:
    network = Network.from_edges([(0, 1), (1, 2), (2, 3), (4, 5)], 7)
    walks = biased_walks(network.adjacency.indptr, network.adjacency.indices, 9, 3, 0.01, 100.0, 0)
    assert sorted(walks[:, 0]) == sorted(list(range(7)) * 3)
    A = network.adjacency.toarray()
    for walk in walks:
        if walk[0] == 6:
            assert (walk[1:] == -1).all()
        else:
            assert all(A[u, v] for u, v in pairwise(walk))
