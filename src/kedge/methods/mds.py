"""Multidimensional scaling of shortest paths (Torgerson, Psychometrika 1952; landmarks: de Silva, Tenenbaum 2004), then
the shared phase 2.

The distances Δ of L landmarks to each other, squared and doubly centred, B = -1/2 J Δ² J with J = I - 1/L, have the
leading eigenvalues λ and eigenvectors v. An account with squared distances δ to the landmarks is at

    y_k = -1/2 v_k · (δ - mean(Δ²)) / √λ_k

For a landmark that is √λ_k times its entry of v_k: where all accounts are landmarks it is classical scaling.

Deviations: a distance is a number of edges; accounts of different components are as far apart as the farthest connected
ones, plus 1; eigenvalues that are not positive are dropped. Up to 3,000 accounts all are landmarks, beyond that 1,000
drawn ones. Cost: L · |E| for the distances and n · L memory, which must stay within `baselines.dense_cells`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.csgraph import dijkstra

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment
from kedge.methods.shared.embedded import align_embedded
from kedge.types import FloatArray, IntArray, KedgeError, Network, Problem

_WHOLE = 3_000  # accounts up to which all are landmarks; unmeasured
_LANDMARKS = 1_000  # unmeasured


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks scaled by themselves, the right one projected into the left one's space (Eq. 11)."""

    for network in (problem.left, problem.right):
        refuse_too_many_cells(network, config.baselines.dense_cells)

    def embed(source: Source) -> FloatArray:
        return scale(source.network, config.baselines, source.seed)

    return align_embedded("mds", problem, config, context, embed)


def refuse_too_many_cells(network: Network, limit: int) -> None:
    """Refuse a network whose distances to its landmarks are too many, before any is computed."""
    connected = int(np.count_nonzero(network.degrees))
    landmarks = connected if connected <= _WHOLE else _LANDMARKS
    if network.n * landmarks > limit:
        raise KedgeError(
            f"mds holds the distances of {network.n:,} accounts to {landmarks:,} landmarks: "
            f"{network.n * landmarks:,} cells, above {limit:,}",
            remedy="use deepwalk or another sparse method, or raise baselines.dense_cells",
        )


def scale(network: Network, settings: BaselineConfig, seed: int) -> FloatArray:
    """Places, float32 [n, d at most]; 0 for an account without edges."""
    some = np.flatnonzero(network.degrees)
    landmarks = some
    if len(some) > _WHOLE:
        landmarks = np.sort(np.random.default_rng(seed).choice(some, _LANDMARKS, replace=False))
    if len(some) == 0:
        return np.zeros((network.n, 1), np.float32)
    square = distances(network, landmarks)[:, some] ** 2
    places = np.zeros((network.n, min(settings.dimensions, len(landmarks))), np.float32)
    places[some] = triangulate(square, np.searchsorted(some, landmarks), places.shape[1])
    return places


def distances(network: Network, landmarks: IntArray) -> FloatArray:
    """The number of edges between each landmark and each account, [landmarks, n]."""
    found = dijkstra(network.adjacency, directed=False, indices=landmarks, unweighted=True)
    finite = np.isfinite(found)
    found[~finite] = found[finite].max(initial=0) + 1
    return np.asarray(found)


def triangulate(square: FloatArray, landmarks: IntArray, d: int) -> FloatArray:
    """Places [n, d] from squared distances [landmarks, n], `landmarks` the places of the first among the second."""
    among = square[:, landmarks]
    mean = among.mean(axis=0)
    B = -0.5 * (among - mean - mean[:, None] + mean.mean())
    L = len(landmarks)
    values, V = eigh(B, subset_by_index=(max(L - d, 0), L - 1))
    values, V = values[::-1], V[:, ::-1]
    kept = values > 1e-9 * max(float(values[0]), 1e-300)
    Y = np.zeros((square.shape[1], d))
    Y[:, : kept.sum()] = -0.5 * (square - mean[:, None]).T @ (V[:, kept] / np.sqrt(values[kept]))
    return Y
