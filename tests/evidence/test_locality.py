"""Evidence in an order that spares the cache is the same evidence."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import SMALL, planted
from scipy.sparse import csr_array

from kedge.evidence import propagate as module
from kedge.evidence.locality import nearby_order, renumber, reorder
from kedge.evidence.propagate import propagate, terms
from kedge.types import Network, Problem


def test_a_renumbered_problem_is_the_same_one() -> None:
    problem, _ = planted(n=40, anchors=10, seed=1)
    problem = Problem(problem.left, problem.right, problem.anchors, np.array([(0, 3), (5, 7)]))
    rng = np.random.default_rng(0)
    left, right = rng.permutation(40), rng.permutation(40)
    moved = renumber(problem, left, right)
    for before, after, order in ((problem.left, moved.left, left), (problem.right, moved.right, right)):
        np.testing.assert_array_equal(after.adjacency.toarray(), before.adjacency.toarray()[np.ix_(order, order)])
        assert [after.name(i) for i in range(40)] == [before.name(i) for i in order]
    for before, after in ((problem.anchors, moved.anchors), (problem.rejected, moved.rejected)):
        np.testing.assert_array_equal(np.column_stack([left[after[:, 0]], right[after[:, 1]]]), before)


def test_reordered_entries_say_where_they_came_from() -> None:
    matrix = csr_array(np.array([[0, 2.0, 0, 5], [7, 0, 1, 0], [0, 0, 0, 3]]))
    rows, columns = np.array([2, 0, 1]), np.array([3, 1, 0, 2])
    moved, entries = reorder(matrix, rows, columns)
    np.testing.assert_array_equal(moved.toarray(), matrix.toarray()[np.ix_(rows, columns)])
    np.testing.assert_array_equal(moved.data, matrix.data[entries])
    assert moved.has_sorted_indices


def test_a_shuffled_path_gets_its_neighbours_together_again() -> None:
    turn = np.random.default_rng(0).permutation(200)
    order = nearby_order(Network.from_edges([(turn[i], turn[i + 1]) for i in range(199)], 200))
    assert sorted(order.tolist()) == list(range(200))
    place = np.argsort(order)
    assert all(abs(place[turn[i]] - place[turn[i + 1]]) == 1 for i in range(199))


@pytest.mark.parametrize("with_prior", [False, True])
def test_the_order_of_work_changes_no_evidence(monkeypatch: pytest.MonkeyPatch, with_prior: bool) -> None:
    problem, _ = planted(n=60, anchors=15, seed=4)
    prior = csr_array(([2.5, 4.0], ([1, 5], [1, 5])), shape=(60, 60)) if with_prior else None
    plain = propagate(problem, SMALL, prior)
    monkeypatch.setattr(module, "_CACHED", 0)
    spared = propagate(problem, SMALL, prior)
    for name in ("log_odds", "support", "beliefs"):
        one, two = (getattr(evidence, name).toarray() for evidence in (plain, spared))
        np.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-4)
    for one, two in ((plain, spared), (spared, plain)):
        chosen = csr_array((one.assigned.astype(float), one.log_odds.indices, one.log_odds.indptr), shape=(60, 60))
        assert chosen.multiply(two.log_odds).sum() == pytest.approx(one.log_odds.data[one.assigned].sum(), rel=1e-4)
    u, v = (int(i) for i in np.argwhere(plain.beliefs.toarray() > 0.3)[0])
    told = [sum(term.weight for term in terms(problem, evidence, u, v)) for evidence in (plain, spared)]
    assert told[1] == pytest.approx(told[0], rel=1e-4)
