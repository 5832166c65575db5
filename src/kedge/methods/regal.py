"""REGAL (Heimann, Shen, Safavi, Koutra; CIKM 2018), xNetMF on both networks at once, no anchors needed.

The structure of an account is d_u = Σ_k δ^k (degrees at k hops, counted in logarithmic buckets), k = 0, 1, 2, δ = 0.01.
With p = 10 log2 n landmarks of both networks, C_uv = exp(-|d_u - d_v|) [n, p] and W its rows of landmarks, vectors are
Y = C U Σ^1/2 of the singular value decomposition W^+ = U Σ V^T, scaled to length 1.

Deviations: the distance is not squared, as in the public implementation of PlanetAlign; no attributes; ranks by
cosine over all accounts, not the nearest few in a tree. The vectors do not use the anchors: REGAL is unsupervised; only
that an anchored account is no other account's candidate.

Cost: Σ_u (degrees of u's neighbours) for the hops, in blocks of rows, n p^2 for the vectors. No n × n matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import VectorAlignment, pattern
from kedge.similarity import align_shared
from kedge.types import FloatArray, Network, Problem

_DISCOUNT = 0.01  # δ, the paper's
_BLOCK = 512  # accounts at once


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Cosine of xNetMF vectors; `seed` draws the landmarks."""
    n = problem.left.n + problem.right.n
    largest = max(int(network.degrees.max(initial=1)) for network in (problem.left, problem.right))
    structure = np.concatenate([_structure(network, largest) for network in (problem.left, problem.right)])
    p = min(n, int(10 * np.log2(max(n, 2))))
    landmarks = np.random.default_rng(config.seed).choice(n, p, replace=False)
    square = (structure**2).sum(axis=1)
    distance = square[:, None] + square[landmarks][None, :] - 2 * structure @ structure[landmarks].T
    C = np.exp(-np.sqrt(np.maximum(distance, 0)))
    U, sigma, _ = np.linalg.svd(np.linalg.pinv(C[landmarks]))
    Y = C @ (U * np.sqrt(sigma))
    return align_shared(problem, Y[: problem.left.n], Y[problem.left.n :], config.pairing)


def _structure(network: Network, largest: int) -> FloatArray:
    """d_u for each account, float64 [n, buckets]."""
    A = pattern(network.adjacency, np.float32)
    degrees = network.degrees
    buckets = int(np.log2(max(largest, 1))) + 1
    some = np.flatnonzero(degrees)
    bucket = csr_array(
        (np.ones(len(some)), (some, np.log2(degrees[some]).astype(np.int64))), shape=(network.n, buckets)
    )
    found = bucket.toarray() + _DISCOUNT * (A @ bucket).toarray()
    for start in range(0, network.n, _BLOCK):
        rows = A[start : start + _BLOCK]
        beyond = csr_array(rows @ A)
        itself = np.arange(len(found[start : start + _BLOCK]))
        beyond.data[:] = 1
        own = csr_array((np.ones(len(itself), np.float32), (itself, itself + start)), shape=beyond.shape)
        second = csr_array(beyond - beyond.multiply(csr_array(rows + own)))
        found[start : start + _BLOCK] += _DISCOUNT**2 * (second @ bucket).toarray()
    return np.asarray(found)
