"""Hypergraphs: each builder against its dense oracle, its limits, and inputs that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import oracle
import pytest
from graphs import communities, random_hypergraph, random_network, relabel
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.config import SIZES, HypergraphConfig
from kedge.errors import KedgeError
from kedge.hypergraph import BUILDERS, build_hypergraph, draw_each, report, unite
from kedge.hypergraph.centrality import FEATURES, measure
from kedge.hypergraph.latent import keep_strongest
from kedge.hypergraph.nearest import around
from kedge.hypergraph.profiles import rare_values
from kedge.ingest import read_hypergraph
from kedge.types import Hypergraph, Network

QUICK = {"codes": 6, "active": 3, "latent_steps": 5}


def build(network: Network, name: str = "neighbourhood", seed: int = 0, anchors: Any = None, **settings: Any) -> Any:
    return BUILDERS[name].build(network, HypergraphConfig(builders=name, **settings), seed, anchors)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hops", [1, 2, 3, 10])
def test_literal_neighbourhoods_are_the_balls(seed: Any, hops: int) -> None:
    network = random_network(14, 0.15, seed)
    A = network.adjacency.toarray()
    expected = oracle.incidence([oracle.ball(A, c, hops) for c in range(14)], 14, lambda v, e: 1.0)
    assert np.array_equal(build(network, nearest=0, hops=hops).H.toarray(), expected)


def nearest_by_oracle(A: Any, centre: Any, hops: Any, restart: Any, k: int, sharpness: float = 1.0) -> dict[str, Any]:
    pi = oracle.personalised_pagerank(A, centre, hops, restart)
    others = sorted(
        (v for v in range(len(A)) if pi[v] > 0 and v != centre), key=lambda v: (-round(float(pi[v]), 12), v)
    )
    return {v: min(1.0, pi[v] / pi[centre]) ** sharpness for v in [centre, *others][:k]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("k", "hops", "restart", "sharpness"), [(1, 3, 0.15, 1), (4, 2, 0.15, 0.5), (5, 10, 0.4, 0), (99, 4, 0.15, 1)]
)
def test_nearest_accounts_are_those_of_personalised_pagerank(
    seed: Any, k: int, hops: int, restart: float, sharpness: float
) -> None:
    network = random_network(15, 0.2, seed)
    found = build(network, nearest=k, hops=hops, restart=restart, sharpness=sharpness).H.toarray()
    for centre in range(15):
        expected = nearest_by_oracle(network.adjacency.toarray(), centre, hops, restart, k, sharpness)
        got = {int(v): found[v, centre] for v in np.flatnonzero(found[:, centre])}
        # Equal probabilities may be summed in another order: then sizes and values agree, not the accounts.
        assert len(got) == len(expected)
        np.testing.assert_allclose(sorted(got.values()), sorted(expected.values()), atol=1e-6)
        assert got[centre] == 1


def test_the_walk_follows_weights() -> None:
    A = np.zeros((3, 3), np.float32)
    A[0, 1] = A[1, 0] = 9
    A[0, 2] = A[2, 0] = 1
    network = Network(csr_array(A), Network.from_edges([], 3).ids)
    assert set(np.flatnonzero(build(network, nearest=2).H.toarray()[:, 0])) == {0, 1}


@pytest.mark.parametrize("weighted", [False, True])
def test_a_narrow_front_goes_on_from_its_heaviest_accounts_and_ties_from_the_smaller_number(weighted: bool) -> None:
    network = random_network(90, 0.15, 3)
    if weighted:
        A = network.adjacency.toarray() * np.random.default_rng(0).uniform(0.5, 2, (90, 90)).astype(np.float32)
        network = Network(csr_array(np.maximum(A, A.T)), network.ids)
    A = network.adjacency.toarray().astype(np.float64)
    P = A / A.sum(axis=1, keepdims=True)
    H = build(network, nearest=12, front=20, hops=4, restart=0.2, sharpness=1.0).H.toarray()
    for centre in range(0, 90, 7):
        step, total = np.eye(90)[centre], 0.2 * np.eye(90)[centre]
        for t in range(1, 5):
            step = step @ P
            step[sorted(range(90), key=lambda v: (-round(step[v], 12), v))[20:]] = 0
            total = total + 0.2 * 0.8**t * step
        rank = sorted(range(90), key=lambda v: (v != centre, -round(total[v], 12), v))[:12]
        expected = {v: min(total[v] / total[centre], 1) for v in rank}
        assert set(np.flatnonzero(H[:, centre])) == set(rank)
        assert np.allclose([H[v, centre] for v in rank], list(expected.values()), atol=1e-6)


def test_a_narrow_front_keeps_the_heaviest() -> None:
    star = Network.from_edges([(0, i) for i in range(1, 30)] + [(1, 2)], 30)
    assert build(star, nearest=3, front=3).H.toarray()[:, 1].nonzero()[0].tolist() == [0, 1, 2]


@given(st.integers(0, 200), st.integers(2, 12))
@settings(max_examples=25, deadline=None)
def test_relabelled_accounts_give_relabelled_balls(seed: int, n: int) -> None:
    network = random_network(n, 0.3, seed)
    order = np.random.default_rng(seed).permutation(n)
    straight = build(network, nearest=0, hops=2).H.toarray()
    turned = build(relabel(network, order), nearest=0, hops=2).H.toarray()
    assert np.array_equal(turned, straight[np.ix_(order, order)])


def test_anchor_hyperedges_are_the_neighbourhoods_of_the_anchored() -> None:
    network = random_network(20, 0.2, 1)
    whole = build(network, nearest=5).H.toarray()
    assert np.array_equal(build(network, "anchor", anchors=np.array([7, 2]), nearest=5).H.toarray(), whole[:, [2, 7]])


@pytest.mark.parametrize(("anchors", "words"), [(None, "no anchors"), ([], "no anchors"), ([20], "20"), ([-1], "-1")])
def test_anchor_hyperedges_need_anchors_of_this_network(anchors: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        build(random_network(20, 0.2, 1), "anchor", anchors=None if anchors is None else np.array(anchors))


def test_centralities_are_networkx_ones() -> None:
    network = communities(40, 3, 0.5, 0.05, 3)
    graph = nx.from_scipy_sparse_array(network.adjacency)
    found, _ = measure(network, 100, 0)

    def close(name: str, values: Any, tolerance: float = 1e-6) -> None:
        expected = np.array([values[v] for v in range(40)], float)
        np.testing.assert_allclose(found[name] / found[name].max(), expected / expected.max(), atol=tolerance)

    close("degree", dict(graph.degree()))
    close("betweenness", nx.betweenness_centrality(graph))
    close("clustering", nx.clustering(graph))
    close("eigenvector", nx.eigenvector_centrality(graph, max_iter=1000), 1e-3)
    close("pagerank", nx.pagerank(graph), 1e-3)
    close("closeness", nx.harmonic_centrality(graph))
    close("clique", nx.node_clique_number(graph))


def test_a_clique_is_found_whole() -> None:
    network = Network.from_edges([(i, j) for i in range(6) for j in range(i)] + [(5, 6)], 7)
    assert measure(network, 10, 0)[0]["clique"].tolist() == [6] * 6 + [2]


def test_centrality_has_eight_features_and_twelve_communities_in_0_1() -> None:
    H = build(communities(60, 3, 0.5, 0.02, 0), "centrality").H.toarray()
    assert H.shape == (60, 20)
    assert len(FEATURES) == 8
    assert H.min() >= 0
    assert H[:, :8].max(axis=0).tolist() == [1] * 8
    assert set(np.unique(H[:, 8:])) <= {0, 1}
    assert (H[:, 8:11].sum(axis=1) == 1).all()  # three planted communities, one each
    assert H[:, 11:].sum() == 0


def test_sampled_centralities_are_near_exact_ones() -> None:
    network = communities(2100, 5, 0.02, 0.002, 0)
    H = build(network, "centrality", samples=50, seed=1).H.toarray()
    assert (H[:, :8].max(axis=0) == 1).all()
    assert np.array_equal(H, build(network, "centrality", samples=50, seed=1).H.toarray())


def test_latent_codes_of_one_community_are_alike() -> None:
    network = communities(60, 2, 0.5, 0.01, 0)
    codes = build(network, "latent", codes=16, active=0, latent_steps=60).H.toarray()
    centred = codes - codes.mean(axis=0)
    cosine = centred @ centred.T / np.outer(*[np.linalg.norm(centred, axis=1)] * 2)
    same = np.arange(60)[:, None] % 2 == np.arange(60) % 2
    assert cosine[same].mean() > cosine[~same].mean() + 0.5
    assert build(network, "latent", **QUICK).hyperedges == 6
    assert HypergraphConfig().codes == 200


def test_strongest_codes_are_kept() -> None:
    codes = np.array([[0.1, 0.5, 0.5, 0.2], [0.9, 0.1, 0.3, 0.3]])
    assert keep_strongest(codes, 2).toarray().tolist() == [[0, 0.5, 0.5, 0], [0.9, 0, 0.3, 0]]
    assert keep_strongest(codes, 0).toarray().tolist() == codes.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("largest", "most"), [(12, 20), (4, 3), (2, 1)])
def test_profile_hyperedges_are_the_oracles(seed: int, largest: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    held = [set(rng.integers(15, size=rng.integers(6)).tolist()) for _ in range(14)]
    H = np.array([[value in own for value in range(15)] for own in held], np.float32)
    given = Hypergraph(csr_array(H))
    config = HypergraphConfig(builders="profiles", largest=largest, values=most)
    found = build_hypergraph(Network.from_edges([], 14), config, shared_values=given).H
    np.testing.assert_allclose(found.toarray(), oracle.shared_values(held, largest, most), atol=1e-6)
    assert np.diff(found.indptr).max(initial=0) <= most
    assert np.bincount(found.indices, minlength=1).max() <= largest
    assert np.array_equal(rare_values(rare_values(given, config), config).H.toarray() > 0, found.toarray() > 0)


def test_a_value_of_all_accounts_joins_none_and_profiles_must_be_given() -> None:
    network, config = Network.from_edges([], 4), HypergraphConfig(builders="profiles")
    everyone = Hypergraph(csr_array(np.array([[1, 1], [1, 1], [1, 0], [1, 0]], np.float32)))
    assert build_hypergraph(network, config, shared_values=everyone).H.toarray().tolist() == [[1], [1], [0], [0]]
    with pytest.raises(KedgeError, match="no profiles are given"):
        build_hypergraph(network, config)


def test_a_union_has_the_columns_of_all() -> None:
    network = random_network(20, 0.2, 0)
    both = build_hypergraph(network, HypergraphConfig(builders="neighbourhood+centrality"))
    assert both.hyperedges == 40
    assert np.array_equal(both.H.toarray()[:, 20:], build(network, "centrality").H.toarray())
    with pytest.raises(KedgeError, match="cannot be united"):
        unite([random_hypergraph(3, 2, 1, 0), random_hypergraph(4, 2, 1, 0)])
    with pytest.raises(KedgeError, match="no hypergraphs"):
        unite([])


def test_every_builder_has_its_row_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "mgcn.md").read_text("utf-8")
    table = text.partition("## Hypergraph builders")[2].partition("\n## ")[0]
    assert [name for name in BUILDERS if f"| `{name}` |" not in table] == []
    assert all(builder.name == name and builder.about for name, builder in BUILDERS.items())


@pytest.mark.parametrize("value", ["neighborhood", "", "latent+", "latent,anchor"])
def test_unknown_builders_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        HypergraphConfig(builders=value)


@pytest.mark.parametrize("matrix", [np.full((3, 2), 0.5), csr_array(np.eye(3))])
def test_a_users_own_hypergraph_is_accepted(matrix: Any) -> None:
    assert np.array_equal(read_hypergraph(matrix, Network.from_edges([], 3)).H.toarray(), csr_array(matrix).toarray())


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.full((3, 2), 1.5), "outside"),
        (np.full((3, 2), -0.1), "outside"),
        (np.full((3, 2), np.nan), "outside"),
        (np.ones((2, 3)), "3 accounts"),
        (np.array([["a"]] * 3), "matrix of numbers"),
    ],
)
def test_a_bad_hypergraph_is_refused(matrix: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        read_hypergraph(matrix, Network.from_edges([], 3))


def test_the_report_has_the_figures_of_a_hypergraph() -> None:
    H = Hypergraph(csr_array(np.array([[1, 0, 1], [1, 0.5, 0], [0, 0, 0]], np.float32)))
    said = report(H)
    assert (said.accounts, said.hyperedges, said.memberships, said.outside) == (3, 3, 4, 1)
    assert (said.smallest, said.median, said.largest) == (1, 1, 2)
    assert said.coverage == pytest.approx(4 / 9)
    assert said.bytes == H.H.data.nbytes + H.H.indices.nbytes + H.H.indptr.nbytes
    assert said.warning == ""


def test_a_degenerate_hypergraph_is_warned_of_by_name() -> None:
    clique = Network.from_edges([(i, j) for i in range(8) for j in range(i)], 8)
    assert "degenerate hypergraph" in report(build(clique, nearest=0)).warning
    assert "1.00" in report(build(clique, nearest=0)).warning
    assert report(build(clique, nearest=3)).warning == ""


def test_a_ball_that_would_not_fit_is_refused_with_its_coverage() -> None:
    with pytest.raises(KedgeError, match=r"coverage .*nearest"):
        build(random_network(30, 0.5, 0), nearest=0, max_entries=100)


@pytest.mark.parametrize("name", ["neighbourhood", "centrality", "latent"])
@pytest.mark.parametrize(
    "network",
    [Network.from_edges([], 0), Network.from_edges([], 1), Network.from_edges([], 5), Network.from_edges([(0, 1)], 4)],
    ids=["empty", "one account", "no edges", "isolated accounts"],
)
def test_poor_networks_have_hypergraphs_too(name: str, network: Any) -> None:
    H = build(network, name, **QUICK)
    assert H.n == network.n
    assert np.isfinite(H.H.data).all()
    if name == "neighbourhood" and network.n:
        assert H.H.toarray()[-1].tolist() == [0] * (network.n - 1) + [1]  # its own hyperedge of size 1


def test_communities_are_those_of_each_resolution_once_and_finer_ones_are_smaller() -> None:
    network = communities(60, 3, 0.5, 0.01, 0)
    coarse, fine = (build(network, "communities", resolutions=(one,)).H.toarray() for one in (1.0, 8.0))
    planted = np.arange(60) % 3
    for column in coarse.T:
        assert len(set(planted[column > 0])) == 1, "a community of the network"
    assert np.array_equal(coarse.sum(axis=1), np.ones(60)), "one for each account"
    assert fine.sum(axis=0).max() < coarse.sum(axis=0).max()
    both = build(network, "communities", resolutions=(1.0, 8.0, 1.0)).H.toarray()
    assert {tuple(column) for column in both.T} == {tuple(column) for one in (coarse, fine) for column in one.T}
    assert len({tuple(column) for column in both.T}) == both.shape[1]
    sized = build_hypergraph(network, HypergraphConfig(builders="communities:8")).H.toarray()
    assert np.array_equal(sized, fine)


def test_networks_without_edges_have_no_communities_and_stay_alone_in_their_nearest_hyperedges() -> None:
    empty = Network.from_edges([], 4)
    assert build(empty, "communities").H.shape == (4, 0)
    assert np.array_equal(build(empty, "nearest").H.toarray(), np.eye(4))


def test_nearest_hyperedges_hold_the_centre_and_the_largest_cosines() -> None:
    X = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)
    X[7] = 0
    H = around(X, 6).H.toarray()
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    for centre in range(30):
        expected = {centre: 1.0}
        others = sorted((v for v in range(30) if v != centre), key=lambda v: -float(unit[v] @ unit[centre]))
        expected |= {v: float(unit[v] @ unit[centre]) for v in others[:5] if unit[v] @ unit[centre] > 0}
        got = {int(v): float(H[v, centre]) for v in np.flatnonzero(H[:, centre])}
        assert got.keys() == expected.keys()
        assert all(abs(got[v] - expected[v]) < 1e-6 for v in got)
    assert np.flatnonzero(H[:, 7]).tolist() == [7]


def test_nearest_hyperedges_are_redrawn_from_other_vectors_and_no_other_ones_are() -> None:
    network = communities(40, 2, 0.4, 0.05, 0)
    config = HypergraphConfig(builders="nearest:4+neighbourhood:5", similar=99)
    drawn = draw_each(network, config)
    X = np.random.default_rng(1).standard_normal((40, 3)).astype(np.float32)
    before, after = drawn.united().H.toarray(), drawn.united(X).H.toarray()
    assert np.array_equal(after[:, :40], around(X, 4).H.toarray())
    assert np.array_equal(before[:, 40:], after[:, 40:])
    assert not np.array_equal(before[:, :40], after[:, :40])
    assert (before[:, :40] > 0).sum(axis=0).max() <= 4


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in ("anchor", "profiles")])
def test_a_size_after_a_colon_replaces_the_builders_own_setting(name: str) -> None:
    network = communities(40, 2, 0.4, 0.05, 0)
    field, size = SIZES[name], 3
    value = (float(size),) if name == "communities" else size
    sized = build_hypergraph(network, HypergraphConfig(builders=f"{name}:{size}", latent_steps=2))
    named = build_hypergraph(network, HypergraphConfig(builders=name, latent_steps=2, **{field: value}))
    assert np.array_equal(sized.H.toarray(), named.H.toarray())


@pytest.mark.parametrize("builders", ["auto+nearest", "neighbourhood:0", "neighbourhood:", "nearest+", "auto:3", ""])
def test_builders_that_are_not_well_formed_are_refused(builders: str) -> None:
    with pytest.raises(ValueError, match="builders"):
        HypergraphConfig(builders=builders)


def test_a_method_without_trials_refuses_auto_in_one_line() -> None:
    with pytest.raises(KedgeError, match="auto is chosen by fits of MGCN"):
        build_hypergraph(random_network(5, 0.5, 0), HypergraphConfig(builders="auto"))
