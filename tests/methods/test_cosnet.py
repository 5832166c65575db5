"""COSNET's energy against loops over edges and over all labels, on a few candidates."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from graphs import random_network
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.methods import cosnet
from kedge.methods.cosnet import Edges, Labelled, Weights
from kedge.types import Problem

M = 7
WEIGHTS = Weights(np.array([0.2, -1.0, 0.5, 0.0]), 0.3, -0.8)


def graph(seed: int, tree: bool = False) -> Edges:
    rng = np.random.default_rng(seed)
    pairs = (
        [(int(rng.integers(b)), b) for b in range(1, M)] if tree else [(0, 1), (0, 2), (1, 2), (2, 5), (3, 5), (4, 6)]
    )
    first, second = np.array(pairs).T
    return Edges(first, second, rng.uniform(0.5, 1.5, len(pairs)))


def energy(local: np.ndarray, edges: Edges, weights: Weights, labels: tuple[int, ...]) -> float:
    """E(y), term by term."""
    total = sum(local[i] * labels[i] for i in range(M))
    for i, j, s in zip(edges.first, edges.second, edges.strength, strict=True):
        total += s * (0.0, weights.one, weights.both)[labels[i] + labels[j]]
    return float(total)


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_dual_decomposition_is_that_of_the_loops(rounds: int) -> None:
    local, edges = np.random.default_rng(1).normal(size=M), graph(2)
    ends = list(zip(edges.first.tolist(), edges.second.tolist(), edges.strength.tolist(), strict=True))
    copies = [sum(v in (i, j) for i, j, _ in ends) for v in range(M)]
    share = {(e, v): local[v] / copies[v] for e, (i, j, _) in enumerate(ends) for v in (i, j)}

    def cost(e: int, mine: int, other: int) -> float:
        i, j, s = ends[e]
        return share[e, i] * mine + share[e, j] * other + s * (0.0, WEIGHTS.one, WEIGHTS.both)[mine + other]

    for round_ in range(1, rounds + 1):
        copy = {}
        for e, (i, j, _) in enumerate(ends):
            _, copy[e, j], copy[e, i] = min((cost(e, a, b), b, a) for a, b in product((0, 1), repeat=2))
        mean = [sum(copy[e, v] for e in range(len(ends)) if (e, v) in copy) / max(copies[v], 1) for v in range(M)]
        share = {(e, v): t + (copy[e, v] - mean[v]) / (copies[v] * sqrt(round_)) for (e, v), t in share.items()}
    expected = [0.0 if copies[v] else float(local[v]) for v in range(M)]
    for e, (i, j, _) in enumerate(ends):
        expected[i] += min(cost(e, 1, 0), cost(e, 1, 1)) - min(cost(e, 0, 0), cost(e, 0, 1))
        expected[j] += min(cost(e, 0, 1), cost(e, 1, 1)) - min(cost(e, 0, 0), cost(e, 1, 0))
    np.testing.assert_allclose(cosnet.minimise(local, edges, WEIGHTS, rounds), expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_labels_are_those_of_least_energy(seed: int) -> None:
    local, edges = np.random.default_rng(seed).normal(size=M), graph(seed, tree=True)
    best = min(product((0, 1), repeat=M), key=lambda labels: energy(local, edges, WEIGHTS, labels))
    found = cosnet.minimise(local, edges, WEIGHTS, 400)
    assert tuple((found < 0).astype(int).tolist()) == best


def test_the_slope_is_the_change_of_the_energy() -> None:
    rng = np.random.default_rng(3)
    labels = np.array([1, 0, 1, 1, 0, 1, 0], bool)
    given = np.array([0, 0, 1, 0, 0, 0, 0], bool)
    known = Labelled(rng.normal(size=(M, 4)), graph(4), ~given, np.zeros(M, bool), given)

    def at(values: np.ndarray) -> float:
        local = np.where(given, -100.0, known.features @ values[:4])
        return energy(local, known.edges, Weights(values[:4], values[4], values[5]), tuple(labels.astype(int)))

    values, found = rng.normal(size=6), cosnet._slopes(known, labels)
    for place in range(6):
        step = np.eye(6)[place] * 1e-5
        assert found[place] == pytest.approx((at(values + step) - at(values - step)) / 2e-5, abs=1e-6)


def test_weights_learn_which_feature_separates_and_that_neighbours_agree() -> None:
    """The second feature is high for true pairs, the third at random; true pairs neighbour anchors, false ones none."""
    rng = np.random.default_rng(0)
    n = 60
    true, false, anchored = (np.arange(3 * n) // n == part for part in range(3))
    features = np.column_stack(
        [np.ones(3 * n), true + 0.3 * rng.normal(size=3 * n), rng.random(3 * n), np.zeros(3 * n)]
    )
    edges = Edges(np.arange(n), 2 * n + np.arange(n), np.ones(n))
    weights = cosnet.fit(Labelled(features, edges, true, false, anchored), 5)
    assert weights.local[1] < -0.3
    assert weights.local[1] < weights.local[2]
    assert weights.both < weights.one
    local = np.where(anchored, -100.0, features @ weights.local)
    found = cosnet.minimise(local, edges, weights, 5) < 0
    assert found[true].mean() > 0.9
    assert found[false].mean() < 0.1


def test_candidates_are_joined_where_both_accounts_are_neighbours() -> None:
    problem = Problem(random_network(12, 0.4, 1), random_network(12, 0.4, 2), [(i, i) for i in range(5)])
    found = cosnet._candidates(problem, Config(), RunContext())
    A, B = (network.adjacency.toarray() > 0 for network in (problem.left, problem.right))
    d1, d2 = A.sum(axis=1), B.sum(axis=1)
    pairs = [(int(u), int(v)) for u, v in np.argwhere(csr_array(found.L).toarray() > 0)]
    assert set(problem.anchors.tolist()[0]) <= {0}
    expected = {
        (e, f): (d1[u] * d2[v] * d1[a] * d2[b]) ** -0.25
        for (e, (u, v)), (f, (a, b)) in product(enumerate(pairs), repeat=2)
        if e < f and A[u, a] and B[v, b]
    }
    ends = zip(found.edges.first.tolist(), found.edges.second.tolist(), strict=True)
    made = dict(zip(ends, found.edges.strength.tolist(), strict=True))
    assert made.keys() == expected.keys()
    assert made == pytest.approx(expected)
    for (u, v), (constant, _, alike, by_profiles) in zip(pairs, found.features, strict=True):
        assert (constant, by_profiles) == (1, 0)
        assert alike == pytest.approx(min(d1[u], d2[v]) / max(d1[u], d2[v], 1))
