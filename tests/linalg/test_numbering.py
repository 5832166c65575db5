"""Numbers carry no meaning: other rows, directions and names give the same numbered problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from evidence_problems import planted
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.linalg.numbering import canonical, canonical_network, nearby_order, renumber, renumber_network, reorder
from kedge.types import Hypergraph, Network, Problem


def test_a_renumbered_problem_is_the_same_one() -> None:
    problem, _ = planted(n=40, anchors=10, seed=1)
    problem = Problem(problem.left, problem.right, problem.anchors, np.array([(0, 3), (5, 7)]))
    rng = np.random.default_rng(0)
    left, right = rng.permutation(40), rng.permutation(40)
    moved = renumber(problem, left, right)
    for before, after, order in ((problem.left, moved.left, left), (problem.right, moved.right, right)):
        np.testing.assert_array_equal(after.adjacency.toarray(), before.adjacency.toarray()[np.ix_(order, order)])
        assert [after.name(i) for i in range(40)] == [before.name(i) for i in order]
    for old, new in ((problem.anchors, moved.anchors), (problem.rejected, moved.rejected)):
        np.testing.assert_array_equal(np.column_stack([left[new[:, 0]], right[new[:, 1]]]), old)


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


def _equal(one: Problem, two: Problem) -> None:
    for before, after in ((one.left, two.left), (one.right, two.right)):
        np.testing.assert_array_equal(after.adjacency.indptr, before.adjacency.indptr)
        np.testing.assert_array_equal(after.adjacency.indices, before.adjacency.indices)
        np.testing.assert_array_equal(after.adjacency.data, before.adjacency.data)
    np.testing.assert_array_equal(two.anchors, one.anchors)
    np.testing.assert_array_equal(two.rejected, one.rejected)


def _shuffled(problem: Problem, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    return renumber(problem, rng.permutation(problem.left.n), rng.permutation(problem.right.n))


def _renamed(problem: Problem, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    sides = [
        Network(one.adjacency, pa.array([f"{i:x}" for i in rng.permutation(9 * one.n)[: one.n]], pa.large_string()))
        for one in (problem.left, problem.right)
    ]
    return Problem(sides[0], sides[1], problem.anchors, problem.rejected, problem.hypergraphs)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_shuffled_accounts_and_anchors_give_the_same_numbers_and_names(seed: int) -> None:
    problem, _ = planted(n=60, anchors=12, seed=seed % 7)
    problem = Problem(problem.left, problem.right, problem.anchors, np.array([(0, 3), (5, 7), (1, 1)]))
    other = _shuffled(problem, seed)
    order = np.random.default_rng(seed).permutation(len(other.anchors))
    other = Problem(other.left, other.right, other.anchors[order], other.rejected[::-1])
    one, two = canonical(problem), canonical(other)
    _equal(one, two)
    assert one.left.ids == two.left.ids
    assert one.right.ids == two.right.ids


@pytest.mark.parametrize("seed", range(5))
def test_other_names_give_the_same_matrices(seed: int) -> None:
    # Separate edges, twins at a hub, equal paths: colours tell none of them apart.
    edges = [(0, 1), (2, 3), (4, 5), (6, 7), (6, 8), (6, 9), (10, 11), (11, 12), (13, 14), (14, 15), (9, 16), (8, 17)]
    network = Network.from_edges(edges, 18)
    problem = Problem(network, Network.from_edges(edges[3:], 18), np.array([(6, 6), (7, 9)]))
    _equal(canonical(problem), canonical(_renamed(_shuffled(problem, seed), seed)))


def test_exchanged_sides_give_the_mirrored_problem() -> None:
    problem, _ = planted(n=60, anchors=12, seed=2)
    one, two = canonical(problem), canonical(problem.mirrored())
    _equal(one, two.mirrored())
    assert one.exchanged != two.exchanged


def test_equal_ids_on_both_sides_are_no_hint() -> None:
    # A hub with twins, the same ids on both sides: ordered alike they would pair up by their names.
    twins = Network.from_edges([(0, i) for i in range(1, 200)], 200)
    problem = canonical(Problem(twins, Network.from_edges([(0, i) for i in range(1, 201)], 201), np.array([(0, 0)])))
    left, right = problem.left.ids.to_pylist(), problem.right.ids.to_pylist()
    assert sum(u == v for u, v in zip(left, right, strict=False)) < 20


def test_weights_and_hyperedges_are_part_of_the_order() -> None:
    rng = np.random.default_rng(3)
    weights = rng.random(30).astype(np.float32) + 0.1
    ring = csr_array((weights, (np.arange(30), np.roll(np.arange(30), 1))), shape=(30, 30))
    network = Network(csr_array(ring + ring.T), pa.array([str(i) for i in range(30)], pa.large_string()))
    H = csr_array((rng.random((30, 6)) < 0.2).astype(np.float64) * 0.5)
    problem = Problem(network, network, np.array([(0, 0)]), hypergraphs=(Hypergraph(H), None))
    turned = Problem(network, network, problem.anchors, hypergraphs=(Hypergraph(csr_array(H[:, ::-1])), None))
    one, two = canonical(problem), canonical(_shuffled(turned, 4))
    _equal(one, two)
    assert one.hypergraphs[0] is not None
    assert two.hypergraphs[0] is not None
    np.testing.assert_array_equal(one.hypergraphs[0].H.toarray(), two.hypergraphs[0].H.toarray())


def test_a_single_network_has_a_canonical_order_too() -> None:
    problem, _ = planted(n=50, anchors=5, seed=1)
    order = np.random.default_rng(0).permutation(50)
    moved = renumber_network(problem.left, order)
    one, two = (renumber_network(network, canonical_network(network)) for network in (problem.left, moved))
    assert one.ids == two.ids
    np.testing.assert_array_equal(one.adjacency.indices, two.adjacency.indices)


def test_networks_without_accounts_or_edges_have_an_order() -> None:
    empty = Network.from_edges([], 0)
    lonely = Network.from_edges([], 3)
    assert canonical(Problem(empty, lonely, np.empty((0, 2), np.int64))).right.n == 3


def test_a_value_of_profiles_stays_one_column_in_both_networks() -> None:
    problem, _ = planted(n=30, anchors=5, seed=2)
    rng = np.random.default_rng(0)
    value = [[f"v{i}" for i in rng.integers(6, size=30)] for _ in range(2)]

    def posed(columns: list[str]) -> Problem:
        H = [np.array([[float(has == name) for name in columns] for has in own]) for own in value]
        return replace(problem, shared_values=(Hypergraph(H[0]), Hypergraph(H[1])))

    names = [f"v{i}" for i in range(6)]
    first, again = canonical(posed(names)), canonical(posed(names[::-1]))
    for one in (first, again):
        V = [own.H.toarray() for own in one.shared_values if own is not None]
        of = [
            dict(zip(net.ids.to_pylist(), rows, strict=True))
            for net, rows in zip((one.left, one.right), V, strict=True)
        ]
        for left, own in zip(problem.left.ids.to_pylist(), value[0], strict=True):
            for right, other in zip(problem.right.ids.to_pylist(), value[1], strict=True):
                assert of[0][left] @ of[1][right] == (own == other)
    for mine, same in zip(first.shared_values, again.shared_values, strict=True):
        assert mine is not None
        assert same is not None
        assert (mine.H != same.H).nnz == 0, "the order of the values given has no effect"
