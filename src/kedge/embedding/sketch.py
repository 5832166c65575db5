"""One cheap sketch of a whole network (linalg/sketch.py): where all its parts start, and what they are rotated onto.

Parts that start at random learn spaces of their own, and Eq. 12 has only shared accounts to undo that. A sketch is in
one space from the beginning, for every account, and contains the edges between parts too.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from kedge.config import Config
from kedge.context import Cache, CacheEntry, RunContext, digest, get_or_make
from kedge.linalg import sketch_network, unit_mean_square
from kedge.types import FloatArray, Network, Problem

_CHANCE: Final = 0.1  # length of the random vector added to each first one; unmeasured


def first_vectors(sketch: FloatArray, length: float, seed: int) -> FloatArray:
    """X^0 of the whole network: the sketch, plus a short random vector for accounts whose sketch is 0.

    Adam moves every entry by about the same amount, so long first vectors stay nearer to where they began.
    """
    drawn = np.random.default_rng([seed, 13]).standard_normal(sketch.shape, np.float32)
    return np.asarray(np.float32(length) * sketch + np.float32(_CHANCE / np.sqrt(sketch.shape[1])) * drawn)


def concatenate_sketch(sketch: FloatArray, vectors: FloatArray, weight: float) -> FloatArray:
    """[S, weight X] with both of mean squared length 1: position in the network, and in the own part, [n, 2d].

    An account whose learned vector is 0 has 0.
    """
    both = np.hstack([sketch, weight * unit_mean_square(vectors)]).astype(np.float32)
    both[~vectors.any(axis=1)] = 0.0
    return both


def sketch_both(problem: Problem, config: Config, cache: Cache) -> tuple[FloatArray, ...]:
    """A sketch [n, d] of the left and of the right network; the same settings and seed give the same from the cache."""

    def sketch(network: Network, side: int) -> FloatArray:
        key, how = _key_of_sketch(network, config, side), _sketch_settings(config, side)
        return get_or_make(cache, key, lambda: CacheEntry({"vectors": sketch_network(network, *how)})).arrays["vectors"]

    return sketch(problem.left, 0), sketch(problem.right, 1)


def recall_sketches(problem: Problem, config: Config, cache: Cache) -> tuple[FloatArray, ...] | None:
    """The sketches from the cache alone; None where it does not have both."""
    keys = [_key_of_sketch(network, config, side) for side, network in enumerate((problem.left, problem.right))]
    entries = [entry for key in keys if (entry := cache.get(key)) is not None]
    return tuple(entry.arrays["vectors"] for entry in entries) if len(entries) == len(keys) else None


def _sketch_settings(config: Config, side: int) -> tuple[int, int, int]:
    """Dimensions, smoothing and seed."""
    return config.mgcn.dimensions, config.partition.sketch_steps, 2 * config.seed + side


def _key_of_sketch(network: Network, config: Config, side: int) -> str:
    A = network.adjacency
    return digest(["sketch", *_sketch_settings(config, side)], A.indptr, A.indices)


def vectors_of(problem: Problem, config: Config, context: RunContext) -> tuple[FloatArray, ...]:
    """Vectors of both networks, from the seed of the run, not of a trial: they do not depend on anchors, so all runs
    share them in the cache."""
    if config.pairing.vectors == "sketch":
        return sketch_both(problem, config, context.cache)
    from kedge.embedding.network import embed_both  # training is loaded where something is trained

    return tuple(made.vectors for made in embed_both(problem, config, config.seed, context))
