"""MAH (Tan, Guan, Cai, Qin, Bu, Chen; AAAI 2014): manifold alignment on hypergraph.

Every account and its neighbours are a hyperedge. Accounts in the same hyperedge are to be near each other, anchored
accounts at the same place: Y minimises tr(Y^T Δ Y) with Y^T Y = I, where

    Δ = I - D_v^-1/2 H W D_e^-1 H^T D_v^-1/2

over both networks together, so Y is U, the leading singular vectors of D_v^-1/2 H D_e^-1/2.

Deviations: anchors are hard (the two accounts are one vertex), where the paper weighs their distance by μ; W = I; one
hyperedge for each account, where the paper samples; the common places go through the shared phase 2, since Euclid's
distance finds the anchored neighbours of an account before its partner.

Cost: a truncated singular value decomposition, O((n + |E|) d) per step of Lanczos; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.sparse.linalg import svds

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import VectorAlignment, normalise, row_index
from kedge.methods.shared.embedded import merge
from kedge.similarity import align_vectors
from kedge.types import FloatArray, IntArray, Network, Problem


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Places on the common manifold, the right ones adjusted by the anchors (Eq. 11); `seed` starts the iteration."""
    merged = merge(problem)
    sides = ((problem.left, merged.left), (problem.right, merged.right))
    H = csr_array(hstack([hyperedges(network, place, merged.n) for network, place in sides]).tocsr())
    Y = _places(H, config.baselines.dimensions, np.random.default_rng(config.seed))
    return align_vectors(problem, Y[merged.left], Y[merged.right], config.pairing, config.seed)


def hyperedges(network: Network, place: IntArray, n: int) -> csr_array:
    """One hyperedge for each account with neighbours, [n, accounts]: itself and them, at their merged places."""
    some = np.flatnonzero(network.degrees)
    rows = np.concatenate([row_index(network.adjacency), some])
    columns = np.concatenate([network.adjacency.indices, some])
    return csr_array((np.ones(len(rows)), (place[rows], columns)), shape=(n, network.n))


def _places(H: csr_array, d: int, rng: np.random.Generator) -> FloatArray:
    """The leading non-trivial coordinates, float32 [n, d at most]; 0 for an account in no hyperedge."""
    G = normalise(H, 0.5, 0.5)
    k = min(d + 1, min(G.shape) - 1)
    if k < 1 or G.nnz == 0:
        return np.zeros((H.shape[0], 1), np.float32)
    U, sigma, _ = svds(G, k=k, v0=rng.random(min(G.shape)) + 0.5)
    # The first coordinate is the same for every account of a component: it carries no information.
    return np.asarray((U[:, np.argsort(-sigma)[1:]] if k > 1 else U).astype(np.float32))
