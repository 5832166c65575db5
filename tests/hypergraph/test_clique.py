"""Node clique numbers against networkx, which lists every clique."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.hypergraph.clique import clique_numbers
from kedge.types import Network


def drawn(n: int, share: float, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_edges(np.argwhere(np.triu(rng.random((n, n)) < share, 1)), n)


def by_networkx(network: Network) -> list[int]:
    found = nx.node_clique_number(nx.from_scipy_sparse_array(network.adjacency))
    return [found[v] for v in range(network.n)]


@given(st.integers(1, 90), st.floats(0, 0.6), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_every_account_has_its_largest_clique(n: int, share: float, seed: int) -> None:
    network = drawn(n, share, seed)
    sizes, proved = clique_numbers(network)
    assert proved.all()
    assert sizes.tolist() == by_networkx(network)


def test_without_a_budget_they_are_lower_bounds_that_are_not_called_proved() -> None:
    network = drawn(120, 0.5, 1)
    exact = np.array(by_networkx(network))
    sizes, proved = clique_numbers(network, branches=0)
    assert (sizes <= exact).all()
    assert (sizes[proved] == exact[proved]).all()
    assert 0 < (sizes < exact).sum() <= (~proved).sum()


def test_more_members_than_the_bits_of_one_word() -> None:
    """A clique of 70 and a pendant account: sets span two words."""
    edges = [(i, j) for i in range(70) for j in range(i)] + [(69, 70)]
    sizes, proved = clique_numbers(Network.from_edges(edges, 71))
    assert sizes.tolist() == [70] * 70 + [2]
    assert proved.all()
