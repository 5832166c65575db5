"""One cheap sketch of a whole network: coordinates that all its parts start from and are laid back on.

Parts that start at random learn each a space of its own, and Eq. 12 has only shared accounts to undo that. A sketch
stands in one space from the beginning, for every account, and has seen the edges between parts too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array, diags_array

from kedge.types import FloatArray, Network

__all__ = ["first_vectors", "put_beside", "sketch_network"]

_CHANCE: Final = 0.1  # length of the random vector added to each first one, beside a mean of sketch_length
_OVERSAMPLES: Final = 10
_POWER_STEPS: Final = 4
_TOLD_APART: Final = 1e-6  # squared length beside the largest; below it products in single precision are rounding


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
    U, values = _leading(_surprise(network), min(dimensions, n), seed)
    S[:, : U.shape[1]] = U * np.sqrt(values)
    degrees = np.maximum(network.degrees, 1)
    root = diags_array((1 / np.sqrt(degrees)).astype(np.float32))
    P = csr_array(root @ _pattern(network) @ root)
    for _ in range(smoothing):
        S = (S + P @ S) / 2
    S[network.degrees == 0] = 0.0
    return _of_length_one(S)


def first_vectors(sketch: FloatArray, length: float, seed: int) -> FloatArray:
    """X^0 of the whole network: the sketch, and a little chance for accounts that it says nothing of.

    Adam moves every entry by as much as it likes, so long first vectors stay nearer to where they began.
    """
    drawn = np.random.default_rng([seed, 13]).standard_normal(sketch.shape, np.float32)
    result: FloatArray = np.float32(length) * sketch + np.float32(_CHANCE / np.sqrt(sketch.shape[1])) * drawn
    return result


def put_beside(sketch: FloatArray, vectors: FloatArray, weight: float) -> FloatArray:
    """[S, weight X] with both of mean squared length 1: where in the network, and where in one's part, [n, 2d].

    An account whose part has taught nothing of it stands nowhere.
    """
    both = np.hstack([sketch, weight * _of_length_one(vectors)]).astype(np.float32)
    both[~vectors.any(axis=1)] = 0.0
    return both


def _of_length_one(X: FloatArray) -> FloatArray:
    length = float(np.sqrt((X.astype(np.float64) ** 2).sum() / max(1, len(X))))
    return X / np.float32(max(length, 1e-12))


def _pattern(network: Network) -> csr_array:
    A = network.adjacency
    return csr_array((np.ones(A.nnz, np.float32), A.indices, A.indptr), shape=A.shape)


def _surprise(network: Network) -> csr_array:
    """M: how much likelier a step from i leads to j than to a noise account."""
    A, degrees = network.adjacency, np.maximum(network.degrees, 1).astype(np.float64)
    noise = network.degrees**0.75
    rows = np.repeat(np.arange(network.n), network.degrees)
    values = -np.log(degrees[rows]) - np.log(noise[A.indices] / noise.sum())
    return csr_array((np.maximum(values, 0).astype(np.float32), A.indices, A.indptr), shape=A.shape)


def _leading(M: csr_array, rank: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The leading left singular vectors [n, rank] and values of M, by subspace iteration from a random start."""
    width = min(rank + _OVERSAMPLES, M.shape[0])
    turned = csr_array(M.T.tocsr())
    Q = np.random.default_rng([seed, 14]).standard_normal((M.shape[1], width), np.float32)
    for _ in range(_POWER_STEPS):
        Q = _straightened(turned @ _straightened(M @ Q))
    Q = np.linalg.qr(M @ Q)[0]
    U, values, _ = np.linalg.svd((turned @ Q).T, full_matrices=False)
    return (Q @ U)[:, :rank], values[:rank]


def _straightened(Y: FloatArray) -> FloatArray:
    """An orthonormal basis of what the columns of Y span, up to rounding, and 0 for columns that add nothing to it.

    On the way to the leading vectors columns only have to be kept from falling together; by their products among each
    other that takes a third of what an exact orthogonalisation takes.
    """
    lengths, directions = np.linalg.eigh((Y.T @ Y).astype(np.float64))
    told_apart = lengths > _TOLD_APART * lengths[-1]
    scale = np.zeros_like(lengths)
    scale[told_apart] = 1 / np.sqrt(lengths[told_apart])
    result: FloatArray = Y @ (directions * scale).astype(np.float32)
    return result
