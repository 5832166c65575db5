"""The terms of a pair: each neighbour once, and the sum of the log-odds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.evidence import Evidence, recall, terms
from kedge.evidence.kernels import LEAST_RATIO
from kedge.types import Network, Problem


def random_evidence(seed: int, n: int = 9) -> tuple[Problem, Evidence]:
    """Dense small networks, and beliefs spread over many partners; some accounts have none."""
    rng = np.random.default_rng(seed)
    left, right = (Network.from_edges(np.argwhere(np.triu(rng.random((n, n)) < 0.6, 1)), n) for _ in range(2))
    beliefs = rng.dirichlet(np.full(n, 0.3), n) * (rng.random((n, n)) < 0.8) * (rng.random((n, 1)) < 0.8)
    problem = Problem(left, right, [])
    return problem, recall(problem, csr_array(beliefs))


def log_odds(problem: Problem, evidence: Evidence, u: int, v: int) -> float:
    """The same, neighbour by neighbour and match by match."""
    total = evidence.degree_prior.ratio(u, v)
    views = (
        (problem.left, problem.right, evidence.support.toarray(), evidence.s, u, v),
        (problem.right, problem.left, evidence.support.toarray().T, evidence.t, v, u),
    )
    for near, far, P, hit, here, there in views:
        N, F = near.adjacency.toarray() > 0, far.adjacency.toarray() > 0
        for a in np.flatnonzero(N[here]):
            mean = 1 - min(P[a].sum(), 1.0) * hit
            for b in np.flatnonzero(F[there]):
                rarity = F.sum() / (F[there].sum() * F[b].sum())
                mean += P[a, b] * (max(hit * (1 + rarity), LEAST_RATIO) - (1 - hit))
            total += 0.5 * np.log(mean)
    return float(total)


@given(st.integers(0, 10_000), st.integers(0, 8), st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_each_neighbour_is_named_once_and_all_add_up(seed: int, u: int, v: int) -> None:
    problem, evidence = random_evidence(seed)
    found = terms(problem, evidence, u, v)
    assert sum(term.weight for term in found) == pytest.approx(log_odds(problem, evidence, u, v))
    sides = ((problem.left, u, [term.a for term in found]), (problem.right, v, [term.b for term in found]))
    for network, account, named in sides:
        once = [number for number in named if number >= 0]
        assert len(once) == len(set(once))
        assert set(once) <= set(network.adjacency[[account]].indices.tolist())
    assert all(0 <= term.belief <= 1 + 1e-9 for term in found)


def test_a_neighbour_with_several_possible_matches_is_named_with_the_likeliest() -> None:
    star = Network.from_edges([[0, 1], [0, 2], [0, 3], [0, 4]], 5)
    beliefs = np.zeros((5, 5))
    beliefs[1, 1:] = 0.4, 0.3, 0.2, 0.1
    beliefs[2, 1] = 0.6
    problem = Problem(star, star, [])
    found = terms(problem, recall(problem, csr_array(beliefs)), 0, 0)
    # 2 is likelier 1 than 1 is, so 1 is named with 2; what 1 might also be is in its weight.
    assert {(term.a, term.b) for term in found} == {(2, 1), (1, 2), (-1, 3), (-1, 4), (-1, -1)}
    assert [term.belief for term in found if term.a == 1] == [pytest.approx(0.3)]
    assert next(term for term in found if term.b == 4).belief == pytest.approx(0.1)
