"""A network, a hypergraph over its accounts, and its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from kedge.errors import KedgeError
from kedge.types.arrays import IntArray, as_pairs, read_only, read_only_csr


@dataclass(frozen=True, slots=False)
class Network:
    """An undirected network: a symmetric n × n adjacency without loops, and a name for each account.

    `adjacency` holds float32 weights > 0; `ids` is an Arrow array of n distinct strings.
    """

    adjacency: csr_array
    ids: pa.Array

    def __post_init__(self) -> None:
        n = self.adjacency.shape[0]
        if self.adjacency.shape != (n, n):
            raise ValueError(f"an adjacency is square, not {self.adjacency.shape}")
        if len(self.ids) != n:
            raise ValueError(f"{len(self.ids)} ids for {n} accounts")
        object.__setattr__(self, "adjacency", read_only_csr(csr_array(self.adjacency)))

    @classmethod
    def from_edges(cls, edges: Any, n: int, ids: Iterable[str] | None = None) -> Network:
        """From integer pairs [m, 2]: loops dropped, duplicates and reversals merged, every weight 1."""
        pairs = as_pairs(edges)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        rows = np.concatenate([pairs[:, 0], pairs[:, 1]])
        columns = np.concatenate([pairs[:, 1], pairs[:, 0]])
        adjacency = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n, n))
        adjacency.sum_duplicates()
        adjacency.data[:] = 1.0
        names = [str(i) for i in range(n)] if ids is None else list(ids)
        return cls(adjacency, pa.array(names, pa.large_string()))

    @property
    def n(self) -> int:
        """The number of accounts."""
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """The number of undirected edges."""
        return int(self.adjacency.nnz // 2)

    @cached_property
    def degrees(self) -> IntArray:
        """The number of neighbours of each account, int64 [n]; weights do not count."""
        return read_only(np.diff(self.adjacency.indptr).astype(np.int64))

    def find(self, ids: Any) -> IntArray:
        """The account of each id, int64; -1 where the network has no such id."""
        wanted = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(list(ids), pa.large_string())
        found = pc.index_in(wanted.cast(pa.large_string()), value_set=self.ids)
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)

    def name(self, account: int) -> str:
        """The id of one account."""
        return str(self.ids[int(account)])

    def with_isolated(self, ids: pa.Array) -> Network:
        """The same network with further accounts that have no edges; ids already there are ignored."""
        new = pc.unique(ids.cast(pa.large_string()))
        new = new.filter(pc.invert(pc.is_in(new, value_set=self.ids)))
        if len(new) == 0:
            return self
        n = self.n + len(new)
        old = self.adjacency
        indptr = np.concatenate([old.indptr, np.full(len(new), old.indptr[-1], old.indptr.dtype)])
        adjacency = csr_array((old.data, old.indices, indptr), shape=(n, n))
        return Network(adjacency, pa.concat_arrays([self.ids.cast(pa.large_string()), new]))


@dataclass(frozen=True)
class Hypergraph:
    """An n × e incidence matrix with H[v, e] = p(v, e) in [0, 1] (Eq. 5); column e is a hyperedge.

    `centres` int64 [e] is the account that each hyperedge was drawn around, -1 for none; None: none of them.
    """

    H: csr_array
    centres: IntArray | None = None

    def __post_init__(self) -> None:
        incidence = csr_array(self.H)
        values = incidence.data
        if len(values) and not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1):
            raise KedgeError("a hypergraph holds a membership p(v, e) outside [0, 1]", remedy="scale it into [0, 1]")
        if self.centres is not None and len(self.centres) != incidence.shape[1]:
            raise ValueError(f"{len(self.centres)} centres for {incidence.shape[1]} hyperedges")
        object.__setattr__(self, "H", read_only_csr(incidence))

    @property
    def n(self) -> int:
        """The number of accounts."""
        return int(self.H.shape[0])

    @property
    def hyperedges(self) -> int:
        """The number of hyperedges."""
        return int(self.H.shape[1])

    @property
    def coverage(self) -> float:
        """The share of (account, hyperedge) cells that are set; near 1 the hypergraph holds no information."""
        cells = self.H.shape[0] * self.H.shape[1]
        return float(self.H.nnz / cells) if cells else 0.0


@dataclass(frozen=True)
class Parts:
    """A network cut into parts: `part[v]` for each account, and the accounts appended to every part."""

    part: IntArray
    shared: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", read_only(np.asarray(self.part)))
        object.__setattr__(self, "shared", read_only(np.asarray(self.shared)))

    @property
    def count(self) -> int:
        """The number of parts."""
        return int(self.part.max()) + 1 if len(self.part) else 0

    def members(self, part: int) -> IntArray:
        """The accounts of one part, without the shared ones that are at home elsewhere; ascending."""
        return np.flatnonzero(self.part == part)
