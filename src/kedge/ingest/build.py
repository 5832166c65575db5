"""From columns of ids to a Network (undirected, without loops, every edge once) or to a user's own Hypergraph.

The rule for directed input: an edge joins u and v if u→v or v→u is listed. Where an edge is listed more than once,
in either direction, the largest weight counts, so that reading a file twice over changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array, csr_array

from kedge.ingest.columns import LEAST_WEIGHT, Columns, Encoded, encode, weight_faults
from kedge.linalg import pattern
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network, pair_keys

_DIRECTED: Final = "its edges have directions, which are ignored: two accounts are joined whichever is listed first"
_FEWEST_ROWS: Final = 10  # from which a first row with accounts of its own is noted; unmeasured


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
    directed: bool  # whether the source states directions, which are ignored
    notes: tuple[str, ...]


def build_network(columns: Columns) -> tuple[Network, EdgeReport]:
    """The network that the rows describe, and a report."""
    rows = len(columns.first)
    encoded = encode(columns)
    ids, first, second = encoded.ids.cast(pa.large_string()), encoded.first, encoded.second
    n = len(ids)
    weight = None if columns.weight is None else _weights(columns)
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
    report = EdgeReport(
        rows=rows,
        header=columns.header,
        comments=columns.comments,
        self_loops=loops,
        repeated=listed - network.edges,
        zero_weights=zero,
        trimmed_ids=encoded.trimmed,
        weighted=weight is not None and bool(len(weight)) and bool((weight != weight[0]).any()),
        directed=columns.directed,
        notes=(*columns.notes, *_header_notes(columns, encoded), *((_DIRECTED,) if columns.directed else ())),
    )
    return network, report


def _header_notes(columns: Columns, encoded: Encoded) -> tuple[str, ...]:
    """A note where the first row is an edge whose two accounts are in no other row, as a header would be."""
    first, second = encoded.first, encoded.second
    if not columns.doubtful or len(first) < _FEWEST_ROWS:
        return ()
    again = np.isin(first[1:], [first[0], second[0]]) | np.isin(second[1:], [first[0], second[0]])
    if again.any():
        return ()
    names = ", ".join(encoded.ids[int(side[0])].as_py() for side in (first, second))
    return (f"the first row ({names}) has accounts of no other row; if it is a header: --set read.header=yes",)


def _weights(columns: Columns) -> FloatArray:
    assert columns.weight is not None
    remedy = "mend it, scale the weights, or ignore them with --set read.weights=no"
    values = np.asarray(columns.weight.to_numpy(), dtype=np.float64)
    for is_bad, problem in weight_faults(values):
        if is_bad.any():
            row = int(np.flatnonzero(is_bad)[0])
            raise columns.fault(row, f"weight {values[row]:g} {problem}", remedy)
    return values


def _merge_plain(first: IntArray, second: IntArray, n: int) -> csr_array:
    # One byte per entry until the end: at 13 million edges the values would weigh as much as the columns.
    low, high = np.minimum(first, second), np.maximum(first, second)
    upper = coo_array((np.ones(len(low), np.bool_), (low, high)), shape=(n, n)).tocsr()
    del low, high
    upper.sum_duplicates()
    both = csr_array(upper + upper.T.tocsr())
    del upper
    return pattern(both, np.float32)


def _merge_weighted(first: IntArray, second: IntArray, weight: FloatArray, n: int) -> csr_array:
    low, high = np.minimum(first, second), np.maximum(first, second)
    key = pair_keys(low, high, n)
    order = np.lexsort((weight, key))
    last = np.flatnonzero(np.append(np.diff(key[order]) != 0, True)) if len(order) else order
    chosen = order[last]
    upper = csr_array((weight[chosen].astype(np.float32), (low[chosen], high[chosen])), shape=(n, n))
    return csr_array(upper + upper.T)


def accept_hypergraph(matrix: Any, network: Network, isolated: int = 0) -> Hypergraph:
    """A user's own matrix [n, e] of memberships p(v, e), dense or sparse, checked.

    The last `isolated` accounts are known from anchors alone: a matrix has no rows for them.
    """
    n = network.n - isolated
    try:
        H = csr_array(matrix)
    except (TypeError, ValueError) as error:
        raise KedgeError(f"a hypergraph is a matrix of numbers ({error})") from None
    if H.ndim != 2 or H.shape[0] != n:
        raise KedgeError(f"a hypergraph of shape {H.shape} for {n:,} accounts", remedy="give one row for each account")
    outside = ~((H.data >= 0) & (H.data <= 1))  # so that NaN is outside too
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        account = int(np.searchsorted(H.indptr, place, side="right")) - 1
        raise KedgeError(
            f"p({account}, {H.indices[place]}) = {H.data[place]:g} is outside [0, 1]",
            remedy="scale memberships into [0, 1]",
        )
    longer = np.append(H.indptr, np.full(isolated, H.nnz, H.indptr.dtype))
    return Hypergraph(csr_array((H.data.astype(np.float32), H.indices, longer), shape=(network.n, H.shape[1])))


def build_hypergraph(columns: Columns, network: Network) -> Hypergraph:
    """H [n, e] with the hyperedges in the order in which they are first named; without a third column every p is 1.

    A membership that is listed more than once has its largest p, as repeated edges have their largest weight.
    """
    encoded = encode(columns)
    rows = np.arange(len(columns.first))
    p = np.ones(len(rows)) if columns.weight is None else np.asarray(columns.weight.to_numpy(), np.float64)
    outside = ~((p >= 0) & (p <= 1))  # so that NaN is outside too
    if outside.any():
        place = int(np.flatnonzero(outside)[0])
        raise columns.fault(place, f"p = {p[place]:g} is outside [0, 1]", "scale memberships into [0, 1]")
    if ((p > 0) & (p < LEAST_WEIGHT)).any():
        place = int(np.flatnonzero((p > 0) & (p < LEAST_WEIGHT))[0])
        raise columns.fault(place, f"p = {p[place]:g} is below {LEAST_WEIGHT:g} and not 0", "write 0, or a larger p")
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
