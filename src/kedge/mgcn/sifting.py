"""A sparse matrix without some of its entries, row by row: the loop behind hidden edges."""

from __future__ import annotations

import numba
import numpy as np
import torch

from kedge.spmm import Rows
from kedge.types import FloatArray, IntArray

__all__ = ["sift_rows"]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sift(
    offsets: IntArray, indices: IntArray, values: FloatArray, kind: IntArray, weights: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    kept_offsets = np.zeros_like(offsets)
    kept_indices = np.empty_like(indices)
    kept_values = np.empty_like(values)
    place = 0
    for row in range(len(offsets) - 1):
        for entry in range(offsets[row], offsets[row + 1]):
            weight = weights[kind[entry]]
            # Written always, and written over unless kept: half are hidden, so a branch would be guessed wrong.
            kept_indices[place] = indices[entry]
            kept_values[place] = values[entry] * weight
            place += weight != 0
        kept_offsets[row + 1] = place
    return kept_offsets, kept_indices[:place], kept_values[:place]


def sift_rows(rows: Rows, kind: IntArray, weights: FloatArray) -> Rows:
    """The matrix with each entry times the weight of its kind, and without entries of weight 0."""
    kept = _sift(rows.offsets.numpy(), rows.indices.numpy(), rows.values.numpy(), kind, weights)
    return Rows(*(torch.from_numpy(part) for part in kept))
