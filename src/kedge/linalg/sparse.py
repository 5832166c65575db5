"""Sparse matrices and rows: patterns, stored entries of pairs, normalised operators, the best of each row, ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from kedge.types import FloatArray, IntArray, Network, pair_keys


def row_index(matrix: csr_array) -> IntArray:
    """The row of each stored entry, int64 [nnz]."""
    return np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))


def with_data(matrix: csr_array, data: NDArray[Any]) -> csr_array:
    """The same stored entries with other values."""
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def without_entries(matrix: csr_array, rows: IntArray, columns: IntArray) -> csr_array:
    """The matrix without the entries in these rows and columns; its shape stays."""
    row = row_index(matrix)
    kept = ~(np.isin(row, rows) | np.isin(matrix.indices, columns))
    return csr_array((matrix.data[kept], (row[kept], matrix.indices[kept])), shape=matrix.shape)


def pattern(matrix: csr_array, dtype: Any = np.float64) -> csr_array:
    """The same stored entries with every value 1."""
    return with_data(matrix, np.ones(matrix.nnz, dtype))


def entries_at(matrix: csr_array, pairs: IntArray) -> FloatArray:
    """The stored entry at each (row, column) pair, float32 [m]; -inf where none is stored. Rows must be sorted."""
    width = matrix.shape[1]
    # Rows are sorted, so the keys are sorted over all entries and can be searched at once.
    keys = pair_keys(row_index(matrix), matrix.indices, width)
    wanted = pair_keys(pairs[:, 0], pairs[:, 1], width)
    place = np.searchsorted(keys, wanted)
    result = np.full(len(wanted), -np.inf, np.float32)
    inside = place < len(keys)
    inside[inside] = keys[place[inside]] == wanted[inside]
    result[inside] = matrix.data[place[inside]]
    return result


def normalise(matrix: csr_array, rows: float = 0.0, columns: float = 0.0) -> csr_array:
    """D_r^-rows M D_c^-columns, D_r and D_c the sums of M's rows and columns; an empty row or column stays empty.

    A power is 0, 1/2 or 1, so D^-1/2 A D^-1/2 is (1/2, 1/2) and the random walk D^-1 A is (1, 0). The type of the
    entries is that of M.
    """
    result = matrix
    if rows:
        result = diags_array(_inverse_power(matrix, 1, rows)) @ result
    if columns:
        result = result @ diags_array(_inverse_power(matrix, 0, columns))
    return csr_array(result.tocsr())


def _inverse_power(matrix: csr_array, axis: int, power: float) -> FloatArray:
    """sums^-power along one axis, 0 where a sum is 0; power 1/2 or 1."""
    sums = np.asarray(matrix.sum(axis=axis, dtype=np.float64)).ravel()
    values = np.sqrt(sums) if power == 0.5 else sums
    inverse: FloatArray = np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
    return inverse.astype(matrix.dtype)


def symmetric_walk(network: Network, dtype: Any = np.float32) -> csr_array:
    """D^-1/2 A D^-1/2 without weights; the row of an account without edges is empty."""
    return normalise(pattern(network.adjacency, dtype), 0.5, 0.5)


def unit_rows(X: FloatArray) -> FloatArray:
    """Each row of X divided by its length; a zero row stays zero."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1).astype(X.dtype)


def top_of_rows(matrix: csr_array, k: int) -> tuple[IntArray, FloatArray]:
    """The k largest stored entries of each row, largest first: columns and values, both [rows, k].

    Equal values stand in the order of their columns; short rows end in -1 and -inf.
    """
    from kedge.linalg.best import top_entries  # numba is loaded where it is needed

    columns, values = top_entries(matrix.indptr, matrix.indices, matrix.data, k)
    return columns, values.astype(np.float32, copy=False)


def average_rank(above: IntArray, equal: IntArray) -> FloatArray:
    """The rank from 1 below `above` others, ties with `equal` others averaged."""
    return np.asarray(1 + above + equal / 2)


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
    gain = tried - reached
    return bool(gain.mean() > errors * float(gain.std() / np.sqrt(len(gain))))
