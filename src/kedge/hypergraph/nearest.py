"""Nearest hypergraphs: the accounts with the nearest vectors around each account, whether there are edges or not."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.linalg import nearest, sketch_network, unit_rows
from kedge.types import FloatArray, Hypergraph, IntArray, Network

_DIMENSIONS: Final = 64  # of the sketch; unmeasured
_SMOOTHING: Final = 8  # as `partition.sketch_steps`


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """One hyperedge around every account, n × n, by vectors of a sketch of the network (linalg/sketch.py)."""
    del anchors, shared_values
    dimensions = max(1, min(_DIMENSIONS, network.n))
    return around(sketch_network(network, dimensions, _SMOOTHING, seed), config.similar)


def around(vectors: FloatArray, members: int) -> Hypergraph:
    """One hyperedge around each account: itself and the `members` - 1 others with the nearest vectors, n × n.

    p(v, e) = the cosine of v and the centre where it is above 0, and 1 for the centre. An account whose vector is 0 is
    alone in its hyperedge.
    """
    n = len(vectors)
    unit = unit_rows(np.asarray(vectors, np.float32))
    placed = np.flatnonzero(unit.any(axis=1))
    centre, member, cosine = np.arange(n), np.arange(n), np.ones(n, np.float32)
    if len(placed) and members > 1:
        # The centre is among them, unless as many accounts have the same vector: then one of them is left out.
        found = nearest(unit[placed], unit[placed], members)
        rows = np.repeat(placed, found.places.shape[1])
        columns, cosines = placed[found.places.ravel()], found.cosines.ravel()
        others = (found.places.ravel() >= 0) & (rows != columns) & (cosines > 0)
        rank = np.cumsum(others.reshape(found.places.shape), axis=1).ravel()
        others &= rank < members
        centre, member = np.concatenate([centre, rows[others]]), np.concatenate([member, columns[others]])
        cosine = np.concatenate([cosine, np.minimum(cosines[others], 1.0)])
    return Hypergraph(csr_array((cosine, (member, centre)), shape=(n, n)), np.arange(n))
