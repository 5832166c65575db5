"""The loops of the objective: products along edges, and softplus with its slope over blocks of noise.

softplus(x) = max(x, 0) + log(1 + exp(-|x|)). The second factor is between 1 and 2, so 64 of them are multiplied before
one logarithm is taken: Σ log(1 + t) = log Π (1 + t), which loses nothing and saves 63 of 64 logarithms.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from kedge.types import FloatArray, IntArray

__all__ = ["dot_edges", "lose_noise"]

_REORDERED = {"reassoc", "nsz", "contract", "arcp"}  # sums may be vectorised; NaN and infinity stay what they are
_FACTORS = 64
_ONE, _ZERO = np.float32(1), np.float32(0)


@numba.njit(cache=True, nogil=True, fastmath=_REORDERED)  # type: ignore[untyped-decorator]
def dot_edges(X: FloatArray, first: IntArray, second: IntArray, weights: FloatArray, out: FloatArray) -> None:
    """out_e = x_i · x_j of edges e = (i, j) that weigh something, 0 for the others."""
    for edge in range(len(first)):
        out[edge] = 0
        if weights[edge] != 0:
            x, y = X[first[edge]], X[second[edge]]
            product = _ZERO
            for k in range(X.shape[1]):
                product += x[k] * y[k]
            out[edge] = product


@numba.njit(cache=True, nogil=True, fastmath=_REORDERED, error_model="numpy")  # type: ignore[untyped-decorator]
def lose_noise(logits: FloatArray, decayed: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Σ w_v softplus(logit_vk), and the sum of its slopes w_v σ(logit_vk), which take the place of the logits.

    `decayed` is exp(-|logit|), both [rows, q].
    """
    loss, total = 0.0, 0.0
    for v in range(len(logits)):
        weight, row, low = weights[v], logits[v], decayed[v]
        positive, slopes = _ZERO, _ZERO
        for k in range(len(row)):
            x, t = row[k], low[k]
            positive += x if x > 0 else _ZERO
            slope = (_ONE if x >= 0 else t) / (_ONE + t)
            slopes += slope
            row[k] = slope * weight
        logarithms = 0.0
        for begin in range(0, len(row), _FACTORS):
            product = _ONE
            for t in low[begin : begin + _FACTORS]:
                product *= _ONE + t
            logarithms += math.log(product)
        loss += weight * (positive + logarithms)
        total += weight * slopes
    return loss, total
