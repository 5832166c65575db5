"""Methods that embed each network by itself: vectors that are trained once, then the shared phase 2.

No anchor enters such vectors, so all runs of a method on the same networks share them: calibration with fewer anchors,
and the next match after a review. Methods that differ from MGCN only in what convolves are trained by the objective of
Eq. 10. Methods that learn in one space merge the two networks first: the two accounts of an anchor become one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import CacheEntry, RunContext, digest, get_or_make, spawn_seeds
from kedge.embedding.network import sources, train_for_matching
from kedge.embedding.part import hyperedges
from kedge.embedding.plan import Source, uses_anchors
from kedge.hypergraph import build_hypergraph
from kedge.linalg import VectorAlignment
from kedge.similarity import align_vectors
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network, Problem

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


def align_on_hyperedges(
    name: str, problem: Problem, config: Config, context: RunContext, embed: Callable[[Source, Hypergraph], FloatArray]
) -> VectorAlignment:
    """`align_embedded` with hyperedges for each network: the user's own, or those of `config.hypergraph`."""

    def convolve(source: Source) -> FloatArray:
        drawn = source.hypergraph
        if drawn is None:
            settings, known = config.hypergraph, source.shared_values
            drawn = build_hypergraph(source.network, settings, source.seed, source.anchors, known)
        return embed(source, drawn)

    anchors = [problem.anchors] if uses_anchors(config) else []
    own = [part for given in (*problem.hypergraphs, *problem.shared_values) for part in hyperedges(given)]
    return align_embedded(name, problem, config, context, convolve, *anchors, *own)


def edge_vectors(
    method: str, source: Source, hypergraph: Hypergraph, config: Config, changes: dict[str, Any]
) -> FloatArray:
    """Vectors [n, d] of one network trained by the settings of `config.mgcn`, but for `changes`.

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    from kedge.mgcn import embed

    settings = {**train_for_matching(config).mgcn.model_dump(), "dimensions": config.baselines.dimensions, **changes}
    changed = config.model_copy(update={"mgcn": type(config.mgcn).model_validate(settings)})
    fit = embed(source.network, changed, source.seed, hypergraph=hypergraph)
    if fit.verdict == "collapsed":
        raise KedgeError(
            f"{method}'s embedding of {source.name} collapsed (loss {fit.losses[-1]:.3f}, trivial {fit.trivial:.3f})",
            remedy="use the default preset's mgcn.weighing and mgcn.unit",
        )
    fit.vectors[source.network.degrees == 0] = 0  # no edge has trained it
    return fit.vectors


def one_hyperedge(network: Network) -> Hypergraph:
    """One hyperedge with all accounts."""
    return Hypergraph(csr_array(np.ones((network.n, 1), np.float32)))


@dataclass(frozen=True)
class Merged:
    """The place of each left and right account among `n` merged ones; the partners of an anchor have the same."""

    n: int
    left: IntArray
    right: IntArray


def merge(problem: Problem) -> Merged:
    """Left accounts keep their numbers, anchored right ones take their partner's, the others follow."""
    right = np.full(problem.right.n, -1, np.int64)
    right[problem.anchors[:, 1]] = problem.anchors[:, 0]
    free = np.flatnonzero(right < 0)
    right[free] = problem.left.n + np.arange(len(free))
    return Merged(problem.left.n + len(free), np.arange(problem.left.n), right)
