"""One cheap sketch of a whole network: coordinates that all its parts start from and are rotated back onto.

Parts that start at random learn spaces of their own, and Eq. 12 has only shared accounts to undo that. A sketch is in
one space from the beginning, for every account, and contains the edges between parts too.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import Cache, CacheEntry, RunContext, digest, get_or_make
from kedge.linalg import row_index, symmetric_walk, with_data
from kedge.types import FloatArray, Network, Problem

_CHANCE: Final = 0.1  # length of the random vector added to each first one; unmeasured
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
    return _unit_mean_square(S)


def first_vectors(sketch: FloatArray, length: float, seed: int) -> FloatArray:
    """X^0 of the whole network: the sketch, plus a short random vector for accounts whose sketch is 0.

    Adam moves every entry by about the same amount, so long first vectors stay nearer to where they began.
    """
    drawn = np.random.default_rng([seed, 13]).standard_normal(sketch.shape, np.float32)
    return np.asarray(np.float32(length) * sketch + np.float32(_CHANCE / np.sqrt(sketch.shape[1])) * drawn)


def concatenate_sketch(sketch: FloatArray, vectors: FloatArray, weight: float) -> FloatArray:
    """[S, weight X] with both of mean squared length 1: position in the network, and in the own part, [n, 2d].

    An account whose learned vector is 0 has 0.
    """
    both = np.hstack([sketch, weight * _unit_mean_square(vectors)]).astype(np.float32)
    both[~vectors.any(axis=1)] = 0.0
    return both


def _unit_mean_square(X: FloatArray) -> FloatArray:
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


def sketch_both(problem: Problem, config: Config, cache: Cache) -> tuple[FloatArray, ...]:
    """A sketch [n, d] of the left and of the right network; the same settings and seed give the same from the cache."""

    def sketch(network: Network, side: int) -> FloatArray:
        key, how = _key_of_sketch(network, config, side), _sketch_settings(config, side)
        return get_or_make(cache, key, lambda: CacheEntry({"vectors": sketch_network(network, *how)})).arrays["vectors"]

    return sketch(problem.left, 0), sketch(problem.right, 1)


def recall_sketches(problem: Problem, config: Config, cache: Cache) -> tuple[FloatArray, ...] | None:
    """The sketches from the cache alone; None where it does not have both."""
    keys = [_key_of_sketch(network, config, side) for side, network in enumerate((problem.left, problem.right))]
    entries = [entry for key in keys if (entry := cache.get(key)) is not None]
    return tuple(entry.arrays["vectors"] for entry in entries) if len(entries) == len(keys) else None


def _sketch_settings(config: Config, side: int) -> tuple[int, int, int]:
    """Dimensions, smoothing and seed."""
    return config.mgcn.dimensions, config.partition.sketch_steps, 2 * config.seed + side


def _key_of_sketch(network: Network, config: Config, side: int) -> str:
    A = network.adjacency
    return digest(["sketch", *_sketch_settings(config, side)], A.indptr, A.indices)


def vectors_of(problem: Problem, config: Config, context: RunContext) -> tuple[FloatArray, ...]:
    """Vectors of both networks, from the seed of the run, not of a trial: they do not depend on anchors, so all runs
    share them in the cache."""
    if config.pairing.vectors == "sketch":
        return sketch_both(problem, config, context.cache)
    from kedge.embedding.network import embed_both  # training is loaded where something is trained

    return tuple(made.vectors for made in embed_both(problem, config, config.seed, context))
