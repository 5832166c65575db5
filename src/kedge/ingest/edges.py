"""From columns of ids to a Network: undirected, without loops, every edge once.

The rule for directed input: an edge joins u and v if u→v or v→u is listed. Where an edge is listed more than once,
in either direction, the largest weight counts, so that reading a file twice over changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array

from kedge.ingest.columns import Columns, encode
from kedge.types import FloatArray, IntArray, Network

__all__ = ["EdgeReport", "build_network"]


@dataclass(frozen=True)
class EdgeReport:
    """What was read and what was dropped on the way to the network, and why."""

    rows: int
    header: bool
    comments: int
    self_loops: int
    repeated: int
    zero_weights: int
    trimmed_ids: int
    weighted: bool
    notes: tuple[str, ...]


def build_network(columns: Columns) -> tuple[Network, EdgeReport]:
    """The network that the rows describe, and a report."""
    rows = len(columns.first)
    encoded = encode(columns)
    ids, first, second = encoded.ids.cast(pa.large_string()), encoded.first, encoded.second
    n = len(ids)
    weight = None if columns.weight is None else _weights(columns)
    if weight is not None and encoded.kept is not None:
        weight = weight[encoded.kept]
    zero = 0
    if weight is not None and (weight == 0).any():
        stays = weight != 0
        zero = int((~stays).sum())
        first, second, weight = first[stays], second[stays], weight[stays]
    loops = int((first == second).sum())
    if loops:
        stays = first != second
        first, second = first[stays], second[stays]
        weight = None if weight is None else weight[stays]
    listed = len(first)
    adjacency = _merge_plain(first, second, n) if weight is None else _merge_weighted(first, second, weight, n)
    network = Network(adjacency, ids)
    if columns.isolated is not None:
        network = network.with_isolated(columns.isolated)
    comments = 0 if encoded.kept is None else rows - len(encoded.kept)
    report = EdgeReport(
        rows=rows - comments,
        header=columns.header,
        comments=comments,
        self_loops=loops,
        repeated=listed - network.edges,
        zero_weights=zero,
        trimmed_ids=encoded.trimmed,
        weighted=weight is not None,
        notes=columns.notes,
    )
    return network, report


def _weights(columns: Columns) -> FloatArray:
    assert columns.weight is not None
    remedy = "mend it, or ignore weights with --set read.weights=no"
    values = np.asarray(columns.weight.to_numpy(), dtype=np.float64)
    for is_bad, problem in ((~np.isfinite(values), "is not a finite number"), (values < 0, "is negative")):
        if is_bad.any():
            row = int(np.flatnonzero(is_bad)[0])
            raise columns.fault(row, f"weight {values[row]:g} {problem}", remedy)
    return values


def _merge_plain(first: IntArray, second: IntArray, n: int) -> csr_array:
    # One byte an entry until the end: at 13 million edges the values would weigh as much as the columns.
    low, high = np.minimum(first, second), np.maximum(first, second)
    upper = coo_array((np.ones(len(low), np.bool_), (low, high)), shape=(n, n)).tocsr()
    del low, high
    upper.sum_duplicates()
    both = csr_array(upper + upper.T.tocsr())
    del upper
    return csr_array((np.ones(both.nnz, np.float32), both.indices, both.indptr), shape=(n, n))


def _merge_weighted(first: IntArray, second: IntArray, weight: FloatArray, n: int) -> csr_array:
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    key = low * n + high
    order = np.lexsort((weight, key))
    last = np.flatnonzero(np.append(np.diff(key[order]) != 0, True)) if len(order) else order
    chosen = order[last]
    upper = csr_array((weight[chosen].astype(np.float32), (low[chosen], high[chosen])), shape=(n, n))
    return csr_array(upper + upper.T)
