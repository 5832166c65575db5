"""What every method returns: scores of pairs, asked for a few accounts at a time, never an n × n matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import top_of_rows, unit_rows
from kedge.types import FloatArray, IntArray, Side, as_pairs

__all__ = ["Alignment", "Judge", "SparseAlignment", "VectorAlignment"]

_BLOCK_CELLS = 1 << 24  # dense scores are made in blocks of this many cells (64 MB of float32)
_AT_ONCE = 4096  # pairs whose vectors are put side by side: they stay in the cache, which takes a tenth of the time


class Alignment(Protocol):
    """Scores between the accounts of two networks; higher is likelier to be the same person."""

    def score(self, pairs: IntArray) -> FloatArray:
        """The score of each (left, right) pair, [m]."""
        ...

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The k best partners of each account of `side`, best first: accounts and scores, [len(nodes), k].

        Equal scores stand in the order of the partner's number; rows with fewer candidates end in -1 and -inf.
        """
        ...

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """For each pair, seen from its account on `side`: how many partners score higher, how many others tie."""
        ...


def _canonical(matrix: csr_array) -> csr_array:
    """The scores as float32, since they are handed out and compared so; each pair once, rows sorted."""
    canonical: csr_array = matrix.astype(np.float32, copy=not matrix.has_canonical_format)
    canonical.sum_duplicates()
    return canonical


def _stored(matrix: csr_array, pairs: IntArray) -> FloatArray:
    """The stored entries of the pairs, or -inf."""
    rows, columns = pairs.T
    # Rows are sorted, so row * n_2 + column is sorted over all entries and can be searched at once.
    width = np.int64(matrix.shape[1])
    keys = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)) * width + matrix.indices
    wanted = rows * width + columns
    place = np.searchsorted(keys, wanted)
    result = np.full(len(wanted), -np.inf, np.float32)
    inside = place < len(keys)
    inside[inside] = keys[place[inside]] == wanted[inside]
    result[inside] = matrix.data[place[inside]]
    return result


@dataclass(frozen=True)
class SparseAlignment:
    """Scores of candidate pairs only, n_1 × n_2; pairs that are not stored tie with each other, below all.

    A method may lift some pairs to the top of their lists, which ranks well but hides how strongly it believes in each.
    It gives that as `strengths`, for the same candidates; probabilities are then estimated from both. `vectors` say
    where accounts stand, of pairs that are no candidates too.
    """

    scores: csr_array
    strengths: csr_array | None = None
    vectors: VectorAlignment | None = None

    def __post_init__(self) -> None:
        for name in ("scores", "strengths"):
            matrix = getattr(self, name)
            if matrix is not None:
                object.__setattr__(self, name, _canonical(matrix))

    def _seen_from(self, side: Side) -> csr_array:
        return self.scores if side == "left" else csr_array(self.scores.T.tocsr())

    def score(self, pairs: IntArray) -> FloatArray:
        """The stored score, or -inf."""
        return _stored(self.scores, as_pairs(pairs))

    def strength(self, pairs: IntArray) -> FloatArray:
        """The stored strength, or the score where the method makes no difference; -inf where there is none."""
        return _stored(self.scores if self.strengths is None else self.strengths, as_pairs(pairs))

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The best stored candidates of each account."""
        return top_of_rows(self._seen_from(side)[np.asarray(nodes)], k)

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """Counts among the stored candidates; a pair that is not stored stands below them all."""
        pairs = as_pairs(pairs)
        accounts = pairs[:, 0 if side == "left" else 1]
        target = self.score(pairs)
        rows = self._seen_from(side)[accounts]
        stored = np.diff(rows.indptr)
        owner = np.repeat(np.arange(len(pairs)), stored)
        above = np.bincount(owner[rows.data > target[owner]], minlength=len(pairs))
        equal = np.bincount(owner[rows.data == target[owner]], minlength=len(pairs)) - 1
        missing = np.isneginf(target)
        above[missing] = stored[missing]
        equal[missing] = rows.shape[1] - stored[missing] - 1
        return above, equal


class Judge(Protocol):
    """Whoever says of any two vectors in one space how likely they belong to one person."""

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray) -> FloatArray:
        """The log-odds of each (row of X, row of Y) in `pairs`, [m]."""
        ...


@dataclass(frozen=True)
class VectorAlignment:
    """Cosine similarity of two sets of vectors in one space, n_1 × d and n_2 × d.

    `head` (n_1 × n_2, sparse) holds the pairs that were looked at more closely. Their scores there are all above 1, so
    that each stands above every pair that has its cosine alone. `judge` has an opinion on any pair, in the head or not.
    """

    left: FloatArray
    right: FloatArray
    head: csr_array | None = None
    judge: Judge | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", unit_rows(np.asarray(self.left, np.float32)))
        object.__setattr__(self, "right", unit_rows(np.asarray(self.right, np.float32)))
        if self.head is not None:
            object.__setattr__(self, "head", _canonical(self.head))

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
        found = _stored(self.head, as_pairs(pairs))
        return np.where(np.isneginf(found), cosine, found)

    def strength(self, pairs: IntArray) -> FloatArray:
        """The cosine: the head ranks well, but a pair outside of it is no less alike for that."""
        return self.cosine(pairs)

    def log_odds(self, pairs: IntArray) -> FloatArray:
        """What the judge says of each pair, [m]; 0 where there is no judge."""
        if self.judge is None:
            return np.zeros(len(pairs), np.float32)
        return self.judge.log_odds(self.left, self.right, as_pairs(pairs))

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
                block[np.repeat(np.arange(len(block)), np.diff(rows.indptr)), rows.indices] = rows.data
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
