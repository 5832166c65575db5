"""Names of array types, and pairs of accounts as integers [m, 2]."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.integer[Any]]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
Side: TypeAlias = Literal["left", "right"]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers behind a view that refuses writes; the caller's own array stays as it was."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_only_csr(matrix: csr_array) -> csr_array:
    """A CSR array in canonical form (sorted, no duplicates) whose three arrays refuse writes."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    frozen = csr_array(
        (read_only(matrix.data), read_only(matrix.indices), read_only(matrix.indptr)),
        shape=matrix.shape,
        copy=False,
    )
    frozen.has_canonical_format = True
    return frozen


def pair_keys(left: IntArray, right: IntArray, width: int) -> IntArray:
    """One number for each pair, int64 [m]; `width` is the number of right accounts. Keys order as the pairs do."""
    keys: IntArray = np.asarray(left, np.int64) * np.int64(max(width, 1)) + right
    return keys


def is_among(pairs: IntArray, others: IntArray, width: int) -> BoolArray:
    """Which of the pairs [m, 2] are among the others [k, 2]."""
    found: BoolArray = np.isin(pair_keys(pairs[:, 0], pairs[:, 1], width), pair_keys(others[:, 0], others[:, 1], width))
    return found


def as_pairs(pairs: Any) -> IntArray:
    """Integers [m, 2] from any array-like of pairs; an empty list is [0, 2]."""
    array = np.asarray(pairs, dtype=np.int64)
    if array.size == 0:
        return array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"pairs must have shape [m, 2], not {list(array.shape)}")
    return array
