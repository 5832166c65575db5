"""What every method returns: scores of pairs, computed for a few accounts at a time, never an n × n matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.linalg.sparse import count_above, entries_at, row_index, top_of_rows, unit_rows, without_entries
from kedge.types import FloatArray, IntArray, Side, Support, as_pairs

_BLOCK_CELLS = 1 << 24  # dense scores are made in blocks of this many cells (64 MB of float32)
_AT_ONCE = 4096  # pairs whose vectors are gathered at once: they stay in the cache, which takes a tenth of the time


def split_csr(matrix: csr_array, prefix: str = "") -> dict[str, NDArray[Any]]:
    """A sparse matrix as named arrays."""
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": np.asarray(matrix.shape)}
    return {f"{prefix}{name}": part for name, part in parts.items()}


def join_csr(held: Mapping[str, NDArray[Any]], prefix: str = "") -> csr_array | None:
    """The sparse matrix whose arrays have this prefix; None where there are none."""
    if f"{prefix}data" not in held:
        return None
    data, indices, indptr, shape = (held[f"{prefix}{name}"] for name in ("data", "indices", "indptr", "shape"))
    return csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))


def _canonical(matrix: csr_array) -> csr_array:
    """The scores as float32, as they are returned and compared; each pair once, rows sorted."""
    canonical: csr_array = matrix.astype(np.float32, copy=not matrix.has_canonical_format)
    canonical.sum_duplicates()
    return canonical


@dataclass(frozen=True)
class SparseAlignment:
    """Scores of candidate pairs only, n_1 × n_2; pairs that are not stored tie with each other, below all.

    A method may lift some pairs to the top of their lists, which ranks well but hides the evidence for each. It gives
    that as `strengths`, for the same candidates; probabilities are then estimated from both. `vectors` give a cosine
    for any pair, also for one that is no candidate.
    """

    scores: csr_array
    strengths: csr_array | None = None
    vectors: VectorAlignment | None = None
    support: Support | None = None

    def __post_init__(self) -> None:
        for name in ("scores", "strengths"):
            matrix = getattr(self, name)
            if matrix is not None:
                object.__setattr__(self, name, _canonical(matrix))

    @classmethod
    def of(cls, held: Mapping[str, NDArray[Any]]) -> SparseAlignment:
        """From named arrays, as `arrays` gives them; `support` has its own file."""
        scores = join_csr(held)
        if scores is None:
            raise KeyError("data")
        vectors = VectorAlignment(held["vectors_left"], held["vectors_right"]) if "vectors_left" in held else None
        return cls(scores, join_csr(held, "strengths_"), vectors)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Scores, strengths and vectors."""
        strengths = {} if self.strengths is None else split_csr(self.strengths, "strengths_")
        sides = {} if self.vectors is None else {"vectors_left": self.vectors.left, "vectors_right": self.vectors.right}
        return {**split_csr(self.scores), **strengths, **sides}

    @property
    def reorders(self) -> bool:
        """Whether strengths were given apart from the scores."""
        return self.strengths is not None

    @property
    def ordered_by(self) -> str:
        """Nothing was to be chosen."""
        return ""

    @cached_property
    def _from_the_right(self) -> csr_array:
        """The scores transposed; kept, since the right accounts are asked for block by block."""
        return csr_array(self.scores.T.tocsr())

    def _seen_from(self, side: Side) -> csr_array:
        return self.scores if side == "left" else self._from_the_right

    def score(self, pairs: IntArray) -> FloatArray:
        """The stored score, or -inf."""
        return entries_at(self.scores, as_pairs(pairs))

    def strength(self, pairs: IntArray) -> FloatArray:
        """The stored strength, or the score where the method has one number for both; -inf where there is none."""
        return entries_at(self.scores if self.strengths is None else self.strengths, as_pairs(pairs))

    def log_odds(self, pairs: IntArray) -> FloatArray:
        """0: there is no pair network."""
        return np.zeros(len(pairs), np.float32)

    def cosine(self, pairs: IntArray) -> FloatArray | None:
        """The cosine of the vectors, if there are any."""
        return None if self.vectors is None else self.vectors.cosine(pairs)

    def without(self, left: IntArray, right: IntArray) -> SparseAlignment:
        """The same without these accounts."""
        return SparseAlignment(
            without_entries(self.scores, left, right),
            None if self.strengths is None else without_entries(self.strengths, left, right),
            None if self.vectors is None else self.vectors.without(left, right),
        )

    def mirrored(self) -> SparseAlignment:
        """Everything transposed."""
        return SparseAlignment(
            csr_array(self.scores.T),
            None if self.strengths is None else csr_array(self.strengths.T),
            None if self.vectors is None else self.vectors.mirrored(),
            None if self.support is None else self.support.mirrored(),
        )

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The best stored candidates of each account."""
        return top_of_rows(self._seen_from(side)[np.asarray(nodes)], k)

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """Counts among the stored candidates; a pair that is not stored is below them all."""
        pairs = as_pairs(pairs)
        accounts = pairs[:, 0 if side == "left" else 1]
        target = self.score(pairs)
        rows = self._seen_from(side)[accounts]
        stored = np.diff(rows.indptr)
        above, equal = count_above(rows, target)
        missing = np.isneginf(target)
        return np.where(missing, stored, above), np.where(missing, rows.shape[1] - stored, equal) - 1


class PairModel(Protocol):
    """A fitted model of any two vectors in one space, which a run can save: how likely they belong to one person."""

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray) -> FloatArray:
        """The log-odds of each (row of X, row of Y) in `pairs`, [m]."""
        ...

    def mirrored(self) -> PairModel:
        """The model of (Y, X)."""
        ...

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Its parameters, as named arrays."""
        ...


@dataclass(frozen=True)
class VectorAlignment:
    """Cosine similarity of two sets of vectors in one space, n_1 × d and n_2 × d.

    `head` (n_1 × n_2, sparse) holds the candidates. Their scores there are all above 1, so that each is above every
    pair that has its cosine alone. `network`, the pair network, scores any pair, in the head or not. `ordered_by` is
    what gave the head its order, as in `pairing.score`.
    """

    left: FloatArray
    right: FloatArray
    head: csr_array | None = None
    network: PairModel | None = None
    ordered_by: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", unit_rows(np.asarray(self.left, np.float32)))
        object.__setattr__(self, "right", unit_rows(np.asarray(self.right, np.float32)))
        if self.head is not None:
            object.__setattr__(self, "head", _canonical(self.head))

    @classmethod
    def of(cls, held: Mapping[str, NDArray[Any]], network: PairModel | None) -> VectorAlignment:
        """From named arrays, as `arrays` gives them, and the pair network that was read from its own."""
        return cls(held["left"], held["right"], join_csr(held, "head_"), network)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Vectors, head and pair network."""
        head = {} if self.head is None else split_csr(self.head, "head_")
        learnt = {} if self.network is None else self.network.arrays()
        return {"left": self.left, "right": self.right, **head, **{f"network_{n}": part for n, part in learnt.items()}}

    @property
    def reorders(self) -> bool:
        """No: the head's order is the score."""
        return False

    @property
    def support(self) -> None:
        """Vectors explain no single pair."""
        return

    def without(self, left: IntArray, right: IntArray) -> VectorAlignment:
        """The same with vectors of zeros for these accounts."""
        head = None if self.head is None else without_entries(self.head, left, right)
        return replace(self, left=_zeroed(self.left, left), right=_zeroed(self.right, right), head=head)

    def mirrored(self) -> VectorAlignment:
        """The two sets of vectors exchanged."""
        head = None if self.head is None else csr_array(self.head.T)
        return VectorAlignment(self.right, self.left, head, self.network and self.network.mirrored())

    def cosine(self, pairs: IntArray) -> FloatArray:
        """Cosine of each pair, [m]."""
        rows, columns = as_pairs(pairs).T
        result = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            result[part] = np.einsum("ij,ij->i", self.left[rows[part]], self.right[columns[part]])
        return result

    def score(self, pairs: IntArray) -> FloatArray:
        """The head's score, else the cosine."""
        cosine = self.cosine(pairs)
        if self.head is None:
            return cosine
        found = entries_at(self.head, as_pairs(pairs))
        return np.where(np.isneginf(found), cosine, found)

    def strength(self, pairs: IntArray) -> FloatArray:
        """The cosine: the head ranks well, but a pair outside of it is no less alike for that."""
        return self.cosine(pairs)

    def log_odds(self, pairs: IntArray) -> FloatArray:
        """The pair network's log-odds of each pair, [m]; 0 without a network."""
        if self.network is None:
            return np.zeros(len(pairs), np.float32)
        return self.network.log_odds(self.left, self.right, as_pairs(pairs))

    def _blocks(self, nodes: IntArray, side: Side) -> Iterator[tuple[slice, FloatArray]]:
        """The scores of a few of the `nodes` at a time with all accounts of the other side, and which they are."""
        mine, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        head = self.head if side == "left" or self.head is None else csr_array(self.head.T.tocsr())
        nodes = np.asarray(nodes)
        step = max(1, _BLOCK_CELLS // max(1, len(other)))
        for start in range(0, len(nodes), step):
            part = slice(start, start + step)
            block = mine[nodes[part]] @ other.T
            if head is not None:
                rows = head[nodes[part]]
                block[row_index(rows), rows.indices] = rows.data
            yield part, block

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The best partners by exact search, block by block."""
        k_here = min(k, len(self.right if side == "left" else self.left))
        best = np.full((len(nodes), k), -1, np.int64)
        scores = np.full((len(nodes), k), -np.inf, np.float32)
        for part, block in self._blocks(nodes, side):
            if k_here < block.shape[1]:
                chosen = np.argpartition(-block, k_here - 1, axis=1)[:, :k_here]
            else:
                chosen = np.broadcast_to(np.arange(block.shape[1]), block.shape).copy()
            chosen.sort(axis=1)
            values = np.take_along_axis(block, chosen, axis=1)
            order = np.argsort(-values, axis=1, kind="stable")
            best[part, :k_here] = np.take_along_axis(chosen, order, axis=1)
            scores[part, :k_here] = np.take_along_axis(values, order, axis=1)
        return best, scores

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """Counts over all accounts of the other network, block by block."""
        pairs = as_pairs(pairs)
        accounts, partners = (pairs[:, 0], pairs[:, 1]) if side == "left" else (pairs[:, 1], pairs[:, 0])
        above = np.empty(len(pairs), np.int64)
        equal = np.empty(len(pairs), np.int64)
        for part, block in self._blocks(accounts, side):
            target = block[np.arange(len(block)), partners[part]][:, None]
            above[part] = (block > target).sum(axis=1)
            equal[part] = (block == target).sum(axis=1) - 1
        return above, equal


def _zeroed(vectors: FloatArray, accounts: IntArray) -> FloatArray:
    """The vectors [n, d] with zeros for these accounts."""
    kept = np.array(vectors)
    kept[accounts] = 0
    return kept
