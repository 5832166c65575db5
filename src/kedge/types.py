"""The frozen things that kedge's stages hand to each other.

Shapes: n accounts in a network, m pairs, e hyperedges. Accounts are integers 0..n-1 inside kedge; the
names that users gave them (`ids`) are text and carry no meaning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.errors import KedgeError

__all__ = [
    "DECISIONS",
    "BoolArray",
    "FloatArray",
    "Hypergraph",
    "IntArray",
    "Matches",
    "Network",
    "Parts",
    "Problem",
    "Side",
    "Split",
    "as_pairs",
]

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer[Any]]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
Side: TypeAlias = Literal["left", "right"]

DECISIONS: Final = ("no match", "review", "match")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers behind a view that refuses writes; the caller's own array stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def _frozen_csr(matrix: csr_array) -> csr_array:
    """A CSR array in canonical form (sorted, no duplicates) whose three arrays refuse writes."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    frozen = csr_array(
        (_frozen(matrix.data), _frozen(matrix.indices), _frozen(matrix.indptr)),
        shape=matrix.shape,
        copy=False,
    )
    frozen.has_canonical_format = True
    return frozen


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
        if len(self.ids) != n:
            raise ValueError(f"{len(self.ids)} ids for {n} accounts")
        object.__setattr__(self, "adjacency", _frozen_csr(csr_array(self.adjacency)))

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
        return _frozen(np.diff(self.adjacency.indptr).astype(np.int64))

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
class Problem:
    """Two networks and the OBSERVED anchors, int64 [m, 2] of (left account, right account).

    A held-out pair is not reachable from here, so no method can learn from one: only `evaluate` is handed
    `Split.test`. `rejected` are pairs that a reviewer has ruled out; `hypergraphs` the user's own hyperedges of the
    left and of the right network, None where they are to be drawn from its edges.
    """

    left: Network
    right: Network
    anchors: IntArray
    rejected: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    hypergraphs: tuple[Hypergraph | None, Hypergraph | None] = (None, None)

    def __post_init__(self) -> None:
        for own, network in zip(self.hypergraphs, (self.left, self.right), strict=True):
            if own is not None and own.n != network.n:
                raise ValueError(f"a hypergraph of {own.n} accounts for a network of {network.n}")
        for name in ("anchors", "rejected"):
            pairs = as_pairs(getattr(self, name))
            if len(pairs) and (
                pairs.min() < 0 or pairs[:, 0].max() >= self.left.n or pairs[:, 1].max() >= self.right.n
            ):
                raise ValueError(f"{name} name accounts outside the networks")
            object.__setattr__(self, name, _frozen(pairs))
        for side, network in enumerate((self.left, self.right)):
            if len(np.unique(self.anchors[:, side])) != len(self.anchors):
                account = int(np.bincount(self.anchors[:, side]).argmax())
                raise KedgeError(
                    f"account {network.name(account)!r} stands in more than one anchor",
                    remedy="keep one partner for each account",
                )

    def is_rejected(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs [m, 2] a reviewer has ruled out."""
        ruled_out = self.rejected[:, 0] * self.right.n + self.rejected[:, 1]
        result: BoolArray = np.isin(pairs[:, 0] * self.right.n + pairs[:, 1], ruled_out)
        return result

    def mirrored(self) -> Problem:
        """The same problem with left and right exchanged."""
        turned = (self.hypergraphs[1], self.hypergraphs[0])
        return Problem(self.right, self.left, self.anchors[:, ::-1], self.rejected[:, ::-1], turned)


@dataclass(frozen=True)
class Split:
    """A problem and the held-out pairs that only `evaluate` may see; -1 is an account in neither network."""

    problem: Problem
    test: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", _frozen(as_pairs(self.test)))


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
        object.__setattr__(self, "H", _frozen_csr(incidence))

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
        """The share of (account, hyperedge) cells that are set; near 1 the hypergraph says nothing."""
        cells = self.H.shape[0] * self.H.shape[1]
        return float(self.H.nnz / cells) if cells else 0.0


@dataclass(frozen=True)
class Parts:
    """A network cut into parts: `part[v]` for each account, and the accounts appended to every part."""

    part: IntArray
    shared: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", _frozen(np.asarray(self.part)))
        object.__setattr__(self, "shared", _frozen(np.asarray(self.shared)))

    @property
    def count(self) -> int:
        """The number of parts."""
        return int(self.part.max()) + 1 if len(self.part) else 0

    def members(self, part: int) -> IntArray:
        """The accounts of one part, without the shared ones that are at home elsewhere; ascending."""
        return np.flatnonzero(self.part == part)


@dataclass(frozen=True)
class Matches:
    """Ranked candidates of each left account, best first, with what kedge thinks of them.

    One row a candidate: `left` and `right` accounts, `rank` from 1 within the left account, `score` of the
    method, calibrated `probability`, `margin` of the score to the best other candidate, and `decision`, an
    index into `DECISIONS`. `counterpart` is the probability that the left account has any counterpart; divided by it,
    `probability` is the one among accounts known to have one. `assigned` marks the pairs of the assignment, sure
    or not; a row decided "match" or "review" is one of them.
    """

    left_ids: pa.Array
    right_ids: pa.Array
    left: IntArray
    right: IntArray
    rank: IntArray
    score: FloatArray
    probability: FloatArray
    margin: FloatArray
    decision: IntArray
    counterpart: FloatArray
    assigned: NDArray[np.bool_]

    def __post_init__(self) -> None:
        names = ("left", "right", "rank", "score", "probability", "margin", "decision", "counterpart", "assigned")
        lengths = {name: len(getattr(self, name)) for name in names}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of unequal length: {lengths}")
        for name in names:
            object.__setattr__(self, name, _frozen(np.asarray(getattr(self, name))))

    def __len__(self) -> int:
        return len(self.left)

    def partners(self, decision: str | None = None) -> dict[int, int]:
        """Left account -> assigned right account: all of them, or those with one of the `DECISIONS`."""
        rows = self.assigned if decision is None else self.assigned & (self.decision == DECISIONS.index(decision))
        return dict(zip(self.left[rows].tolist(), self.right[rows].tolist(), strict=True))

    def table(self) -> pa.Table:
        """The rows with the users' own ids, as an Arrow table."""
        words = pa.array(DECISIONS)
        return pa.table(
            {
                "left": self.left_ids.take(pa.array(self.left)),
                "right": self.right_ids.take(pa.array(self.right)),
                "rank": pa.array(self.rank.astype(np.int32)),
                "score": pa.array(self.score.astype(np.float32)),
                "probability": pa.array(self.probability.astype(np.float32)),
                "margin": pa.array(self.margin.astype(np.float32)),
                "decision": words.take(pa.array(self.decision.astype(np.int64))),
                "counterpart": pa.array(self.counterpart.astype(np.float32)),
                "assigned": pa.array(self.assigned),
            }
        )

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return self.table().to_pandas()
