"""How much the memberships of two accounts overlap, for many pairs: the loop behind the first level's operator."""

from __future__ import annotations

import numba
import numpy as np

from kedge.types import FloatArray, IntArray

__all__ = ["row_products"]


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def row_products(
    indptr: IntArray, indices: IntArray, data: FloatArray, rows: IntArray, columns: IntArray
) -> FloatArray:
    """(H Hᵀ)[rows, columns] of a CSR matrix with sorted rows, float64 [m]: one walk along both rows a pair."""
    result = np.empty(len(rows))
    for place in range(len(rows)):
        a, last_a = indptr[rows[place]], indptr[rows[place] + 1]
        b, last_b = indptr[columns[place]], indptr[columns[place] + 1]
        total = 0.0
        while a < last_a and b < last_b:
            if indices[a] == indices[b]:
                total += np.float64(data[a]) * np.float64(data[b])
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                a += 1
            else:
                b += 1
        result[place] = total
    return result
