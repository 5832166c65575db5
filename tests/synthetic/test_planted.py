"""Planted social pairs: exact counts, stated overlap, and the traits of a social network."""

from __future__ import annotations

import dataclasses
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array

from kedge.errors import KedgeError
from kedge.synthetic import Planted, planted, split
from kedge.synthetic.measure import clustering
from kedge.types import Network

SIZES = (4223, 6692, 3282, 37_108, 127_493)  # the paper's full size / 100


@cache
def a_pair(overlap: float = 0.5, seed: int = 7) -> Planted:
    return planted(*SIZES, overlap, seed)


def shuffled(network: Network, seed: int = 0) -> Network:
    """A random network of (nearly) the same degrees: ends of edges matched at random."""
    stubs = np.repeat(np.arange(network.n), network.degrees)
    np.random.default_rng(seed).shuffle(stubs)
    return Network.from_edges(stubs.reshape(-1, 2), network.n)


def test_counts_are_exact_and_no_account_is_isolated() -> None:
    pair = a_pair()
    assert (pair.left.n, pair.right.n, len(pair.anchors), pair.left.edges, pair.right.edges) == SIZES
    assert pair.left.degrees.min() >= 1
    assert pair.right.degrees.min() >= 1
    assert pair.notes == ()
    for side in (0, 1):
        assert len(np.unique(pair.anchors[:, side])) == len(pair.anchors)


@pytest.mark.parametrize("overlap", [0, 0.2, 0.5, 0.9, 1])
def test_the_stated_overlap_comes_out(overlap: float) -> None:
    pair = a_pair(overlap)
    left = pair.left.adjacency[pair.anchors[:, 0]][:, pair.anchors[:, 0]]
    right = pair.right.adjacency[pair.anchors[:, 1]][:, pair.anchors[:, 1]]
    shared = left.multiply(right).nnz
    assert shared / left.nnz == pytest.approx(overlap, abs=1e-3)
    assert pair.realised["overlap"] == pytest.approx(shared / left.nnz)
    assert pair.realised["overlap_of_right"] == pytest.approx(shared / right.nnz)
    assert pair.realised["jaccard"] == pytest.approx(shared / (left.nnz + right.nnz - shared))


def hill(network: Network) -> float:
    """The exponent of the upper tenth of the degrees, by Hill's estimator."""
    degrees = np.sort(network.degrees)[::-1]
    top = len(degrees) // 10
    return float(1 + 1 / np.log(degrees[:top] / degrees[top]).mean())


@pytest.mark.parametrize("side", ["left", "right"])
def test_degrees_have_a_heavy_tail(side: str) -> None:
    network = getattr(a_pair(), side)
    assert network.degrees.max() > 12 * network.degrees.mean()
    assert np.median(network.degrees) < 0.75 * network.degrees.mean()
    assert 2.2 < hill(network) < 3.3


@pytest.mark.parametrize("exponent", [2.1, 3, 4])
def test_the_exponent_sets_the_tail(exponent: float) -> None:
    assert hill(planted(*SIZES, 0.5, 1, exponent=exponent, cutoff=100).right) == pytest.approx(exponent, abs=0.5)


@pytest.mark.parametrize("side", ["left", "right"])
def test_friends_of_friends_are_friends(side: str) -> None:
    network = getattr(a_pair(), side)
    overall, local = clustering(network)
    chance, local_chance = clustering(shuffled(network))
    assert 0.1 <= overall <= 0.3
    assert overall > 2.5 * chance
    assert local > 4 * local_chance


def test_clustering_is_estimated_rightly() -> None:
    network = planted(600, 600, 400, 3000, 3000, 0.5, 0).left
    graph = nx.from_scipy_sparse_array(network.adjacency)
    local = nx.clustering(graph)
    overall, mean = clustering(network)
    assert overall == pytest.approx(nx.transitivity(graph), abs=0.006)
    assert mean == pytest.approx(np.mean([local[v] for v in graph if graph.degree(v) >= 2]), abs=0.006)
    assert clustering(Network.from_edges([(0, 1)], 2)) == (0, 0)
    assert clustering(Network.from_edges([(0, 1), (1, 2), (0, 2)], 3)) == (1, 1)


def test_there_are_communities_of_very_different_sizes() -> None:
    network = planted(1500, 1500, 1200, 9000, 9000, 0.5, 0).left

    def best(of: Network) -> tuple[float, list[int]]:
        graph = nx.from_scipy_sparse_array(of.adjacency)
        found = nx.community.louvain_communities(graph, seed=0)
        return nx.community.modularity(graph, found), sorted(map(len, found))

    modularity, sizes = best(network)
    assert modularity > 0.5
    assert modularity > best(shuffled(network))[0] + 0.15
    assert sizes[-1] > 4 * sizes[0]


def test_the_number_of_communities_can_be_set() -> None:
    few, many = (planted(1000, 1000, 800, 6000, 6000, 0.5, 0, communities=count) for count in (5, 100))
    assert few.realised["communities"] == 5
    assert 80 < many.realised["communities"] <= 100


def common_neighbours_hits(pair: Planted, train_share: float) -> float:
    """hits@1 of the plainest method: anchored friends in common, rarer friends counting more."""
    train, test = split(pair.anchors, train_share, 0)
    test = test[:800]
    known = csr_array((np.ones(len(train)), (train[:, 0], train[:, 1])), shape=(pair.left.n, pair.right.n))
    scaled = diags_array(1 / np.sqrt(pair.right.degrees))
    scores = (pair.left.adjacency[test[:, 0]] @ known @ pair.right.adjacency @ scaled).toarray()
    scores[:, train[:, 1]] = -1
    truth = scores[np.arange(len(test)), test[:, 1]]
    return float(((scores >= truth[:, None]).sum(axis=1) == 1).mean())


def test_linking_is_neither_trivial_nor_hopeless_and_overlap_helps() -> None:
    hits = [common_neighbours_hits(a_pair(overlap), 0.5) for overlap in (0, 0.2, 0.5, 0.9)]
    assert hits == sorted(hits)
    assert hits[0] < 0.02
    assert 0.1 < hits[2] < 0.7
    assert common_neighbours_hits(a_pair(0.5), 0.1) < hits[2] < common_neighbours_hits(a_pair(0.5), 0.9)


def test_a_small_network_inside_a_large_one_keeps_its_shape() -> None:
    pair = planted(500, 20_000, 500, 5000, 200_000, 0.5, 3)
    assert pair.realised["overlap"] == pytest.approx(0.5, abs=0.001)
    assert pair.realised["left_clustering"] > 0.1
    assert pair.realised["right_clustering"] > 0.1


def test_the_pair_is_frozen() -> None:
    pair = a_pair()
    with pytest.raises(dataclasses.FrozenInstanceError):
        pair.left = pair.right  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        pair.anchors[0, 0] = 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"left_nodes": 0}, "left_nodes is 0"),
        ({"right_nodes": 1}, "right_nodes is 1; give at least 2"),
        ({"left_nodes": 2.5}, "whole number"),
        ({"left_nodes": True}, "whole number"),
        ({"left_nodes": 2**31}, "at most"),
        ({"anchors": -1}, "anchors is -1"),
        ({"anchors": 51}, "give at most 50 anchors"),
        ({"left_edges": 0}, "left_edges is 0"),
        ({"left_edges": 1226}, "give at most 1225 edges"),
        ({"right_edges": 1771}, "give at most 1770 edges"),
        ({"overlap": 1.01}, "overlap is 1.01"),
        ({"overlap": float("nan")}, "overlap is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": None}, "seed is None"),
        ({"mixing": -1}, "mixing"),
        ({"mixing": 0.7, "circle_share": 0.7}, "exceed 1"),
        ({"exponent": 1}, "exponent"),
        ({"exponent": float("nan")}, "exponent"),
        ({"exponent": "x"}, "exponent"),
        ({"cutoff": 0}, "cutoff"),
        ({"communities": 0}, "communities"),
        ({"communities": 1000}, "communities"),
        ({"anchors": 1}, "give overlap 0"),
        ({"anchors": 50, "right_nodes": 50, "left_edges": 400, "right_edges": 100}, "from 0 to 0.25"),
        ({"anchors": 50, "right_nodes": 50, "left_edges": 1225, "right_edges": 1225, "overlap": 0.5}, "give overlap 1"),
    ],
)
def test_nonsense_is_refused_in_one_line(change: dict[str, object], words: str) -> None:
    names = ("left_nodes", "right_nodes", "anchors", "left_edges", "right_edges", "overlap", "seed")
    settings_ = dict(zip(names, (50, 60, 40, 200, 200, 0.5, 0), strict=True))
    planted(**settings_)  # type: ignore[arg-type]
    with pytest.raises(KedgeError, match=words) as refusal:
        planted(**{**settings_, **change})  # type: ignore[arg-type]
    assert "; " in str(refusal.value)
    assert "\n" not in str(refusal.value)


@st.composite
def wishes(draw: st.DrawFn) -> dict[str, float]:
    left, right = draw(st.integers(2, 40)), draw(st.integers(2, 40))
    return {
        "left_nodes": left,
        "right_nodes": right,
        "anchors": draw(st.integers(0, min(left, right))),
        "left_edges": draw(st.integers(1, left * (left - 1) // 2)),
        "right_edges": draw(st.integers(1, right * (right - 1) // 2)),
        "overlap": draw(st.floats(0, 1)),
        "seed": draw(st.integers(0, 2**63 - 1)),
    }


@settings(max_examples=120, deadline=None)
@given(wishes())
def test_any_small_wish_is_met_exactly_or_refused_with_a_range_that_works(wish: dict[str, float]) -> None:
    try:
        pair = planted(**wish)  # type: ignore[arg-type]
    except KedgeError as refusal:
        # the last number of "give an overlap from 0 to 0.25" or "give overlap 0"
        nearest = [float(word) for word in str(refusal).split("; give ")[1].split() if word[0].isdigit()]
        pair = planted(**(wish := {**wish, "overlap": nearest[-1]}))  # type: ignore[arg-type]
    assert pair.left.n == wish["left_nodes"]
    assert pair.right.n == wish["right_nodes"]
    assert len(pair.anchors) == wish["anchors"]
    assert pair.left.edges == wish["left_edges"]
    assert pair.right.edges == wish["right_edges"]
    among = pair.realised["left_edges_among_anchors"]
    if among:
        # the nearest whole number of edges, and one more where the range's end was rounded
        assert abs(pair.realised["overlap"] - wish["overlap"]) <= max(0.02, 1 / among)
    for network in (pair.left, pair.right):
        assert abs(network.adjacency - network.adjacency.T).nnz == 0
        assert network.adjacency.diagonal().sum() == 0
