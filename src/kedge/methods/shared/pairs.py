"""From a method's scores of pairs to its alignment: the best candidates of each account, and the anchors above them.

Seed-and-expand methods score by witnesses of a pair, the linked pairs of accounts that both neighbour it:

    score(u, v) = |{(a, b) linked : a ~ u, b ~ v}| + min(d_u, d_v) / (2 max(d_u, d_v))

The second term is below 1: it only orders pairs with equally many witnesses, the more alike degrees first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import SparseAlignment, row_index, top_of_rows
from kedge.types import BoolArray, FloatArray, IntArray, Network, Problem

_BLOCK_TERMS = 1 << 23  # terms of a product that one block of rows may hold at once (about 100 MB)


def _best_of_rows(S: FloatArray, keep: int) -> BoolArray:
    """Which entries are among the `keep` largest of their row; entries that tie at the border are all dropped.

    To take some of them would mean to choose by number, and numbers carry no meaning.
    """
    kept = np.zeros(S.shape, bool)
    if S.shape[1] == 0:
        return kept
    for start in range(0, len(S), 512):
        block = S[start : start + 512]
        if keep >= S.shape[1]:
            border = np.full(len(block), -np.inf, np.float32)
        else:
            border = np.partition(block, S.shape[1] - keep - 1, axis=1)[:, S.shape[1] - keep - 1]
        kept[start : start + 512] = block > border[:, None]
    return kept


def keep_best(problem: Problem, S: FloatArray, keep: int) -> SparseAlignment:
    """The `keep` best finite scores of each left and of each right account, with the anchors above them all.

    An anchored account has its partner and is no other account's candidate.
    """
    S = np.array(S, np.float32)
    S[problem.anchors[:, 0]] = -np.inf
    S[:, problem.anchors[:, 1]] = -np.inf
    rows, columns = np.nonzero(_best_of_rows(S, keep) | _best_of_rows(np.ascontiguousarray(S.T), keep).T)
    return anchors_above(problem, csr_array((S[rows, columns], (rows, columns)), shape=S.shape))


def anchors_above(problem: Problem, scores: csr_array) -> SparseAlignment:
    """The scores of pairs without anchored accounts, and the anchors one above the highest of them."""
    entries = scores.tocoo()
    rows, columns = entries.coords
    free_left, free_right = np.ones(problem.left.n, bool), np.ones(problem.right.n, bool)
    free_left[problem.anchors[:, 0]] = False
    free_right[problem.anchors[:, 1]] = False
    free = free_left[rows] & free_right[columns]
    values = entries.data[free].astype(np.float64)
    top = np.full(len(problem.anchors), (values.max() if len(values) else 0.0) + 1.0)
    pairs = np.concatenate([np.column_stack([rows[free], columns[free]]), problem.anchors])
    return SparseAlignment(csr_array((np.concatenate([values, top]), tuple(pairs.T)), shape=scores.shape))


Best: TypeAlias = tuple[IntArray, FloatArray]
Adjust: TypeAlias = Callable[[slice, csr_array], FloatArray]


def near_linked(network: Network, linked: IntArray, kept: BoolArray, value: FloatArray) -> csr_array:
    """n × links: `value` [n] of an account where it is kept and neighbours a linked one."""
    columns = csr_array(network.adjacency[:, linked])
    rows = row_index(columns)
    here = kept[rows]
    return csr_array((value[rows[here]], (rows[here], columns.indices[here])), shape=columns.shape)


def product_blocks(mine: csr_array, onto: csr_array, most: int = _BLOCK_TERMS) -> Iterator[tuple[slice, csr_array]]:
    """Runs of rows with about `most` terms each, and mine · onto there; a row with more terms is a block of its own."""
    per_entry = np.diff(onto.indptr)[mine.indices]
    ends = np.concatenate([[0], np.cumsum(per_entry)])[mine.indptr]
    start = 0
    while start < mine.shape[0]:
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + most, side="right")) - 1)
        block = slice(start, min(stop, mine.shape[0]))
        yield block, csr_array(mine[block] @ onto)
        start = block.stop


def best_of_product(mine: csr_array, onto: csr_array, keep: int, adjust: Adjust | None = None) -> Best:
    """The `keep` largest entries of each row of mine · onto: columns and values, [rows, keep]; `adjust` changes the
    values of a block of rows first."""
    best = np.full((mine.shape[0], keep), -1, np.int64)
    scores = np.full((mine.shape[0], keep), -np.inf, np.float32)
    for block, product in product_blocks(mine, onto):
        if adjust is not None:
            product.data = adjust(block, product)
        best[block], scores[block] = top_of_rows(product, keep)
    return best, scores


def best_witnessed(
    sides: tuple[Network, Network], links: IntArray, kept: tuple[BoolArray, BoolArray], keep: int
) -> Best:
    """The `keep` best accounts of the second network for each of the first, among the kept ones: accounts and scores,
    [n_1, keep]; links [m, 2] are (account of the first, account of the second)."""
    first, second = sides
    mine, other = (
        near_linked(network, links[:, side], kept[side], np.ones(network.n, np.float32))
        for side, network in enumerate(sides)
    )

    def with_degrees(block: slice, counts: csr_array) -> FloatArray:
        degrees = first.degrees[block][row_index(counts)], second.degrees[counts.indices]
        return np.asarray(counts.data + np.minimum(*degrees) / (2 * np.maximum(*degrees)))

    return best_of_product(mine, csr_array(other.T.tocsr()), keep, with_degrees)


def best_from_both(forth: Best, back: Best, shape: tuple[int, int]) -> csr_array:
    """The best right accounts of each left one and the best left ones of each right one as one sparse matrix."""
    found = []
    for best, scores in (forth, back):
        row, place = np.nonzero(best >= 0)
        found.append((scores[row, place], (row, best[row, place])))
    from_left = csr_array(found[0], shape=shape)
    from_right = csr_array(found[1], shape=shape[::-1])
    return csr_array(from_left.maximum(csr_array(from_right.T)))


def rank_by_witnesses(problem: Problem, links: IntArray, keep: int) -> SparseAlignment:
    """The `keep` best of each account by witnesses among all links; a linked pair is the best of both its accounts."""
    sides, shape = (problem.left, problem.right), (problem.left.n, problem.right.n)
    kept = np.ones(shape[0], bool), np.ones(shape[1], bool)
    forth = best_witnessed(sides, links, kept, keep)
    back = best_witnessed(sides[::-1], links[:, ::-1], kept[::-1], keep)
    merged = best_from_both(forth, back, shape)
    top = float(merged.data.max()) if merged.nnz else 0.0
    linked = csr_array((np.full(len(links), top + 1.0), (links[:, 0], links[:, 1])), shape=shape)
    return anchors_above(problem, csr_array(merged + linked))


def count_marks(problem: Problem, links: IntArray, keep: int) -> csr_array:
    """How many links neighbour each pair of free accounts: the `keep` best pairs of each."""
    sides = problem.left, problem.right
    kept = np.ones(problem.left.n, bool), np.ones(problem.right.n, bool)
    for side in (0, 1):
        kept[side][problem.anchors[:, side]] = False
    forth = best_witnessed(sides, links, kept, keep)
    back = best_witnessed(sides[::-1], links[:, ::-1], kept[::-1], keep)
    best = best_from_both(forth, back, (problem.left.n, problem.right.n))
    # A witness counts 1, the likeness of degrees less.
    return csr_array((np.floor(best.data).astype(np.int64), best.indices, best.indptr), shape=best.shape)
