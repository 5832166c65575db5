"""Neighbourhood hypergraphs: one hyperedge around each account (the paper's first construction)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.errors import KedgeError
from kedge.types import Hypergraph, IntArray, Network

__all__ = ["build", "surround"]


def build(network: Network, config: HypergraphConfig, seed: int = 0, anchors: IntArray | None = None) -> Hypergraph:
    """One hyperedge around every account, n × n: its `hops` neighbourhood, or the `nearest` accounts in it."""
    del seed, anchors  # nothing is drawn, and every account is a centre
    return surround(network, config, np.arange(network.n))


def surround(network: Network, config: HypergraphConfig, centres: IntArray) -> Hypergraph:
    """One hyperedge around each centre, n × c.

    With `nearest = 0` the letter of the paper: all accounts within `hops`, p = 1. Otherwise the `nearest` accounts
    by personalised PageRank within `hops`, p = their probability scaled so that the centre has 1 (and at most 1), to
    the power `sharpness`.
    """
    from kedge.hypergraph.walks import count_ball, list_ball, walk_nearest

    A = network.adjacency
    centres = np.asarray(centres, np.int64)
    shape = (network.n, len(centres))
    if config.nearest == 0:
        sizes = count_ball(A.indptr, A.indices, centres, config.hops)
        entries = int(sizes.sum())
        if entries > config.max_entries:
            raise KedgeError(
                f"{config.hops}-hop hyperedges hold {entries:,} accounts in all, more than {config.max_entries:,} "
                f"(coverage {entries / max(1, shape[0] * shape[1]):.2f})",
                remedy="set hypergraph.nearest to 32, or hypergraph.hops lower",
            )
        ends = np.cumsum(sizes)
        members = list_ball(A.indptr, A.indices, centres, config.hops, ends) if entries else np.empty(0, np.int32)
        edges = np.repeat(np.arange(len(centres)), sizes)
        return Hypergraph(csr_array((np.ones(entries, np.float32), (members, edges)), shape=shape), centres)
    k = min(config.nearest, network.n)
    keep = max(config.front, k)
    nearest, mass, counts = walk_nearest(
        A.indptr, A.indices, A.data.astype(np.float64), centres, config.hops, config.restart, k, keep
    )
    stored = np.arange(k) < counts[:, None]
    scaled = np.minimum(mass / np.maximum(mass[:, :1], np.finfo(np.float64).tiny), 1.0)
    # Most of a walk's probability stays at its centre; a power below 1 lets the other members count for more.
    p = (scaled**config.sharpness).astype(np.float32)
    edges = np.broadcast_to(np.arange(len(centres))[:, None], stored.shape)
    return Hypergraph(csr_array((p[stored], (nearest[stored], edges[stored])), shape=shape), centres)
