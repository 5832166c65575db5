"""From log-odds to beliefs: a two-sided softmax with room for "no counterpart", of a whole matrix or block by block.

    P = sqrt(softmax over v of L/T, n_2 more at 0, × softmax over u of L/T, n_1 more at 0), per stored entry

The sums over u run over all blocks, so blocks are gone through three times: for the largest of each column, for its
sum, for the beliefs. The order of additions is that of the whole matrix, so the bytes are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_array

from kedge.evidence.kernels import add_masses, background_masses, grouped_softmax, raise_peaks, weights_of
from kedge.linalg import row_index
from kedge.types import FloatArray, IntArray

Parts = Callable[[], Iterator[tuple[int, csr_array]]]


def two_sided(L: csr_array, temperature: float) -> FloatArray:
    """P of each stored entry of a whole matrix."""
    n_left, n_right = L.shape
    scaled = L.data / temperature
    forth = grouped_softmax(scaled, row_index(L), n_left, n_right)
    back = grouped_softmax(scaled, L.indices, n_right, n_left)
    forth *= back
    return np.asarray(np.sqrt(forth, out=forth))


def at_least(L: csr_array, P: FloatArray, least: float, first: int = 0) -> tuple[IntArray, IntArray, FloatArray]:
    """(left, right, P) of the stored entries with a belief of at least `least`; rows are counted from the `first`."""
    kept = least <= P
    return row_index(L)[kept] + first, L.indices[kept], P[kept]


def believed(
    parts: Parts, shape: tuple[int, int], temperature: float, least: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """(left, right, P) of the pairs with a belief of at least `least`, in the order of their rows; `parts` gives (first
    account, rows of L) of each block, the same whenever it is called."""
    n_left, n_right = shape
    peak = np.zeros(n_right)
    for _, L in parts():
        raise_peaks(L.data / temperature, L.indices, peak)
    mass = background_masses(peak, n_left)
    for _, L in parts():
        add_masses(L.data / temperature, L.indices, peak, mass)
    found: list[tuple[IntArray, IntArray, FloatArray]] = []
    for first, L in parts():
        scaled = L.data / temperature
        rows = row_index(L)
        P = np.sqrt(grouped_softmax(scaled, rows, L.shape[0], n_right) * weights_of(scaled, L.indices, peak, mass))
        found.append(at_least(L, P, least, first))
    left, right, P = (np.concatenate(column) for column in zip(*found, strict=True))
    return left, right, P
