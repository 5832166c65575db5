"""Methods that embed each network by itself: vectors that are trained once, then the shared phase 2.

No anchor enters such vectors, so all runs of a method on the same networks share them: calibration with fewer anchors,
and the next match after a review.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import NDArray

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.context import CacheEntry, RunContext, digest, get_or_make, spawn_seeds
from kedge.embedding.both import sources
from kedge.embedding.plan import Source
from kedge.similarity import align_vectors
from kedge.types import FloatArray, Problem

Embed: TypeAlias = Callable[[Source], FloatArray]  # the vectors [n, d] of one network


def align_embedded(
    name: str, problem: Problem, config: Config, context: RunContext, embed: Embed, *inputs: NDArray[Any]
) -> VectorAlignment:
    """Both networks embedded by themselves, the right one projected into the left one's space (Eq. 11)."""
    left, right = cached_vectors(name, problem, config, context, embed, *inputs)
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])


def cached_vectors(
    name: str, problem: Problem, config: Config, context: RunContext, embed: Embed, *inputs: NDArray[Any]
) -> tuple[FloatArray, FloatArray]:
    """The left and the right vectors as `embed` makes them, or from the cache.

    They may depend on the networks, the settings, the seeds of both networks, and on the further `inputs`.
    """
    both = sources(problem, config.seed)
    stages = (config.mgcn, config.hypergraph, config.baselines)
    settings = [name, *(stage.model_dump(mode="json") for stage in stages), *(source.seed for source in both)]
    adjacencies = [source.network.adjacency for source in both]
    edges = [part for A in adjacencies for part in (A.indptr, A.indices, A.data)]
    made = get_or_make(
        context.cache,
        digest(settings, *edges, *inputs),
        lambda: CacheEntry(dict(zip(("left", "right"), map(embed, both), strict=True))),
    )
    return made.arrays["left"], made.arrays["right"]
