"""Networks larger than one part: Algorithm 1 and the accounts that every part shares."""

from __future__ import annotations

import numpy as np

from kedge.config import PartitionConfig
from kedge.partition.algorithm import cut_network, louvain
from kedge.partition.shared import choose_shared, part_adjacency
from kedge.types import IntArray, Network, Parts


def partition(
    network: Network, config: PartitionConfig, seed: int, anchors: IntArray | None = None
) -> tuple[Parts, tuple[str, ...]]:
    """The parts of a network with their shared accounts, and notes on every exception."""
    cut = cut_network(network, config, seed)
    known = np.empty(0, np.int64) if anchors is None else anchors
    return Parts(cut.part, choose_shared(network, cut.part, config, known)), cut.notes
