"""LINE (Tang, Qu, Wang, Zhang, Yan, Mei; WWW 2015): first- and second-order proximity, then the shared phase 2.

Edges i -> j are drawn by their weight, noise accounts k by P(k) ∝ d_k^0.75 (d: sum of weights), and ascended is

    first order    log σ(u_i · u_j) + Σ_k log σ(-u_i · u_k)
    second order   log σ(x_i · c_j) + Σ_k log σ(-x_i · c_k)    c: the vectors of accounts as contexts

each by itself. An account's vector is both, each of length 1, next to each other: 2 d numbers.

Deviations: undirected networks, so each edge goes both ways; `baselines.passes` draws of each edge, where the authors
draw ten billion; a noise account that is an end of the edge is skipped; no second-degree neighbours are added to
accounts of few edges, as the authors do on one of their networks. Cost: 2 · passes · |E| · negatives · d; no n × n
matrix.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, row_index, unit_rows
from kedge.methods.shared.embedded import align_embedded
from kedge.methods.shared.noise import RATE, noise_table, pull
from kedge.types import FloatArray, Network, Problem


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks by themselves, the right one projected into the left one's space (Eq. 11)."""

    def embed(source: Source) -> FloatArray:
        return line_vectors(source.network, config.baselines, source.seed)

    return align_embedded("line", problem, config, context, embed)


def line_vectors(network: Network, settings: BaselineConfig, seed: int) -> FloatArray:
    """The vectors of both orders, float32 [n, 2 d]; 0 for an account without edges."""
    n, d = network.n, settings.dimensions
    if network.edges == 0:
        return np.zeros((n, 2 * d), np.float32)
    A = network.adjacency
    rng = np.random.default_rng(seed)
    ends = np.column_stack([row_index(A), A.indices]).astype(np.int64)
    shares = np.cumsum(A.data, dtype=np.float64)
    noise = noise_table(np.asarray(A.sum(axis=1, dtype=np.float64)).ravel(), rng)
    halves = []
    for order in (1, 2):
        X = ((rng.random((n, d)) - 0.5) / d).astype(np.float32)
        C = X if order == 1 else np.zeros((n, d), np.float32)
        draws = settings.passes * len(ends)
        ascend(X, C, ends, shares / shares[-1], noise, draws, settings.negatives, RATE, int(rng.integers(2**32)))
        X[network.degrees == 0] = 0
        halves.append(unit_rows(X))
    return np.concatenate(halves, axis=1)


@njit(cache=True, fastmath=True)
def ascend(X, C, ends, shares, noise, draws, negatives, rate, seed):  # type: ignore[no-untyped-def]
    """`draws` steps up log σ(x_i · c_j) + Σ_k log σ(-x_i · c_k), in place; C is X itself for the first order.

    `shares` [edges] are the cumulated shares of the edges in all weights.
    """
    np.random.seed(seed)
    step = np.zeros(X.shape[1], np.float32)
    for draw in range(draws):
        lr = np.float32(max(rate * (1 - draw / draws), rate * 1e-4))
        edge = min(np.searchsorted(shares, np.random.random(), side="right"), len(ends) - 1)
        i, j = ends[edge]
        step[:] = 0
        for sample in range(negatives + 1):
            target, label = j, np.float32(1)
            if sample > 0:
                target, label = noise[np.random.randint(len(noise))], np.float32(0)
                if target in (i, j):
                    continue
            pull(X[i], C[target], step, label, lr)
        for f in range(len(step)):
            X[i, f] += step[f]
