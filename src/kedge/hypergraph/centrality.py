"""Centrality hypergraphs: social standing as hyperedges (the paper's third construction)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.hypergraph.clique import clique_numbers
from kedge.linalg import row_index
from kedge.types import FloatArray, Hypergraph, IntArray, Network

_EXACT = 2000  # up to this many accounts betweenness and closeness are exact; beyond, sampled; unmeasured


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """8 centralities and the `communities` largest communities, n × (8 + communities); each column scaled to [0, 1].

    p(v, e) of a centrality is its value over the network's largest, so that 0 stays "not in this hyperedge".
    """
    del anchors, shared_values
    values, community = measure(network, config.samples, seed)
    columns = [values[name] for name in FEATURES]
    # A network of fewer communities has empty hyperedges at the end, so that H always has the same width.
    columns += [(community == rank).astype(np.float64) for rank in range(config.communities)]
    scaled = np.stack([_scale(column) for column in columns], axis=1).reshape(network.n, len(columns))
    return Hypergraph(csr_array(scaled.astype(np.float32)))


def _scale(column: FloatArray) -> FloatArray:
    """Into [0, 1] by the largest; values too small or odd to count are 0."""
    clean = np.clip(np.nan_to_num(column), 0, None)
    largest = clean.max(initial=0.0)
    return clean / largest if largest > 0 else np.zeros_like(clean)


def measure(network: Network, samples: int, seed: int) -> tuple[dict[str, FloatArray], IntArray]:
    """The 8 centralities of every account, unscaled, and its community's rank by size, from 0."""
    import networkit as nk

    graph = nk.graph.Graph(network.n)
    rows = row_index(network.adjacency)
    above = rows < network.adjacency.indices
    for i, j in zip(rows[above].tolist(), network.adjacency.indices[above].tolist(), strict=True):
        graph.addEdge(i, j)
    graph.sortEdges()
    threads = nk.getMaxNumberOfThreads()
    nk.setSeed(seed, False)
    nk.setNumberOfThreads(1)  # with several threads the communities depend on their race
    try:
        community = _rank_communities(nk, graph) if network.n else np.empty(0, np.int64)
        context = _Context(nk, graph, network, community, samples)
        return {name: feature(context) for name, feature in FEATURES.items()}, community
    finally:
        nk.setNumberOfThreads(threads)


class _Context:
    """What the features are computed from."""

    def __init__(self, nk: Any, graph: Any, network: Network, community: IntArray, samples: int) -> None:
        self.nk, self.graph, self.network, self.community = nk, graph, network, community
        self.samples = min(samples, network.n)
        self.exact = network.n <= _EXACT

    def scores(self, algorithm: Any) -> FloatArray:
        """An algorithm's score of every account; 0 where there is nothing to score."""
        if self.network.edges == 0:
            return np.zeros(self.network.n)
        return np.asarray(algorithm().run().scores(), np.float64)


def _rank_communities(nk: Any, graph: Any) -> IntArray:
    """Louvain's communities numbered by falling size, equal ones by their first account."""
    louvain = nk.community.PLM(graph)
    louvain.run()
    _, first, member, size = np.unique(
        louvain.getPartition().getVector(), return_index=True, return_inverse=True, return_counts=True
    )
    rank = np.empty(len(size), np.int64)
    rank[np.lexsort((first, -size))] = np.arange(len(size))
    return np.asarray(rank[member])


def _betweenness(c: _Context) -> FloatArray:
    if c.exact:
        return c.scores(lambda: c.nk.centrality.Betweenness(c.graph))
    return c.scores(lambda: c.nk.centrality.EstimateBetweenness(c.graph, c.samples))


def _closeness(c: _Context) -> FloatArray:
    """Harmonic closeness, which is defined between components too, from all accounts or a sample of them."""
    n = c.network.n
    if n == 0:
        return np.zeros(0)
    sources = np.arange(n) if c.exact else np.unique(np.linspace(0, n - 1, c.samples).astype(np.int64))
    total = np.zeros(n)
    for source in sources.tolist():
        search = c.nk.distance.BFS(c.graph, source, storePaths=False)
        search.run()
        distance = np.asarray(search.getDistances(), np.float64)
        near = (distance > 0) & (distance < n)
        total[near] += 1 / distance[near]
    return total / max(1, len(sources))


def _eigenvector(c: _Context) -> FloatArray:
    """The leading eigenvector of A + I by 100 rounds: A's own iteration does not converge on a bipartite network."""
    x = np.ones(c.network.n)
    for _ in range(100):
        x = c.network.adjacency @ x + x
        x /= max(np.linalg.norm(x), np.finfo(np.float64).tiny)
    return x


FEATURES: Final[Mapping[str, Callable[[_Context], FloatArray]]] = {
    "degree": lambda c: c.network.degrees.astype(np.float64),
    "betweenness": _betweenness,
    "clustering": lambda c: c.scores(lambda: c.nk.centrality.LocalClusteringCoefficient(c.graph)),
    "eigenvector": _eigenvector,
    "pagerank": lambda c: c.scores(lambda: c.nk.centrality.PageRank(c.graph)),
    "closeness": _closeness,
    "clique": lambda c: clique_numbers(c.network)[0].astype(np.float64),
    "community": lambda c: np.bincount(c.community, minlength=1)[c.community].astype(np.float64),
}
