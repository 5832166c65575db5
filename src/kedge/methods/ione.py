"""IONE (Liu, Cheung, Li, Liao; IJCAI 2016): vectors with input and output contexts, shared by the ends of an anchor.

For an edge i -> j (i follows j) of either network, with k drawn by degree^0.75 from the same one:

    log σ(u_i · in_j) + Σ_k log σ(-u_i · in_k)  +  log σ(u_j · out_i) + Σ_k log σ(-u_k · out_i)

Anchors are hard: their accounts have one vector and one pair of contexts, so both networks learn in one space.

Deviations: undirected networks, so each edge goes both ways; `baselines.passes` draws of each edge, where the authors
draw ten million. Cost: passes · |E| · negatives · d, 5 s of CPU on arenas95; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import VectorAlignment, row_index
from kedge.methods.shared.embedded import merge
from kedge.methods.shared.noise import RATE, noise_table, pull
from kedge.similarity import align_shared
from kedge.types import IntArray, Network, Problem


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Cosine of the vectors, which are in one space already; no phase 2, no pair network."""
    settings, merged = config.baselines, merge(problem)
    rng = np.random.default_rng(config.seed)
    sides = ((problem.left, merged.left), (problem.right, merged.right))
    edges = [_edges(network, place) for network, place in sides]
    noise = np.stack([place[noise_table(network.degrees, rng)] for network, place in sides])
    side = np.repeat(np.arange(2), [len(edges[0]), len(edges[1])])
    both = np.concatenate(edges)
    draws = settings.passes * len(both)
    start = int(rng.integers(2**32))
    X = _train(both, side, noise, merged.n, settings.dimensions, draws, settings.negatives, RATE, start)
    for network, place in sides:
        alone = place[network.degrees == 0]
        X[np.setdiff1d(alone, both)] = 0  # no edge of either network has trained it
    return align_shared(problem, X[merged.left], X[merged.right], config.pairing)


def _edges(network: Network, place: IntArray) -> IntArray:
    """Each edge in both directions, int64 [2 |E|, 2]."""
    rows = row_index(network.adjacency)
    return np.column_stack([place[rows], place[network.adjacency.indices]]).astype(np.int64)


@njit(cache=True, fastmath=True)
def _train(edges, side, noise, n, d, draws, negatives, rate, seed):  # type: ignore[no-untyped-def]
    """The vectors [n, d] after `draws` edges drawn uniformly."""
    np.random.seed(seed)
    X = ((np.random.random((n, d)) - 0.5) / d).astype(np.float32)
    into, out = np.zeros((n, d), np.float32), np.zeros((n, d), np.float32)
    mine, other = np.zeros(d, np.float32), np.zeros(d, np.float32)
    for draw in range(draws):
        lr = np.float32(max(rate * (1 - draw / draws), rate * 1e-4))
        edge = np.random.randint(len(edges))
        i = edges[edge, 0]
        table = noise[side[edge]]
        mine[:] = 0
        for sample in range(negatives + 1):
            target, label = edges[edge, 1], np.float32(1)
            if sample > 0:
                target, label = table[np.random.randint(len(table))], np.float32(0)
                if target == i or target == edges[edge, 1]:
                    continue
            pull(X[i], into[target], mine, label, lr)
            other[:] = 0
            pull(X[target], out[i], other, label, lr)
            for f in range(d):
                X[target, f] += other[f]
        for f in range(d):
            X[i, f] += mine[f]
    return X
