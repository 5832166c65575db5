"""The equations of methods that embed, each against loops on networks of a few accounts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from graphs import communities, random_network
from scipy.linalg import eigh

from kedge.config import BaselineConfig
from kedge.errors import KedgeError
from kedge.methods import graph_factorisation, line, mds, spectral
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


# Laplacian eigenmaps.


def test_eigenmaps_solve_the_generalised_eigenproblem() -> None:
    """(D - A) y = λ D y and Yᵀ D Y = I, with the smallest λ that are not trivial, against a dense solver."""
    network = communities(40, 4, 0.5, 0.1, 2)
    A = network.adjacency.toarray().astype(np.float64)
    D = np.diag(A.sum(axis=1))
    Y = spectral.eigenmaps(network, 6, 0).astype(np.float64)
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(6), atol=1e-5)
    cost = np.zeros(6)  # 1/2 Σ_ij A_ij (y_i - y_j)^2
    for i, j in product(range(40), range(40)):
        cost += 0.5 * A[i, j] * (Y[i] - Y[j]) ** 2
    values = eigh(D - A, D, eigvals_only=True)
    np.testing.assert_allclose(cost, values[1:7], rtol=1e-4)
    np.testing.assert_allclose((D - A) @ Y, D @ Y * cost, atol=1e-4)


def test_eigenmaps_of_many_accounts_are_those_of_few_without_the_places_of_whole_components(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two = [(i, j) for i, j in np.argwhere(communities(60, 3, 0.4, 0.05, 1).adjacency.toarray())]
    network = Network.from_edges([*two, *((i + 60, j + 60) for i, j in two if i < 40 and j < 40)], 103)
    dense = spectral.eigenmaps(network, 5, 0).astype(np.float64)
    monkeypatch.setattr(spectral, "_DENSE", 0)
    lanczos = spectral.eigenmaps(network, 5, 0).astype(np.float64)
    np.testing.assert_allclose(lanczos @ lanczos.T, dense @ dense.T, atol=1e-5)
    d = network.degrees
    np.testing.assert_allclose([d[:60] @ dense[:60], d[60:] @ dense[60:]], 0, atol=1e-4)
    assert not dense[100:].any(), "accounts without edges"


# Multidimensional scaling.


def hops(network: Network, start: int) -> dict[int, int]:
    """The number of edges to each account that is reached, ring by ring."""
    A, found, ring = network.adjacency.toarray(), {start: 0}, [start]
    for distance in range(1, network.n):
        ring = [v for v in range(network.n) if v not in found and any(A[u, v] for u in ring)]
        found |= dict.fromkeys(ring, distance)
    return found


def test_distances_are_numbers_of_edges_and_one_more_between_components() -> None:
    network = random_network(14, 0.12, 3)
    rings = [hops(network, u) for u in range(14)]
    farthest = max(distance for ring in rings for distance in ring.values())
    found = mds.distances(network, np.arange(14))
    for u, v in product(range(14), range(14)):
        assert found[u, v] == rings[u].get(v, farthest + 1)


def test_scaling_returns_points_at_their_distances() -> None:
    """Also by landmarks, which is exact where the distances are those of points."""
    points = np.random.default_rng(0).normal(size=(30, 3))
    square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    for landmarks in (np.arange(30), np.array([2, 3, 5, 7, 11, 13, 17])):
        Y = mds.triangulate(square[landmarks], landmarks, 6)
        for i, j in product(range(30), range(30)):
            assert ((Y[i] - Y[j]) ** 2).sum() == pytest.approx(square[i, j], abs=1e-8)


def test_classical_scaling_is_the_doubly_centred_matrix_by_its_eigenvectors() -> None:
    network = communities(25, 2, 0.4, 0.1, 5)
    square = mds.distances(network, np.arange(25)) ** 2
    B = np.zeros((25, 25))
    for i, j in product(range(25), range(25)):
        B[i, j] = -0.5 * (square[i, j] - square[i].mean() - square[:, j].mean() + square.mean())
    values, V = np.linalg.eigh(B)
    expected = (V[:, -4:] * values[-4:]) @ V[:, -4:].T
    Y = mds.triangulate(square, np.arange(25), 4)
    np.testing.assert_allclose(Y @ Y.T, expected, atol=1e-8)


def test_landmarks_are_drawn_beyond_a_bound_and_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    network, settings = communities(50, 5, 0.5, 0.05, 1), BaselineConfig(dimensions=8)
    whole = mds.scale(network, settings, 0)
    monkeypatch.setattr(mds, "_WHOLE", 40)
    monkeypatch.setattr(mds, "_LANDMARKS", 30)
    fewer = mds.scale(network, settings, 0)
    # The same places up to a turn, roughly: distances of the two agree.
    apart = [np.linalg.norm(Y[:, None] - Y[None], axis=2).ravel() for Y in (whole, fewer)]
    assert np.corrcoef(apart)[0, 1] > 0.9
    with pytest.raises(KedgeError, match=r"^mds holds .* 50 accounts to 30 landmarks: 1,500 cells, above 1,499; use"):
        mds.refuse_too_many_cells(network, 1499)
    mds.refuse_too_many_cells(network, 1500)


# Graph factorisation.


def factorisation_loss(Z: FloatArray, edges: list[tuple[int, int]], decay: float) -> float:
    total = 0.0
    for i, j in edges:
        total += 0.5 * (1 - sum(Z[i, f] * Z[j, f] for f in range(Z.shape[1]))) ** 2
    return total + decay / 2 * sum(float(z @ z) for z in Z)


def test_the_steps_of_a_pass_add_up_to_the_gradient_of_graph_factorisation() -> None:
    network = random_network(8, 0.5, 1)
    edges = [(int(i), int(j)) for i, j in np.argwhere(np.triu(network.adjacency.toarray()))]
    Z = np.random.default_rng(0).normal(size=(8, 3))
    rate, moved = 1e-4, Z.astype(np.float32)
    assert network.degrees.min() > 0
    graph_factorisation.descend(moved, np.array(edges), (0.7 / network.degrees).astype(np.float32), rate)
    for row, column in product(range(8), range(3)):
        losses = []
        for change in (1e-5, -1e-5):
            tried = Z.copy()
            tried[row, column] += change
            losses.append(factorisation_loss(tried, edges, 0.7))
        slope = (losses[0] - losses[1]) / 2e-5
        assert (moved[row, column] - Z[row, column]) / -rate == pytest.approx(slope, abs=2e-2)


def test_graph_factorisation_lowers_its_loss() -> None:
    network = communities(40, 4, 0.4, 0.02, 1)
    edges = [(int(i), int(j)) for i, j in np.argwhere(np.triu(network.adjacency.toarray()))]
    losses = [
        factorisation_loss(
            graph_factorisation.factorise(network, BaselineConfig(dimensions=8, passes=passes), 0), edges, 1
        )
        for passes in (1, 30, 300)
    ]
    assert losses[0] > losses[1] > losses[2]
