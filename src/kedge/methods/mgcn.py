"""MGCN (KDD'20) as a method, in one of two spaces (`mgcn.space`).

`shared`: both networks at once, in coordinates of the known pairs (embedding/coordinates.py), in rounds. Each round
places all accounts, scores the nearest ones (similarity/local_scaling.py), and finds the pairs that are each other's
best; the coordinates of the next round are the anchors and these. Nothing is trained.

`projected`, the paper's: both networks are embedded alone by Eq. 1-10 and projected by the anchors (Eq. 11), as with
all methods that train vectors (similarity/align.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kedge.config import Config
from kedge.context import Cache, RunContext, spawn_seeds
from kedge.embedding.coordinates import compress, locate, prepare_levels
from kedge.embedding.network import NetworkVectors, embed_both, recall_both
from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.methods.shared.pairs import anchors_above
from kedge.similarity import align_vectors, mutual_best, project_by, scale_locally
from kedge.types import Alignment, KedgeError, Problem


def align(problem: Problem, config: Config, context: RunContext) -> Alignment:
    """Scores of the nearest accounts in the space that the settings ask for."""
    return (align_shared_space if config.mgcn.space == "shared" else align_projected)(problem, config, context)


def align_shared_space(problem: Problem, config: Config, context: RunContext) -> SparseAlignment:
    """`shared.rounds` rounds; the scores are those of the last, and anchors are above them."""
    anchors, settings = problem.anchors, config.shared
    if len(anchors) == 0:
        raise KedgeError("mgcn has no anchors to place accounts by", remedy="give at least one known pair")
    levels = prepare_levels(problem, config, context.cache)
    free = (np.ones(problem.left.n, bool), np.ones(problem.right.n, bool))
    for side, mask in enumerate(free):
        mask[anchors[:, side]] = False
    known = anchors
    for done in range(settings.rounds):
        sides = [locate(levels[side], known[:, side], settings) for side in (0, 1)]
        scores = scale_locally(sides[0], sides[1], free, config.baselines.keep, settings.neighbours)
        context.progress.advance(done + 1, settings.rounds, f"rounds; {len(known):,} pairs are coordinates")
        best = mutual_best(scores)
        known = np.concatenate([anchors, best[~problem.is_rejected(best)]])
    seed = spawn_seeds(config.seed)[2]
    left, right = (compress(side, config.mgcn.dimensions, seed) for side in sides)
    return replace(anchors_above(problem, scores), vectors=VectorAlignment(left, right))


def align_projected(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Embeddings by Eq. 1-10 (and 12 where cut into parts); the right one projected into the left one's space (Eq. 11).

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    left, right = (made.vectors for made in embed_both(problem, config, config.seed, context))
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])


def prepare(problem: Problem, config: Config, context: RunContext) -> dict[str, Any]:
    """Train both networks' vectors into the cache; curves of their training and facts on their parts."""
    made_both = dict(zip(problem.sides, embed_both(problem, config, config.seed, context), strict=True))
    sides: dict[str, NetworkVectors] = {name: made_both[name] for name in ("left", "right")}
    curves: dict[str, list[float]] = {name: made.curve for name, made in sides.items()}
    longest = max(len(curve) for curve in curves.values())
    curves["trivial"] = [sides["left"].trivial] * longest
    return {
        "training": {
            "curves": {"loss": curves},
            "steps": {name: list(made.steps) for name, made in sides.items()},
            "auc": {name: list(made.auc) for name, made in sides.items()},
            "levels": {name: made.level_shares for name, made in sides.items()},
        },
        "parts": {
            **{name: np.bincount(made.parts.part).tolist() for name, made in sides.items()},
            "shared": {name: len(made.parts.shared) for name, made in sides.items()},
            "residuals": {name: np.round(made.residuals, 6).tolist() for name, made in sides.items()},
            "notes": [note for made in sides.values() for note in made.notes],
        },
    }


def recall_vectors(problem: Problem, config: Config, cache: Cache) -> VectorAlignment | None:
    """The cosines behind `align`, from vectors that are cached already; None where they are not."""
    found = recall_both(problem, config, config.seed, cache)
    if found is None or len(problem.anchors) == 0:
        return None
    left, right = (made.vectors for made in found)
    return project_by(left, right, problem.anchors, spawn_seeds(config.seed)[2])[0]


def trains(config: Config) -> bool:
    """In the paper's space: the shared one needs no training."""
    return config.mgcn.space == "projected"
