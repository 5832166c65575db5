"""Small random networks and hypergraphs for tests."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.types import Hypergraph, Network


def random_network(n: int, share: float, seed: int) -> Network:
    """Each pair an edge with the same chance; some accounts may be isolated."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < share, 1))
    return Network.from_edges(pairs, n)


def random_hypergraph(n: int, m: int, share: float, seed: int) -> Hypergraph:
    """Memberships in (0, 1], some hyperedges possibly empty."""
    rng = np.random.default_rng(seed)
    H = rng.uniform(0.05, 1, (n, m)) * (rng.random((n, m)) < share)
    return Hypergraph(csr_array(H.astype(np.float32)))


def communities(n: int, blocks: int, inside: float, outside: float, seed: int) -> Network:
    """A planted partition: something to learn."""
    rng = np.random.default_rng(seed)
    block = np.arange(n) % blocks
    chance = np.where(block[:, None] == block, inside, outside)
    return Network.from_edges(np.argwhere(np.triu(rng.random((n, n)) < chance, 1)), n)


def relabel(network: Network, order: np.ndarray) -> Network:
    """Account i of the result is account order[i]."""
    A = network.adjacency.toarray()[np.ix_(order, order)]
    return Network.from_edges(np.argwhere(np.triu(A, 1)), network.n)
