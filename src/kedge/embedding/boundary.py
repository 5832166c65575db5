"""The edges between parts, which the paper leaves unused: at last they pull.

Each account moves a little towards the mean of its neighbours in other parts, the more the larger their share among
its edges.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from kedge.types import FloatArray, IntArray, Network

__all__ = ["refine_boundary"]


def refine_boundary(network: Network, part: IntArray, X: FloatArray, steps: int) -> FloatArray:
    """x_v <- (1 - λ_v) x_v + λ_v · mean of x over v's neighbours in other parts, λ_v = half their share; repeated."""
    if steps == 0 or len(part) == 0 or part.max() == 0:
        return X
    adjacency = network.adjacency
    rows = np.repeat(np.arange(network.n), network.degrees)
    outside = part[rows] != part[adjacency.indices]
    ends = (rows[outside], adjacency.indices[outside])
    crossing = csr_array((np.ones(len(ends[0]), np.float32), ends), shape=adjacency.shape)
    count = np.diff(crossing.indptr)
    pull = (0.5 * count / np.maximum(network.degrees, 1)).astype(np.float32)[:, None]
    mean = diags_array((1 / np.maximum(count, 1)).astype(np.float32)) @ crossing
    for _ in range(steps):
        X = (1 - pull) * X + pull * (mean @ X)
    return X
