"""MGCN (KDD'20) as a method: both networks embedded, the second projected by the anchors, cosine of the vectors."""

from __future__ import annotations

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.embedding import embed_network
from kedge.methods.embedded import align_vectors
from kedge.types import Problem

__all__ = ["align"]


def align(problem: Problem, config: Config, seed: int) -> VectorAlignment:
    """Embeddings by Eq. 1-10 (and 12 where cut into parts); the right one moved into the left one's space (Eq. 11).

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    left, right = (
        embed_network(network, config, seeds[side], problem.anchors[:, side], f"the {name} network").vectors
        for side, (network, name) in enumerate(((problem.left, "left"), (problem.right, "right")))
    )
    return align_vectors(problem, left, right, seeds[2])
