"""Planted things as Arrow tables, ready to be written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import triu

from kedge.synth.pair import checked_seed
from kedge.types import Network, as_pairs

__all__ = ["anchor_table", "edge_table"]


def edge_table(network: Network, seed: int = 0) -> pa.Table:
    """Each undirected edge once as columns `source`, `target` (and `weight` where some weight is not 1).

    Rows and the two ends of each row are in random order, so that a file gives nothing away.
    """
    rng = checked_seed(seed)
    upper = triu(network.adjacency, k=1, format="coo")
    order = rng.permutation(upper.nnz)
    first, second = (np.asarray(ends)[order] for ends in upper.coords)
    turned = rng.random(len(order)) < 0.5
    columns: dict[str, Any] = {
        "source": network.ids.take(pa.array(np.where(turned, second, first))),
        "target": network.ids.take(pa.array(np.where(turned, first, second))),
    }
    weights = np.asarray(upper.data)[order]
    if (weights != 1).any():
        columns["weight"] = pa.array(weights)
    return pa.table(columns)


def anchor_table(left: Network, right: Network, anchors: Any) -> pa.Table:
    """Pairs of accounts as the ids in columns `left`, `right`, in the order given."""
    pairs = as_pairs(anchors)
    return pa.table({"left": left.ids.take(pa.array(pairs[:, 0])), "right": right.ids.take(pa.array(pairs[:, 1]))})
