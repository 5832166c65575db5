"""A sketch of a network: the leading singular vectors of what skip-gram would factorise, without any training."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg.sparse import row_index, symmetric_walk, with_data
from kedge.types import FloatArray, Network

_OVERSAMPLES: Final = 10  # as is usual for a randomised SVD
_POWER_STEPS: Final = 4  # unmeasured
_ROUNDING: Final = 1e-6  # of the largest squared length; products in single precision below it are rounding


def sketch_network(network: Network, dimensions: int, smoothing: int, seed: int) -> FloatArray:
    """S [n, d] = ((I + D^-1/2 A D^-1/2) / 2)^k U Σ^1/2, float32, where M ≈ U Σ Vᵀ has rank d (randomised SVD) and

        M_ij = max(0, log(1 / d_i) - log P(j)) at the edges (i, j), P(j) ∝ d_j^0.75, the noise of Eq. 10:

    what skip-gram with one noise account would factorise, smoothed k times over the network. An account without
    edges has 0. The mean squared length of a row is 1.
    """
    n = network.n
    S: FloatArray = np.zeros((n, dimensions), np.float32)
    if network.edges == 0:
        return S
    U, values = _leading(_log_ratios(network), min(dimensions, n), seed)
    S[:, : U.shape[1]] = U * np.sqrt(values)
    P = symmetric_walk(network)
    for _ in range(smoothing):
        S = (S + P @ S) / 2
    S[network.degrees == 0] = 0.0
    return unit_mean_square(S)


def unit_mean_square(X: FloatArray) -> FloatArray:
    """X [n, d] scaled so that the mean squared length of a row is 1."""
    length = float(np.sqrt((X.astype(np.float64) ** 2).sum() / max(1, len(X))))
    return X / np.float32(max(length, 1e-12))


def _log_ratios(network: Network) -> csr_array:
    """M: how much likelier a step from i leads to j than to a noise account."""
    A, degrees = network.adjacency, np.maximum(network.degrees, 1).astype(np.float64)
    noise = network.degrees**0.75
    rows = row_index(network.adjacency)
    values = -np.log(degrees[rows]) - np.log(noise[A.indices] / noise.sum())
    return with_data(A, np.maximum(values, 0).astype(np.float32))


def _leading(M: csr_array, rank: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The leading left singular vectors [n, rank] and values of M, by subspace iteration from a random start."""
    width = min(rank + _OVERSAMPLES, M.shape[0])
    turned = csr_array(M.T.tocsr())
    Q = np.random.default_rng([seed, 14]).standard_normal((M.shape[1], width), np.float32)
    for _ in range(_POWER_STEPS):
        Q = _orthonormal(turned @ _orthonormal(M @ Q))
    Q = np.linalg.qr(M @ Q)[0]
    U, values, _ = np.linalg.svd((turned @ Q).T, full_matrices=False)
    return (Q @ U)[:, :rank], values[:rank]


def _orthonormal(Y: FloatArray) -> FloatArray:
    """An orthonormal basis of the span of Y's columns, up to rounding, and 0 for columns that add nothing to it.

    Between power steps the columns only have to stay independent; by the eigenvectors of YᵀY that takes a third of the
    time of an exact orthogonalisation.
    """
    lengths, directions = np.linalg.eigh((Y.T @ Y).astype(np.float64))
    distinct = lengths > _ROUNDING * lengths[-1]
    scale = np.zeros_like(lengths)
    scale[distinct] = 1 / np.sqrt(lengths[distinct])
    return np.asarray(Y @ (directions * scale).astype(np.float32))
