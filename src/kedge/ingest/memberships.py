"""From rows of account, hyperedge and p to a user's own hypergraph."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array

from kedge.ingest.columns import Columns, encode
from kedge.types import Hypergraph, Network

__all__ = ["resolve_memberships"]


def resolve_memberships(columns: Columns, network: Network) -> Hypergraph:
    """H [n, e] with the hyperedges in the order in which they are first named; without a third column every p is 1.

    A membership that is listed more than once has its largest p, as repeated edges have their largest weight.
    """
    encoded = encode(columns)
    rows = np.arange(len(columns.first)) if encoded.kept is None else encoded.kept
    p = np.ones(len(rows)) if columns.weight is None else np.asarray(columns.weight.to_numpy(), np.float64)[rows]
    outside = ~((p >= 0) & (p <= 1))  # so that NaN is outside too
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        raise columns.fault(int(rows[place]), f"p = {p[place]:g} is outside [0, 1]", "scale memberships into [0, 1]")
    account = network.find(encoded.ids.cast(pa.large_string()))[encoded.first]
    if (account < 0).any():
        unknown = np.flatnonzero(account < 0)
        name = encoded.ids[int(encoded.first[unknown[0]])].as_py()
        raise columns.fault(
            int(rows[unknown[0]]),
            f"{name!r} is no account of the network ({len(unknown):,} of {len(rows):,} rows name none)",
            "the columns are account, hyperedge, p: check their order, and that ids are written as in the network",
        )
    if len(rows) == 0:
        return Hypergraph(csr_array(np.zeros((network.n, 0), np.float32)))
    _, first, edge = np.unique(encoded.second, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    edge = order[edge]
    # The last of each membership after sorting by p is its largest.
    by_p = np.lexsort((p, edge, account))
    last = np.append((np.diff(account[by_p]) != 0) | (np.diff(edge[by_p]) != 0), True)
    kept = by_p[last]
    H = coo_array((p[kept].astype(np.float32), (account[kept], edge[kept])), shape=(network.n, len(first))).tocsr()
    H.eliminate_zeros()
    return Hypergraph(H)
