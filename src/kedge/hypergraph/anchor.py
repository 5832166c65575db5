"""Anchor hypergraphs: hyperedges around anchored accounts only (the paper's second construction)."""

from __future__ import annotations

import numpy as np

from kedge.config import HypergraphConfig
from kedge.hypergraph.neighbourhood import surround
from kedge.types import Hypergraph, IntArray, KedgeError, Network


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """One hyperedge around each anchored account, n × anchors: far fewer than one around every account."""
    del seed, shared_values  # nothing is drawn
    if anchors is None or len(anchors) == 0:
        raise KedgeError(
            "the anchor hypergraph has no anchors to stand around", remedy="use another of hypergraph.builders"
        )
    centres = np.unique(np.asarray(anchors, np.int64))
    if centres[0] < 0 or centres[-1] >= network.n:
        raise KedgeError(
            f"an anchor names account {centres[0] if centres[0] < 0 else centres[-1]}",
            remedy=f"the network has accounts 0 to {network.n - 1}",
        )
    return surround(network, config, centres)
