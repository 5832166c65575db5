"""Laplacian eigenmaps (Belkin, Niyogi; NIPS 2001) on the edges of each network, then the shared phase 2.

Neighbours are to be near each other: Y minimises 1/2 Σ_ij A_ij |y_i - y_j|^2 = tr(Yᵀ (D - A) Y) with Yᵀ D Y = I, so its
columns solve (D - A) y = λ D y for the smallest λ above the trivial ones: y = D^-1/2 u, where u are the leading
eigenvectors of D^-1/2 A D^-1/2.

Deviations: A is the network, where the paper makes one of nearest points; edges weigh alike; the trivial solutions, one
per component, in which all its accounts are at one place, are removed before the others are computed. Small components
have none of the leading eigenvectors: their accounts are at 0. Cost: Lanczos, (|E| + n d) d per restart; no n × n
matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, symmetric_walk
from kedge.methods.shared.embedded import align_embedded
from kedge.types import FloatArray, Network, Problem

_EXACT = 1e-6  # relative error of an eigenvalue; vectors are float32
_DENSE = 400  # accounts up to which all eigenvectors are computed: Lanczos needs more accounts than vectors


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks by their own eigenvectors, the right one projected into the left one's space (Eq. 11)."""

    def embed(source: Source) -> FloatArray:
        return eigenmaps(source.network, config.baselines.dimensions, source.seed)

    return align_embedded("spectral", problem, config, context, embed)


def eigenmaps(network: Network, d: int, seed: int) -> FloatArray:
    """Y, float32 [n, d at most], smallest λ first; 0 for an account without edges."""
    n, degrees = network.n, np.maximum(network.degrees, 1).astype(np.float64)
    k = min(d, n - 1)
    if k < 1 or network.edges == 0:
        return np.zeros((n, 1), np.float32)
    S, trivial = symmetric_walk(network, np.float64), _trivial(network)
    turned = csr_array(trivial.T.tocsr())
    if n <= max(_DENSE, 3 * k):
        values, U = np.linalg.eigh(S.toarray() - 2 * (trivial @ turned).toarray())
    else:
        # At -1 the trivial ones are the last of all: no eigenvalue of S is lower.
        operator = LinearOperator((n, n), matvec=lambda x: S @ x - 2 * (trivial @ (turned @ x)), dtype=np.float64)
        values, U = eigsh(operator, k, which="LA", tol=_EXACT, v0=np.random.default_rng(seed).standard_normal(n))
    Y = U[:, np.argsort(-values)[:k]] / np.sqrt(degrees)[:, None]
    Y[network.degrees == 0] = 0
    return Y.astype(np.float32)


def _trivial(network: Network) -> csr_array:
    """The solutions with λ = 0: D^1/2 1 of each component with edges, of length 1, [n, components]."""
    _, component = connected_components(network.adjacency, directed=False)
    some = np.flatnonzero(network.degrees)
    total = np.bincount(component, network.degrees)
    values = np.sqrt(network.degrees[some] / total[component[some]])
    return csr_array((values, (some, component[some])), shape=(network.n, len(total)))
