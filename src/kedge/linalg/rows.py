"""The few numeric kernels that several stages share."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg.sparse import row_index
from kedge.types import FloatArray, IntArray


def unit_rows(X: FloatArray) -> FloatArray:
    """Each row of X divided by its length; a zero row stays zero."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1).astype(X.dtype)


def top_of_rows(matrix: csr_array, k: int) -> tuple[IntArray, FloatArray]:
    """The k largest stored entries of each row, largest first: columns and values, both [rows, k].

    Equal values stand in the order of their columns; short rows end in -1 and -inf.
    """
    rows = row_index(matrix)
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    place = np.arange(len(rows)) - matrix.indptr[rows]
    kept = place < k
    columns = np.full((matrix.shape[0], k), -1, np.int64)
    values = np.full((matrix.shape[0], k), -np.inf, np.float32)
    columns[rows[kept], place[kept]] = matrix.indices[order][kept]
    values[rows[kept], place[kept]] = matrix.data[order][kept]
    return columns, values
