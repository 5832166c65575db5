"""Sparse matrices: the row of each entry, patterns, stored entries of pairs, normalised operators."""

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
