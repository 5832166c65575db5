"""What every method returns: scores of pairs, asked for a few accounts at a time, never an n × n matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import top_of_rows, unit_rows
from kedge.types import FloatArray, IntArray, Side, as_pairs

__all__ = ["Alignment", "SparseAlignment", "VectorAlignment"]

_BLOCK_CELLS = 1 << 24  # dense scores are made in blocks of this many cells (64 MB of float32)


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
    It gives that as `strengths`, for the same candidates; probabilities are then estimated from them.
    """

    scores: csr_array
    strengths: csr_array | None = None

    def __post_init__(self) -> None:
        for name in ("scores", "strengths"):
            matrix = getattr(self, name)
            if matrix is None:
                continue
            # Scores are handed out as float32, so they are held and compared as float32.
            canonical = matrix.astype(np.float32, copy=not matrix.has_canonical_format)
            canonical.sum_duplicates()
            object.__setattr__(self, name, canonical)

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


@dataclass(frozen=True)
class VectorAlignment:
    """Cosine similarity of two sets of vectors in one space, n_1 × d and n_2 × d."""

    left: FloatArray
    right: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", unit_rows(np.asarray(self.left, np.float32)))
        object.__setattr__(self, "right", unit_rows(np.asarray(self.right, np.float32)))

    def score(self, pairs: IntArray) -> FloatArray:
        """Cosine of each pair."""
        rows, columns = as_pairs(pairs).T
        result = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), 65536):
            part = slice(start, start + 65536)
            result[part] = np.einsum("ij,ij->i", self.left[rows[part]], self.right[columns[part]])
        return result

    def _blocks(self, nodes: IntArray, side: Side) -> tuple[FloatArray, FloatArray, int]:
        mine, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        return mine[np.asarray(nodes)], other, max(1, _BLOCK_CELLS // max(1, len(other)))

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The nearest partners by exact search, block by block."""
        mine, other, step = self._blocks(nodes, side)
        k_here = min(k, len(other))
        best = np.full((len(mine), k), -1, np.int64)
        scores = np.full((len(mine), k), -np.inf, np.float32)
        for start in range(0, len(mine), step):
            block = mine[start : start + step] @ other.T
            if k_here < block.shape[1]:
                chosen = np.argpartition(-block, k_here - 1, axis=1)[:, :k_here]
            else:
                chosen = np.broadcast_to(np.arange(block.shape[1]), block.shape).copy()
            chosen.sort(axis=1)
            values = np.take_along_axis(block, chosen, axis=1)
            order = np.argsort(-values, axis=1, kind="stable")
            best[start : start + step, :k_here] = np.take_along_axis(chosen, order, axis=1)
            scores[start : start + step, :k_here] = np.take_along_axis(values, order, axis=1)
        return best, scores

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """Counts over all accounts of the other network, block by block."""
        pairs = as_pairs(pairs)
        accounts, partners = (pairs[:, 0], pairs[:, 1]) if side == "left" else (pairs[:, 1], pairs[:, 0])
        mine, other, step = self._blocks(accounts, side)
        above = np.empty(len(pairs), np.int64)
        equal = np.empty(len(pairs), np.int64)
        for start in range(0, len(pairs), step):
            block = mine[start : start + step] @ other.T
            target = block[np.arange(len(block)), partners[start : start + step]][:, None]
            above[start : start + step] = (block > target).sum(axis=1)
            equal[start : start + step] = (block == target).sum(axis=1) - 1
        return above, equal
