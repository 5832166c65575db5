"""Profile hypergraphs: one hyperedge for each value that accounts have in common (the paper's heterogeneous case)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.linalg import row_index
from kedge.types import Hypergraph, IntArray, KedgeError, Network


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """One hyperedge for each value e of 2 to `largest` accounts, n × values; p(v, e) = log(n / |e|) / log(n / 2).

    So a value of two accounts has p = 1, and one that all accounts have is in no hyperedge. Cost: at most `values`
    memberships for each account, and |e| <= `largest`.
    """
    del seed, anchors  # nothing is drawn
    if shared_values is None:
        raise KedgeError(
            "hypergraph.builders has profiles, and no profiles are given",
            remedy="give profiles of every network, or choose another of hypergraph.builders",
        )
    H = rare_values(shared_values, config).H
    size, n = np.bincount(H.indices, minlength=H.shape[1]), max(network.n, 3)
    rarity = (np.log(n / np.maximum(size, 1)) / np.log(n / 2)).astype(np.float32)
    return Hypergraph(csr_array((rarity[H.indices], H.indices, H.indptr), shape=H.shape))


def rare_values(shared_values: Hypergraph, config: HypergraphConfig) -> Hypergraph:
    """The values of 2 to `largest` accounts, but not of all, of each account its `values` rarest; equal ones by their
    number."""
    H = csr_array(shared_values.H)
    size = np.bincount(H.indices, minlength=H.shape[1])
    rows = row_index(H)
    kept = (size[H.indices] >= 2) & (size[H.indices] <= min(config.largest, H.shape[0] - 1))
    rows, columns = rows[kept], H.indices[kept]
    order = np.lexsort((columns, size[columns], rows))
    rows, columns = rows[order], columns[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    rows, columns = rows[place < config.values], columns[place < config.values]
    # A value that is among the rarest of one account alone joins none.
    count = np.bincount(columns, minlength=H.shape[1])
    joins = count[columns] >= 2
    rows, columns = rows[joins], columns[joins]
    number = np.cumsum(count >= 2) - 1
    entries = (np.ones(len(rows), np.float32), (rows, number[columns]))
    return Hypergraph(csr_array(entries, shape=(H.shape[0], int((count >= 2).sum()))))
