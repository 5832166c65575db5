"""DeepWalk (KDD'14) as a yardstick: uniform random walks, then skip-gram with negative sampling, one thread."""

from __future__ import annotations

import numba
import numpy as np

from kedge.types import FloatArray, Network


@numba.njit(cache=True)
def _walk(indptr, indices, length, rounds, seed):
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


@numba.njit(cache=True, fastmath=True)
def _skip_gram(walks, noise, d, n, window, negatives, rate, seed):
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


def embed(
    network: Network, d: int, seed: int, rounds: int = 10, length: int = 80, window: int = 10, negatives: int = 5
) -> FloatArray:
    """Vectors [n, d] with the settings of the DeepWalk paper's successors (10 walks of 80, window 10, rate 0.025)."""
    A = network.adjacency
    walks = _walk(A.indptr, A.indices, length, rounds, seed)
    counts = np.bincount(walks[walks >= 0], minlength=network.n) ** 0.75
    noise = np.random.default_rng(seed).choice(network.n, 1 << 20, p=counts / counts.sum()).astype(np.int32)
    vectors: FloatArray = _skip_gram(walks, noise, d, network.n, window, negatives, 0.025, seed)
    return vectors
