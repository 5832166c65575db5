"""Graph factorisation (Ahmed, Shervashidze, Narayanamurthy, Josifovski, Smola; WWW 2013), then the shared phase 2.

    min f(Z) = 1/2 Σ_edges (Y_ij - z_i · z_j)^2 + λ/2 Σ_i |z_i|^2

by stochastic descent over the edges in a drawn order: the ends of an edge move by η_t times

    z_i: (Y_ij - z_i · z_j) z_j - λ z_i / d_i        z_j: (Y_ij - z_i · z_j) z_i - λ z_j / d_j

whose sum over all edges is the gradient of f, with η_t = η / √t in pass t.

Deviations: Y_ij = 1, since weights may be of any size; one process, where the paper's subject is how to spread the sum
over machines; η, λ and the length of the first vectors are kedge's choice. Only edges are in f, so where all of them
weigh alike its minimum has all vectors of a component in one direction: accounts differ by the way there, and
`baselines.passes` passes are not the minimum. Cost: passes · |E| · d; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, row_index
from kedge.methods.shared.embedded import align_embedded
from kedge.types import FloatArray, Network, Problem

# By validation anchors of cora and douban, of η = 0.03 and 0.1, λ = 0.01, 0.1 and 1.
_RATE = 0.1  # η
_DECAY = 1.0  # λ
_LENGTH = 0.3  # of the first vectors, about; unmeasured


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks factorised by themselves, the right one projected into the left one's space (Eq. 11)."""

    def embed(source: Source) -> FloatArray:
        return factorise(source.network, config.baselines, source.seed)

    return align_embedded("graph-factorisation", problem, config, context, embed)


def factorise(network: Network, settings: BaselineConfig, seed: int) -> FloatArray:
    """Z, float32 [n, d]; 0 for an account without edges."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(0, _LENGTH / np.sqrt(settings.dimensions), (network.n, settings.dimensions)).astype(np.float32)
    rows, columns = row_index(network.adjacency), network.adjacency.indices
    edges = np.column_stack([rows, columns])[rows < columns].astype(np.int64)
    shrink = (_DECAY / np.maximum(network.degrees, 1)).astype(np.float32)
    for past in range(settings.passes):
        descend(Z, edges[rng.permutation(len(edges))], shrink, _RATE / np.sqrt(1 + past))
    Z[network.degrees == 0] = 0
    return Z


@njit(cache=True, fastmath=True)
def descend(Z, edges, shrink, rate):  # type: ignore[no-untyped-def]
    """One step for each edge in this order, in place; `shrink` [n] is λ / d of each account."""
    lr = np.float32(rate)
    for edge in range(len(edges)):
        i, j = edges[edge]
        missing = np.float32(1)
        for f in range(Z.shape[1]):
            missing -= Z[i, f] * Z[j, f]
        for f in range(Z.shape[1]):
            mine, other = Z[i, f], Z[j, f]
            Z[i, f] += lr * (missing * other - shrink[i] * mine)
            Z[j, f] += lr * (missing * mine - shrink[j] * other)
