"""Networks, hypergraphs, parts, pairs of accounts, and the problem: two networks with observed anchors.

Held-out pairs stand apart from the problem, in `Split`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.errors import KedgeError

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer[Any]]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
Side: TypeAlias = Literal["left", "right"]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers behind a view that refuses writes; the caller's own array stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_only_csr(matrix: csr_array) -> csr_array:
    """A CSR array in canonical form (sorted, no duplicates) whose three arrays refuse writes."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    frozen = csr_array(
        (read_only(matrix.data), read_only(matrix.indices), read_only(matrix.indptr)),
        shape=matrix.shape,
        copy=False,
    )
    frozen.has_canonical_format = True
    return frozen


def narrow(values: NDArray[Any], kind: type[np.integer[Any]] = np.int32) -> NDArray[Any]:
    """The same integers in a narrower type, or one line where they do not fit: `astype` would wrap them."""
    if values.size and (values.max() > np.iinfo(kind).max or values.min() < np.iinfo(kind).min):
        raise KedgeError(
            f"the number {values.max():,} is too large to count with ({np.iinfo(kind).max:,} at most)",
            remedy="make the networks, or hypergraph.nearest, smaller",
        )
    return values.astype(kind)


def pair_keys(left: IntArray, right: IntArray, width: int) -> IntArray:
    """One number for each pair, int64 [m]; `width` is the number of right accounts. Keys order as the pairs do."""
    return np.asarray(np.asarray(left, np.int64) * np.int64(max(width, 1)) + right)


def is_among(pairs: IntArray, others: IntArray, width: int) -> BoolArray:
    """Which of the pairs [m, 2] are among the others [k, 2]."""
    return np.asarray(np.isin(pair_keys(pairs[:, 0], pairs[:, 1], width), pair_keys(others[:, 0], others[:, 1], width)))


def as_pairs(pairs: Any) -> IntArray:
    """Integers [m, 2] from any array-like of pairs; an empty list is [0, 2]."""
    array = np.asarray(pairs, dtype=np.int64)
    if array.size == 0:
        return array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs must have shape [m, 2], not {list(array.shape)}")
    return array


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
        if n > np.iinfo(np.int32).max:  # kernels count accounts in 32 bits
            raise KedgeError(f"a network of {n:,} accounts", remedy=f"give at most {np.iinfo(np.int32).max:,}")
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

    @cached_property
    def fingerprint(self) -> bytes:
        """A hash of the edges and their weights, whatever the ids."""
        parts = (self.adjacency.indptr.astype(np.int64), self.adjacency.indices.astype(np.int64), self.adjacency.data)
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def find(self, ids: Any) -> IntArray:
        """The account of each id, int64; -1 where the network has no such id."""
        wanted = ids if isinstance(ids, pa.Array | pa.ChunkedArray) else pa.array(list(ids), pa.large_string())
        found = pc.index_in(wanted.cast(pa.large_string()), value_set=self.ids)
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)

    def name(self, account: int) -> str:
        """The id of one account."""
        return str(self.ids[int(account)])

    def is_same_as(self, other: Network) -> bool:
        """Whether both have the same ids and the same edges between them, in whatever order."""
        if self.n != other.n or self.edges != other.edges or not self.n:
            return False
        place = other.find(self.ids)
        if (place < 0).any():
            return False
        rows, columns = self.adjacency.nonzero()
        mine = np.sort(place[rows] * self.n + place[columns])
        rows, columns = other.adjacency.nonzero()
        return bool((mine == np.sort(rows.astype(np.int64) * self.n + columns)).all())

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


@dataclass(frozen=True, eq=False)
class Profiles:
    """What is known of the accounts of a network beside their edges: one row for each account, null where missing.

    Two are equal only if they are the same object: comparing the values of all accounts would cost more than it is
    worth.
    """

    table: pa.Table

    @property
    def n(self) -> int:
        """The number of accounts."""
        return int(self.table.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self.table.column_names)

    def column(self, name: str) -> pa.Array:
        """One field as a single array, [n]."""
        found = self.table.column(name).combine_chunks()
        return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found

    def without(self, accounts: IntArray) -> Profiles:
        """The same with nothing known of these accounts; the same object where there are none."""
        if len(accounts) == 0:
            return self
        rows = np.arange(self.n)
        return Profiles(self.table.take(pa.array(rows, mask=np.isin(rows, accounts))))

    def take(self, accounts: IntArray) -> Profiles:
        """The same of these accounts, in this order."""
        return Profiles(self.table.take(pa.array(accounts)))


@dataclass(frozen=True)
class Problem:
    """Two networks and the OBSERVED anchors, int64 [m, 2] of (left account, right account).

    A held-out pair is not reachable from here, so no method can learn from one: only `evaluate` is handed
    `Split.test`. `rejected` are pairs that a reviewer has ruled out; `hypergraphs` the user's own hyperedges of the
    left and of the right network, None where they are to be drawn from its edges. `sides` is what people call the two
    networks: a mirrored problem keeps their names. `profiles` is what else is known of their accounts, if anything;
    `shared_values` which accounts of a network have a value of it in common, where hyperedges are drawn from that.
    """

    left: Network
    right: Network
    anchors: IntArray
    rejected: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    hypergraphs: tuple[Hypergraph | None, Hypergraph | None] = (None, None)
    sides: tuple[Side, Side] = ("left", "right")
    profiles: tuple[Profiles, Profiles] | None = None
    shared_values: tuple[Hypergraph | None, Hypergraph | None] = (None, None)

    def __post_init__(self) -> None:
        for known, network in zip(self.profiles or (), (self.left, self.right), strict=False):
            if known.n != network.n:
                raise ValueError(f"profiles of {known.n} accounts for a network of {network.n}")
        both = (self.left, self.right)
        for own, network in zip((*self.hypergraphs, *self.shared_values), (*both, *both), strict=True):
            if own is not None and own.n != network.n:
                raise ValueError(f"a hypergraph of {own.n} accounts for a network of {network.n}")
        for name in ("anchors", "rejected"):
            pairs = as_pairs(getattr(self, name))
            if len(pairs) and (
                pairs.min() < 0 or pairs[:, 0].max() >= self.left.n or pairs[:, 1].max() >= self.right.n
            ):
                raise ValueError(f"{name} name accounts outside the networks")
            object.__setattr__(self, name, read_only(pairs))
        for side, network in enumerate((self.left, self.right)):
            if len(np.unique(self.anchors[:, side])) != len(self.anchors):
                account = int(np.bincount(self.anchors[:, side]).argmax())
                raise KedgeError(
                    f"account {network.name(account)!r} stands in more than one anchor",
                    remedy="keep one partner for each account",
                )

    @property
    def exchanged(self) -> bool:
        """Whether the right network comes first: methods get two networks in one order, whichever is called left.

        The larger one comes first: vectors of the second are projected into its space (Eq. 11), and anchors are a
        larger part of a smaller network.
        """
        one, two = ((network.n, network.edges) for network in (self.left, self.right))
        return two > one or (two == one and self.right.fingerprint > self.left.fingerprint)

    def mirrored(self) -> Problem:
        """The same problem with left and right exchanged."""
        return Problem(
            self.right,
            self.left,
            self.anchors[:, ::-1],
            self.rejected[:, ::-1],
            self.hypergraphs[::-1],
            self.sides[::-1],
            None if self.profiles is None else self.profiles[::-1],
            self.shared_values[::-1],
        )

    def hold_out(self, rows: IntArray) -> tuple[Problem, IntArray]:
        """The problem without the anchors in these rows, and these anchors: validation anchors."""
        return replace(self, anchors=np.delete(self.anchors, rows, axis=0)), self.anchors[rows]

    def folds(self, count: int, seed: int, most: int | None = None) -> Iterator[tuple[Problem, IntArray]]:
        """`hold_out` of `count` disjoint parts of the anchors, or of `most` of them; drawn at random."""
        for fold in np.array_split(np.random.default_rng(seed).permutation(len(self.anchors))[:most], count):
            yield self.hold_out(fold)

    def is_rejected(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs [m, 2] a reviewer has ruled out."""
        return is_among(pairs, self.rejected, self.right.n)


@dataclass(frozen=True)
class Split:
    """A problem and the held-out pairs that only `evaluate` may see; -1 is an account in neither network."""

    problem: Problem
    test: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", read_only(as_pairs(self.test)))
