"""Algorithm 1: every account in one part, sizes within bounds or the exception named; the shared accounts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.config import PartitionConfig
from kedge.errors import KedgeError
from kedge.partition import cut_network, louvain, part_adjacency, partition
from kedge.synthetic import planted
from kedge.types import Network, Parts


def config(**given: Any) -> PartitionConfig:
    return PartitionConfig(**{"n_max": 200, "n_min": 40, "shared": 20, **given})


@pytest.fixture(scope="module")
def social() -> Network:
    return planted(1500, 1500, 500, 9000, 9000, 0.5, 0).left


def clique(n: int) -> Network:
    return Network.from_edges([(i, j) for i in range(n) for j in range(i)], n)


@pytest.mark.parametrize("merge", ["edges", "paper"])
def test_every_account_is_in_one_part_of_allowed_size(social: Network, merge: str) -> None:
    cut = cut_network(social, config(merge=merge), 3)
    sizes = np.bincount(cut.part)
    assert len(cut.part) == social.n
    assert sizes.min() >= 40
    assert sizes.max() <= 200
    assert cut.notes == ()


def test_parts_hold_neighbours_together(social: Network) -> None:
    part = cut_network(social, config(), 3).part
    rows = np.repeat(np.arange(social.n), social.degrees)
    inside = (part[rows] == part[social.adjacency.indices]).mean()
    shuffled = np.random.default_rng(0).permutation(part)
    by_chance = (shuffled[rows] == shuffled[social.adjacency.indices]).mean()
    assert inside > 3 * by_chance


def test_the_same_seed_cuts_the_same(social: Network) -> None:
    one, two = (cut_network(social, config(), 5).part for _ in range(2))
    assert (one == two).all()


def test_merging_by_edges_keeps_more_edges_inside_than_merging_at_random(social: Network) -> None:
    rows = np.repeat(np.arange(social.n), social.degrees)

    def inside(merge: str) -> float:
        shares = []
        for seed in range(5):
            part = cut_network(social, config(merge=merge, n_min=80), seed).part
            shares.append((part[rows] == part[social.adjacency.indices]).mean())
        return float(np.mean(shares))

    assert inside("edges") > inside("paper")


def test_communities_that_are_all_small_are_merged_whole_into_several_parts() -> None:
    """As printed, each goes to a random other part. None is torn, and not all of them are poured into one."""
    n, size = 1200, 12
    edges = [(c + i, c + j) for c in range(0, n, size) for i in range(size) for j in range(i)]
    edges += [(c, (c + size) % n) for c in range(0, n, size)]
    cut = cut_network(Network.from_edges(edges, n), config(n_max=200, n_min=40, merge="paper"), 0)
    sizes = np.bincount(cut.part)
    assert cut.notes == ()
    assert sizes.min() >= 40
    assert sizes.max() <= 200
    assert all(len(set(cut.part[c : c + size])) == 1 for c in range(0, n, size)), "no community is torn"
    at_random = [cut_network(Network.from_edges(edges, n), config(merge="paper"), seed).part for seed in (0, 1)]
    assert (at_random[0] != at_random[1]).any()


def test_a_network_that_fits_is_one_part_without_shared_accounts() -> None:
    parts, notes = partition(clique(10), config(), 0)
    assert parts.count == 1
    assert len(parts.shared) == 0
    assert notes == ()


def test_a_clique_that_louvain_cannot_split_is_cut_and_named() -> None:
    cut = cut_network(clique(90), config(n_max=30, n_min=5), 0)
    assert np.bincount(cut.part).max() <= 30
    assert "Louvain cannot split a part of 90 accounts" in " ".join(cut.notes)


def test_thousands_of_tiny_components_are_put_together() -> None:
    n = 3000
    network = Network.from_edges([(i, i + 1) for i in range(0, n, 3)] + [(i + 1, i + 2) for i in range(0, n, 3)], n)
    cut = cut_network(network, config(n_max=200, n_min=100), 0)
    sizes = np.bincount(cut.part)
    assert sizes.min() >= 100
    assert sizes.max() <= 200
    assert all(len(set(cut.part[i : i + 3])) == 1 for i in range(0, n, 3)), "no component is torn"


def test_edgeless_networks_and_single_accounts() -> None:
    cut = cut_network(Network.from_edges([], 500), config(n_max=100, n_min=10), 0)
    assert np.bincount(cut.part).max() <= 100
    assert cut_network(Network.from_edges([], 1), config(), 0).part.tolist() == [0]


def test_bounds_that_contradict_each_other_are_refused(social: Network) -> None:
    with pytest.raises(KedgeError, match=r"n_min 300 is above partition\.n_max 200"):
        cut_network(social, config(n_min=300), 0)
    with pytest.raises(KedgeError, match=r"partition\.shared 1500 is not below"):
        partition(social, config(shared=1500), 0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 60), st.integers(0, 150), st.integers(2, 20), st.integers(1, 10))
def test_any_network_is_cut_within_the_upper_bound(seed: int, n: int, m: int, n_max: Any, n_min: Any) -> None:
    rng = np.random.default_rng(seed)
    network = Network.from_edges(rng.integers(n, size=(m, 2)), n)
    cut = cut_network(network, config(n_max=n_max, n_min=min(n_min, n_max)), seed)
    assert len(cut.part) == n
    sizes = np.bincount(cut.part)
    assert sizes.max() <= n_max
    assert sizes.min() >= 1
    if (sizes < min(n_min, n_max)).any() and len(sizes) > 1:
        assert "stay under" in " ".join(cut.notes)


def test_the_papers_shared_accounts_are_those_of_highest_degree_with_all_edges(social: Network) -> None:
    settings = config(shared_by="paper")
    parts, _ = partition(social, settings, 0)
    assert social.degrees[parts.shared].min() >= np.sort(np.delete(social.degrees, parts.shared))[-1]
    accounts, inside = part_adjacency(social, parts, 0, settings)
    assert set(parts.shared) <= set(accounts)
    assert (inside != social.adjacency[accounts][:, accounts]).nnz == 0


def test_anchored_accounts_are_shared_first_on_request(social: Network) -> None:
    anchors = np.arange(100, 115)
    parts, _ = partition(social, config(anchors_first=True, shared_by="bridges"), 0, anchors)
    assert set(anchors) <= set(parts.shared)


def oracle_halo(network: Network, members: set[int], count: int, first: set[int]) -> set[int]:
    """Account by account: anchors first, then most edges into the part, then fewest edges, then the lowest number."""
    A = network.adjacency.toarray()
    worth = []
    for v in range(network.n):
        into = sum(u in members for u in np.flatnonzero(A[v]).tolist())
        if v not in members and into > 0:
            worth.append((v not in first, -into, int(network.degrees[v]), v))
    return {row[-1] for row in sorted(worth)[:count]}


@pytest.mark.parametrize("anchors_first", [False, True])
def test_halo_accounts_are_the_neighbours_with_most_edges_into_the_part(social: Network, anchors_first: bool) -> None:
    settings, anchors = config(shared=25, anchors_first=anchors_first), np.arange(0, social.n, 7)
    parts, _ = partition(social, settings, 0, anchors)
    assert len(parts.shared) == 0
    first = set(anchors.tolist()) if anchors_first else set()
    for p in range(parts.count):
        members = set(parts.members(p).tolist())
        accounts, inside = part_adjacency(social, parts, p, settings, anchors)
        halo = set(accounts.tolist()) - members
        assert halo == oracle_halo(social, members, 25, first)
        # Every edge with an end at home, and no edge between two halo.
        home = np.array([account in members for account in accounts.tolist()])
        whole = social.adjacency.toarray()[np.ix_(accounts, accounts)]
        assert np.array_equal(inside.toarray(), np.where(home[:, None] | home, whole, 0))


def test_halo_accounts_cost_at_most_each_cut_edge_twice(social: Network) -> None:
    settings = config(shared=social.n - 1)
    parts, _ = partition(social, settings, 0)
    trained = sum(part_adjacency(social, parts, p, settings)[1].nnz for p in range(parts.count))
    rows = np.repeat(np.arange(social.n), social.degrees)
    across = (parts.part[rows] != parts.part[social.adjacency.indices]).sum()
    assert trained == social.adjacency.nnz + across


def test_bridges_cost_fewer_edges_than_the_top_degrees(social: Network) -> None:
    def trained(shared_by: str) -> int:
        settings = config(shared=60, shared_by=shared_by, shared_edges=4)
        parts, _ = partition(social, settings, 0)
        return sum(part_adjacency(social, parts, p, settings)[1].nnz for p in range(parts.count))

    assert trained("bridges") < trained("paper")


def test_a_part_keeps_every_edge_of_its_own_members(social: Network) -> None:
    settings = config(shared=60, shared_edges=2, shared_by="bridges")
    parts, _ = partition(social, settings, 0)
    for p in range(parts.count):
        accounts, inside = part_adjacency(social, parts, p, settings)
        whole = social.adjacency[accounts][:, accounts]
        mine = np.flatnonzero(parts.part[accounts] == p)
        assert (inside[mine] != whole[mine]).nnz == 0
        assert (inside != inside.T.tocsr()).nnz == 0
        assert inside.nnz <= whole.nnz


def test_parts_know_their_members() -> None:
    parts = Parts(np.array([0, 1, 0]), np.array([1]))
    assert parts.count == 2
    assert parts.members(0).tolist() == [0, 2]


def test_louvain_finds_two_cliques_joined_by_one_edge() -> None:
    edges = (
        [(i, j) for i in range(8) for j in range(i)] + [(8 + i, 8 + j) for i in range(8) for j in range(i)] + [(0, 8)]
    )
    label = louvain(Network.from_edges(edges, 16).adjacency, 0)
    assert label.tolist() == [0] * 8 + [1] * 8
