"""The paper's sub-networks: the printed rule, and what a sub-network holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.errors import KedgeError
from kedge.synthetic import expected_shares, split, subnetworks
from kedge.types import Network


def a_network(n: int, edges: int, seed: int = 0, weighted: bool = False) -> Network:
    rng = np.random.default_rng(seed)
    network = Network.from_edges(rng.integers(0, n, (edges, 2)), n)
    if not weighted:
        return network
    a, b = network.adjacency.tocoo().coords
    # A weight that names its edge lets a test recognise an edge under new ids.
    names = (np.minimum(a, b) * n + np.maximum(a, b)).astype(np.float32)
    return Network(csr_array((names, (a, b)), shape=(n, n)), network.ids)


def printed(p: float, alpha_s: float, alpha_c: float) -> str:
    """The paper's sentence, word for word."""
    if p <= 1 - 2 * alpha_s + alpha_s * alpha_c:
        return "discarded"
    if 1 - 2 * alpha_s + alpha_s * alpha_c < p <= 1 - alpha_s:
        return "first"
    if 1 - alpha_s < p <= 1 - alpha_s * alpha_c:
        return "second"
    return "both"


@pytest.mark.parametrize(("alpha_s", "alpha_c"), [(0.3, 0.3), (0.6, 0.1), (0.6, 0.9), (0.9, 0.9), (0.9, 0.1), (1, 0.5)])
def test_edges_fall_as_printed(alpha_s: float, alpha_c: float) -> None:
    network = a_network(2000, 60_000)
    pair = subnetworks(network, alpha_s, alpha_c, seed=1)
    fates = [printed(p, alpha_s, alpha_c) for p in np.linspace(0, 1, 20_001)[1:]]
    share = {fate: fates.count(fate) / len(fates) for fate in ("first", "second", "both")}
    assert expected_shares(alpha_s, alpha_c) == pytest.approx(
        (share["first"] + share["both"], share["second"] + share["both"], share["both"]), abs=1e-3
    )
    # Both ends of a shared edge are in both sub-networks, so counting among anchors misses none.
    for seen, expected in (
        (pair.left.edges, share["first"] + share["both"]),
        (pair.right.edges, share["second"] + share["both"]),
        (pair.realised["shared_edges"], share["both"]),
    ):
        assert seen / network.edges == pytest.approx(expected, abs=4 * np.sqrt(0.25 / network.edges))


def test_unequal_shares_are_noted_with_their_size() -> None:
    network = a_network(200, 2000)
    (first, *_) = subnetworks(network, 0.9, 0.1, seed=0).notes
    assert "unequal" in first
    assert "0.190" in first
    assert "0.900" in first
    assert not any("unequal" in note for note in subnetworks(network, 0.5, 0.0, seed=0).notes)
    assert not any("unequal" in note for note in subnetworks(network, 0.9, 0.9, seed=0).notes)


def test_anchors_join_the_same_account_and_no_other_is_in_both() -> None:
    network = a_network(300, 500, weighted=True)
    pair = subnetworks(network, 0.5, 0.5, seed=4)

    def persons(side: Network) -> list[int]:
        """Who an account was: its edges' weights name both ends, an account of two edges is the common one."""
        found = []
        for account in range(side.n):
            span = slice(side.adjacency.indptr[account], side.adjacency.indptr[account + 1])
            ends = [{int(w) // network.n, int(w) % network.n} for w in side.adjacency.data[span]]
            common = set.intersection(*ends)
            found.append(common.pop() if len(common) == 1 else -1)
        return found

    left, right = persons(pair.left), persons(pair.right)
    known = [(a, b) for a, b in pair.anchors if left[a] >= 0 and right[b] >= 0]
    assert len(known) > 50
    assert all(left[a] == right[b] for a, b in known)
    anchored = set(pair.anchors[:, 0].tolist())
    outside = {left[a] for a in range(pair.left.n) if a not in anchored} - {-1}
    assert outside.isdisjoint(right)


def test_a_subnetwork_holds_just_the_accounts_with_an_edge() -> None:
    pair = subnetworks(a_network(500, 500), 0.3, 0.5, seed=0)
    assert pair.left.degrees.min() == pair.right.degrees.min() == 1
    assert any("not in it" in note for note in pair.notes)
    assert len({*pair.left.ids.to_pylist(), *pair.right.ids.to_pylist()}) == pair.left.n + pair.right.n


@pytest.mark.parametrize(
    ("alpha_s", "alpha_c", "seed", "word"),
    [
        (1.1, 0.5, 0, "alpha_s"),
        (-0.1, 0.5, 0, "alpha_s"),
        (0.5, 2, 0, "alpha_c"),
        (0.5, float("nan"), 0, "alpha_c"),
        ("x", 0.5, 0, "alpha_s"),
        (0.5, 0.5, -1, "seed"),
        (0.5, 0.5, 1.5, "seed"),
        (0.5, 0.5, 2**63, "seed"),
        (0, 0.5, 0, "left"),
        (1, 0, 0, "left"),
    ],
)
def test_nonsense_is_refused_in_one_line(alpha_s: float, alpha_c: float, seed: int, word: str) -> None:
    with pytest.raises(KedgeError, match=word) as refusal:
        subnetworks(a_network(20, 40), alpha_s, alpha_c, seed)
    assert "; " in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_network_without_edges_is_refused() -> None:
    with pytest.raises(KedgeError, match="no edges"):
        subnetworks(Network.from_edges([], 3), 0.5, 0.5, 0)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**63 - 1))
def test_any_shares_give_a_sound_pair_or_a_refusal(alpha_s: float, alpha_c: float, seed: int) -> None:
    network = a_network(30, 90)
    try:
        pair = subnetworks(network, alpha_s, alpha_c, seed)
    except KedgeError:
        return
    for side, network_side in enumerate((pair.left, pair.right)):
        assert (abs(network_side.adjacency - network_side.adjacency.T)).nnz == 0
        assert network_side.adjacency.diagonal().sum() == 0
        assert len(np.unique(pair.anchors[:, side])) == len(pair.anchors)
    assert pair.left.edges + pair.right.edges - pair.realised["shared_edges"] <= network.edges


def test_split_deals_every_anchor_once() -> None:
    anchors = np.column_stack([np.arange(101), np.arange(101)[::-1]])
    train, test = split(anchors, 0.3, seed=2)
    assert (len(train), len(test)) == (30, 71)
    assert sorted(map(tuple, np.concatenate([train, test]))) == sorted(map(tuple, anchors))
    assert not np.array_equal(train, anchors[:30])
    assert np.array_equal(train, split(anchors, 0.3, seed=2)[0])
    with pytest.raises(KedgeError, match="train_share"):
        split(anchors, 1.5, 0)
