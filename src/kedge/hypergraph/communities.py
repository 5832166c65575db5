"""Community hypergraphs: the communities of a network at several resolutions."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.partition import louvain
from kedge.types import Hypergraph, IntArray, Network


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """One hyperedge for each of Louvain's communities of two accounts or more, but not of all, at each of
    `resolutions`; p(v, e) = 1.

    A community that several resolutions find is a hyperedge once. Cost: Louvain's, once per resolution.
    """
    del anchors, shared_values
    rows, columns, count = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    seen: set[bytes] = set()
    for resolution in config.resolutions:
        label = louvain(network.adjacency, seed, resolution)
        order = np.argsort(label, kind="stable")
        for members in np.split(order, np.cumsum(np.bincount(label))[:-1]) if network.n else []:
            if not 2 <= len(members) < network.n or members.tobytes() in seen:
                continue
            seen.add(members.tobytes())
            rows.append(members)
            columns.append(np.full(len(members), count))
            count += 1
    row, column = np.concatenate(rows), np.concatenate(columns)
    return Hypergraph(csr_array((np.ones(len(row), np.float32), (row, column)), shape=(network.n, count)))
