"""Witnesses of a pair: linked pairs of accounts that both neighbour it. The ranking of seed-and-expand methods.

    score(u, v) = |{(a, b) linked : a ~ u, b ~ v}| + min(d_u, d_v) / (2 max(d_u, d_v))

The second term is below 1: it only orders pairs with equally many witnesses, the more alike degrees first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.linalg import top_of_rows
from kedge.methods.every_pair import above_all
from kedge.types import BoolArray, FloatArray, IntArray, Network, Problem

__all__ = ["best_witnessed", "rank_by_witnesses"]

_BLOCK_TERMS = 1 << 24  # witnesses that one block of rows may hold at once (about 200 MB)


def _said(network: Network, linked: IntArray, kept: BoolArray) -> csr_array:
    """n × links: 1 where a kept account neighbours a linked one."""
    columns = csr_array(network.adjacency[:, linked])
    rows = np.repeat(np.arange(network.n), np.diff(columns.indptr))
    here = kept[rows]
    return csr_array((np.ones(here.sum(), np.float32), (rows[here], columns.indices[here])), shape=columns.shape)


def _blocks(terms: IntArray) -> Iterator[slice]:
    """Runs of rows with about `_BLOCK_TERMS` terms each."""
    ends = np.cumsum(terms)
    start = 0
    while start < len(terms):
        limit = (ends[start - 1] if start else 0) + _BLOCK_TERMS
        stop = max(start + 1, int(np.searchsorted(ends, limit, side="right")))
        yield slice(start, stop)
        start = stop


def best_witnessed(
    left: Network, right: Network, links: IntArray, keep: int, left_kept: BoolArray, right_kept: BoolArray
) -> tuple[IntArray, FloatArray]:
    """The `keep` best right accounts of each left one among the kept accounts: accounts and scores, [n_1, keep]."""
    mine, other = _said(left, links[:, 0], left_kept), _said(right, links[:, 1], right_kept)
    onto = csr_array(other.T.tocsr())
    heard = np.diff(onto.indptr)[mine.indices]
    per_row = np.diff(np.concatenate([[0], np.cumsum(heard)])[mine.indptr])
    best = np.full((left.n, keep), -1, np.int64)
    scores = np.full((left.n, keep), -np.inf, np.float32)
    for block in _blocks(per_row):
        pairs = csr_array(mine[block] @ onto)
        degrees = np.repeat(left.degrees[block], np.diff(pairs.indptr)), right.degrees[pairs.indices]
        pairs.data = pairs.data + np.minimum(*degrees) / (2 * np.maximum(*degrees))
        best[block], scores[block] = top_of_rows(pairs, keep)
    return best, scores


def rank_by_witnesses(problem: Problem, links: IntArray, keep: int) -> SparseAlignment:
    """The `keep` best of each account by witnesses among all links; a linked pair is the best of both its accounts."""
    entries: list[tuple[IntArray, IntArray, FloatArray]] = []
    everybody = np.ones(problem.left.n, bool), np.ones(problem.right.n, bool)
    forth = best_witnessed(problem.left, problem.right, links, keep, *everybody)
    back = best_witnessed(problem.right, problem.left, links[:, ::-1], keep, *everybody[::-1])
    for side, (best, scores) in enumerate((forth, back)):
        mine, place = np.nonzero(best >= 0)
        pair = (mine, best[mine, place]) if side == 0 else (best[mine, place], mine)
        entries.append((*pair, scores[mine, place]))
    shape = (problem.left.n, problem.right.n)
    first, second = (csr_array((values, (rows, columns)), shape=shape) for rows, columns, values in entries)
    merged = csr_array(first.maximum(second))
    top = float(merged.data.max()) if merged.nnz else 0.0
    linked = csr_array((np.full(len(links), top + 1.0), (links[:, 0], links[:, 1])), shape=shape)
    return above_all(problem, csr_array(merged + linked))
