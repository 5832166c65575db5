"""From a method's scores of pairs to its alignment: the best candidates of each account, and the anchors above them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.types import BoolArray, FloatArray, Problem


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
