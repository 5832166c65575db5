"""Ranks of known pairs among their candidates, and whether one way of ranking is better than another."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg.sparse import row_index
from kedge.types import FloatArray, IntArray


def average_rank(above: IntArray, equal: IntArray) -> FloatArray:
    """The rank from 1 below `above` others, ties with `equal` others averaged."""
    ranks: FloatArray = 1 + above + equal / 2
    return ranks


def count_above(rows: csr_array, target: FloatArray) -> tuple[IntArray, IntArray]:
    """How many stored entries of each row are above its `target` [rows], and how many equal it."""
    row = row_index(rows)
    above = np.bincount(row[rows.data > target[row]], minlength=len(target))
    return above, np.bincount(row[rows.data == target[row]], minlength=len(target))


def rank_in_rows(scores: FloatArray, own: FloatArray) -> FloatArray:
    """The rank of `own` [m] among the scores of its row [m, k], of which it is one."""
    target = own[:, None]
    return average_rank((scores > target).sum(axis=1), (scores == target).sum(axis=1) - 1)


def reciprocal_ranks(scores: csr_array, truth: IntArray) -> FloatArray:
    """1 / rank of each true pair [m, 2] among the stored candidates, ties averaged, as a mean over the two directions;
    0 if it is not stored."""
    total = np.zeros(len(truth))
    for matrix, pairs in ((scores, truth), (csr_array(scores.T.tocsr()), truth[:, ::-1])):
        rows = matrix[pairs[:, 0]]
        row = row_index(rows)
        hit = rows.indices == pairs[row, 1]
        target = np.full(len(truth), np.inf)
        target[row[hit]] = rows.data[hit]
        above, equal = count_above(rows, target)  # itself among the equal ones
        total += np.where(np.isfinite(target), 0.5 / average_rank(above, equal - 1), 0)
    return total


def gains(tried: FloatArray, reached: FloatArray, errors: float = 1.0) -> bool:
    """Whether the mean gain is larger than so many of its standard errors."""
    return bool((tried - reached).mean() > errors * standard_error(tried - reached))


def standard_error(values: FloatArray) -> float:
    """The standard error of their mean."""
    return float(values.std() / np.sqrt(len(values)))
