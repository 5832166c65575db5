"""MGCN (KDD'20) as a method: both networks embedded, then what all methods with vectors share (similarity/align.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kedge.config import Config
from kedge.context import Cache, RunContext, spawn_seeds
from kedge.embedding.network import NetworkVectors, embed_both, recall_both
from kedge.linalg import VectorAlignment
from kedge.similarity import align_vectors, project_by
from kedge.types import Problem


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
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


def trains(_config: Config) -> bool:
    """Always."""
    return True
