"""Random walks and skip-gram with negative sampling, compiled: the same seed gives the same bits."""

from __future__ import annotations

import numpy as np
from numba import njit

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.methods.shared.embedded import cached_vectors
from kedge.methods.shared.noise import RATE
from kedge.types import FloatArray, Network, Problem


def walk_both(
    problem: Problem, config: Config, context: RunContext, biased: bool = False
) -> tuple[FloatArray, FloatArray]:
    """`walk_vectors` of the left and of the right network, or as they are cached."""

    def walk(source: Source) -> FloatArray:
        return walk_vectors(source.network, config.baselines, source.seed, biased)

    return cached_vectors("biased walks" if biased else "walks", problem, config, context, walk)


def walk_vectors(network: Network, settings: BaselineConfig, seed: int, biased: bool = False) -> FloatArray:
    """Vectors [n, d] by the neighbours of accounts on random walks; an account without edges has the vector 0.

    Walks are uniform, or biased by `baselines.walk_return` and `baselines.walk_outward` (node2vec).
    """
    if network.edges == 0:
        return np.zeros((network.n, settings.dimensions), np.float32)
    A = network.adjacency
    shape = (settings.walk_length, settings.walks)
    if biased:
        walks = biased_walks(A.indptr, A.indices, *shape, settings.walk_return, settings.walk_outward, seed)
    else:
        walks = _walk(A.indptr, A.indices, *shape, seed)
    counts = np.bincount(walks[walks >= 0], minlength=network.n) * (network.degrees > 0)
    share = counts**0.75
    noise = np.random.default_rng(seed).choice(network.n, 1 << 20, p=share / share.sum()).astype(np.int32)
    X = _skip_gram(walks, noise, settings.dimensions, network.n, settings.window, settings.negatives, RATE, seed)
    X[network.degrees == 0] = 0
    return np.asarray(X)


@njit(cache=True)
def _walk(indptr, indices, length, rounds, seed):  # type: ignore[no-untyped-def]
    """`rounds` walks from every account, in a drawn order, [n rounds, length]; -1 after a dead end."""
    np.random.seed(seed)
    n = len(indptr) - 1
    walks = np.full((n * rounds, length), -1, np.int32)
    row = 0
    for _ in range(rounds):
        for start in np.random.permutation(n):
            account = start
            for step in range(length):
                walks[row, step] = account
                degree = indptr[account + 1] - indptr[account]
                if degree == 0:
                    break
                account = indices[indptr[account] + np.random.randint(degree)]
            row += 1
    np.random.shuffle(walks)
    return walks


@njit(cache=True)
def biased_walks(indptr, indices, length, rounds, p, q, seed):  # type: ignore[no-untyped-def]
    """As `_walk`, where a walk that came from t to v goes to x with a probability proportional to 1/p if x = t, 1 if x
    neighbours t, and 1/q otherwise. Rows of `indices` are sorted.

    x is drawn by rejection: the return to t has its own share of a proposal, and another neighbour of v, drawn
    uniformly, is taken with its weight's share of the larger of 1 and 1/q. No table for each edge is needed.
    """
    np.random.seed(seed)
    n = len(indptr) - 1
    most = max(1.0, 1 / q)
    walks = np.full((n * rounds, length), -1, np.int32)
    row = 0
    for _ in range(rounds):
        for start in np.random.permutation(n):
            before, account = -1, start
            for step in range(length):
                walks[row, step] = account
                first = indptr[account]
                degree = indptr[account + 1] - first
                if degree == 0:
                    break
                if before < 0:
                    before, account = account, indices[first + np.random.randint(degree)]
                    continue
                near = indices[indptr[before] : indptr[before + 1]]
                while True:
                    if np.random.random() * (1 / p + (degree - 1) * most) < 1 / p:
                        found = before
                        break
                    found = indices[first + np.random.randint(degree)]
                    while found == before:
                        found = indices[first + np.random.randint(degree)]
                    place = np.searchsorted(near, found)
                    weight = 1.0 if place < len(near) and near[place] == found else 1 / q
                    if np.random.random() * most < weight:
                        break
                before, account = account, found
            row += 1
    np.random.shuffle(walks)
    return walks


@njit(cache=True, fastmath=True)
def _skip_gram(walks, noise, d, n, window, negatives, rate, seed):  # type: ignore[no-untyped-def]
    """max Σ log σ(x_a · c_b) + Σ_k log σ(-x_a · c_k) over pairs (a, b) within a drawn window, by falling steps."""
    np.random.seed(seed)
    X = ((np.random.random((n, d)) - 0.5) / d).astype(np.float32)
    C = np.zeros((n, d), np.float32)
    step = np.zeros(d, np.float32)
    for row in range(len(walks)):
        lr = np.float32(max(rate * (1 - row / len(walks)), rate * 1e-4))
        walk = walks[row]
        for place in range(len(walk)):
            if walk[place] < 0:
                break
            reach = 1 + np.random.randint(window)
            for other in range(max(0, place - reach), min(len(walk), place + reach + 1)):
                if other == place or walk[other] < 0:
                    continue
                x = X[walk[other]]
                step[:] = 0
                for sample in range(negatives + 1):
                    if sample == 0:
                        target, label = walk[place], np.float32(1)
                    else:
                        target, label = noise[np.random.randint(len(noise))], np.float32(0)
                        if target == walk[place]:
                            continue
                    c = C[target]
                    dot = np.float32(0)
                    for i in range(d):
                        dot += x[i] * c[i]
                    slope = (label - np.float32(1) / (np.float32(1) + np.exp(-dot))) * lr
                    for i in range(d):
                        step[i] += slope * c[i]
                        c[i] += slope * x[i]
                for i in range(d):
                    x[i] += step[i]
    return X
