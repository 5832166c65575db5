"""BASS's mixture against loops over candidates."""

from __future__ import annotations

from itertools import product
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from graphs import communities, random_network

from kedge import synthetic
from kedge.config import Config
from kedge.methods import METHODS, bass
from kedge.methods.bass import Candidates, Mixture
from kedge.types import Problem

PROBLEM = Problem(random_network(12, 0.4, 1), random_network(11, 0.4, 2), [(i, i) for i in range(5)])
MIXTURE = Mixture(0.1, 0.6, 0.2, 0.3)


@pytest.fixture
def found() -> Candidates:
    return bass._candidates(PROBLEM, PROBLEM.anchors, None)


def pairs_of(found: Candidates) -> list[tuple[int, int]]:
    return [(int(u), int(v)) for u, v in np.argwhere(found.L.toarray() > 0)]


def test_log_odds_are_those_of_two_gaussians() -> None:
    def density(x: float, mean: float) -> float:
        return exp(-((x - mean) ** 2) / (2 * 0.3**2)) / (0.3 * sqrt(2 * pi))

    for x in (0.0, 0.3, 1.2):
        expected = log(0.1 * density(x, 0.6) / (0.9 * density(x, 0.2)))
        assert MIXTURE.log_odds(np.array([x]))[0] == pytest.approx(expected)


def test_ties_are_summed_over_candidates_that_neighbour_on_both_sides(found: Candidates) -> None:
    A, B = (network.adjacency.toarray() > 0 for network in (PROBLEM.left, PROBLEM.right))
    d1, d2 = A.sum(axis=1), B.sum(axis=1)
    p = np.random.default_rng(0).random(found.L.nnz)
    pairs = pairs_of(found)
    expected = [
        sum((d1[u] * d2[v] * d1[a] * d2[b]) ** -0.25 * p[j] for j, (a, b) in enumerate(pairs) if A[u, a] and B[v, b])
        for u, v in pairs
    ]
    np.testing.assert_allclose(found.S @ p, expected, rtol=1e-6)
    assert [pair for pair, known in zip(pairs, found.anchored, strict=True) if known] == [(i, i) for i in range(5)]


def test_rivals_share_out_their_odds(found: Candidates) -> None:
    log_odds = np.random.default_rng(1).normal(size=found.L.nnz)
    p, pairs = bass.expect(found, log_odds), pairs_of(found)
    for i, (u, v) in enumerate(pairs):
        rivals = sum(exp(log_odds[j]) for j, (a, b) in enumerate(pairs) if a == u or b == v)
        assert p[i] == pytest.approx(1.0 if found.anchored[i] else exp(log_odds[i]) / (1 + rivals))


def test_the_mixture_is_weighed_by_the_probabilities_of_all_pairs() -> None:
    rng = np.random.default_rng(2)
    x, p = rng.random(30), rng.random(30)
    every = [*zip(x, p, strict=True), *[(0.0, 0.0)] * 70]
    match, other = sum(b for _, b in every), sum(1 - b for _, b in every)
    means = sum(a * b for a, b in every) / match, sum(a * (1 - b) for a, b in every) / other
    variances = (
        sum(b * (a - means[0]) ** 2 for a, b in every) / match,
        sum((1 - b) * (a - means[1]) ** 2 for a, b in every) / other,
    )
    assert bass.maximise(x, p, 100, MIXTURE) == pytest.approx((match / 100, *means, sqrt(sum(variances) / 2)))
    assert bass.maximise(x, p * 0, 100, MIXTURE) == MIXTURE


def test_rounds_are_expectation_and_maximisation_in_order(found: Candidates) -> None:
    p, mixture = found.anchored.astype(float), MIXTURE
    for _ in range(5):
        x = np.sqrt(found.S @ p)
        p = bass.expect(found, mixture.log_odds(x))
        mixture = bass.maximise(x, p, 12 * 11, mixture)
    reached, learnt = bass.bootstrap(found, found.anchored.astype(float), MIXTURE)
    np.testing.assert_allclose(reached, p)
    assert learnt == pytest.approx(mixture)


def test_bootstrapping_reaches_accounts_that_neighbour_no_anchor() -> None:
    pair = synthetic.subnetworks(communities(150, 5, 0.3, 0.01, 1), 0.95, 1.0, 1)
    problem = Problem(pair.left, pair.right, pair.anchors[:15])
    A = problem.left.adjacency.toarray() > 0
    far = [(int(u), int(v)) for u, v in pair.anchors[15:] if not A[u][problem.anchors[:, 0]].any()]
    assert len(far) > 20
    scores = METHODS["bass"].align(problem, Config()).score(np.array(far))
    assert np.isfinite(scores).mean() > 0.5


def test_every_candidate_is_one_that_links_or_anchors_reach(found: Candidates) -> None:
    A, B = (network.adjacency.toarray() > 0 for network in (PROBLEM.left, PROBLEM.right))
    for (u, v), known in zip(pairs_of(found), found.anchored, strict=True):
        reached = any(A[u, a] and B[v, b] for a, b in PROBLEM.anchors.tolist())
        assert known or (reached and u >= 5 and v >= 5)
    expected = {
        (u, v)
        for u, v in product(range(5, 12), range(5, 11))
        if any(A[u, a] and B[v, b] for a, b in PROBLEM.anchors.tolist())
    }
    assert {pair for pair, known in zip(pairs_of(found), found.anchored, strict=True) if not known} == expected
