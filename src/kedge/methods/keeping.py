"""Vectors of the two networks that no anchor enters: trained once, for all runs of a method on the same networks.

Calibration runs a method again with fewer anchors, and so does the next match after a review.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from kedge.config import Config
from kedge.embedding.part import digest
from kedge.types import FloatArray, Problem
from kedge.workshop import Piece, Workshop, get_or_make

__all__ = ["keep_vectors"]


def keep_vectors(
    name: str,
    problem: Problem,
    config: Config,
    seeds: list[int],
    workshop: Workshop | None,
    make: Callable[[], tuple[FloatArray, FloatArray]],
    *looked_at: NDArray[Any],
) -> tuple[FloatArray, FloatArray]:
    """The left and the right vectors as `make` makes them, or as they lie in the workshop.

    They may depend on the networks, the settings, the first two seeds, and on what is `looked_at`.
    """
    if workshop is None:
        return make()
    stages = (config.mgcn, config.hypergraph, config.baselines)
    settings = [name, *(stage.model_dump(mode="json") for stage in stages), *seeds[:2]]
    edges = [
        part
        for n in (problem.left, problem.right)
        for part in (n.adjacency.indptr, n.adjacency.indices, n.adjacency.data)
    ]
    key = digest(settings, *edges, *looked_at)
    held = get_or_make(workshop.shelf, key, lambda: Piece(dict(zip(("left", "right"), make(), strict=True))))
    return held.arrays["left"], held.arrays["right"]
