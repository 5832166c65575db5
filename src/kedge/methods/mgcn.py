"""MGCN (KDD'20) as a method: both networks embedded, then what all methods with vectors share (embedded.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.embedding import NetworkVectors, Source, embed_networks, recall_networks
from kedge.methods.all_steps import train_for_matching
from kedge.methods.embedded import align_vectors, lay_vectors
from kedge.types import FloatArray, Problem
from kedge.workshop import Shelf, Workshop

__all__ = ["align", "embed_both", "prepare", "recall_alignment"]


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Embeddings by Eq. 1-10 (and 12 where cut into parts); the right one moved into the left one's space (Eq. 11).

    A collapsed fit is refused: its equal scores would rank nothing.
    """
    left, right = (made.vectors for made in embed_both(problem, config, seed, workshop))
    return align_vectors(problem, left, right, config.pairing, _seeds(seed)[2])


def prepare(problem: Problem, config: Config, seed: int, workshop: Workshop) -> dict[str, Any]:
    """Both networks' vectors onto the shelf; curves of their training and facts on their parts."""
    sides = dict(zip(("left", "right"), embed_both(problem, config, seed, workshop), strict=True))
    curves: dict[str, list[float]] = {name: _mean_curve(made) for name, made in sides.items()}
    longest = max(len(curve) for curve in curves.values())
    curves["saying nothing"] = [sides["left"].trivial] * longest
    return {
        "training": {
            "curves": {"loss": curves},
            "steps": {name: list(made.steps) for name, made in sides.items()},
            "auc": {name: list(made.auc) for name, made in sides.items()},
        },
        "parts": {
            **{name: np.bincount(made.parts.part).tolist() for name, made in sides.items()},
            "shared": {name: len(made.parts.shared) for name, made in sides.items()},
            "residuals": {name: np.round(made.residuals, 6).tolist() for name, made in sides.items()},
            "notes": [note for made in sides.values() for note in made.notes],
        },
    }


def embed_both(problem: Problem, config: Config, seed: int, workshop: Workshop | None) -> tuple[NetworkVectors, ...]:
    """Vectors of the left and of the right network; the same seed and settings give the same from the shelf."""
    return embed_networks(_sources(problem, seed), train_for_matching(config), workshop)


def recall_alignment(problem: Problem, config: Config, seed: int, shelf: Shelf) -> VectorAlignment | None:
    """The cosines behind `align`, from vectors that lie on the shelf already; None where they do not."""
    found = recall_networks(_sources(problem, seed), train_for_matching(config), shelf)
    if found is None or len(problem.anchors) == 0:
        return None
    left, right = (made.vectors for made in found)
    return lay_vectors(problem, left, right, _seeds(seed)[2])


def _sources(problem: Problem, seed: int) -> list[Source]:
    named = ((problem.left, "the left network"), (problem.right, "the right network"))
    return [
        Source(network, problem.anchors[:, side], _seeds(seed)[side], name, problem.hypergraphs[side])
        for side, (network, name) in enumerate(named)
    ]


def _seeds(seed: int) -> list[int]:
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]


def _mean_curve(made: NetworkVectors) -> list[float]:
    """The loss of each step over all parts by their accounts; a part that stopped keeps its last."""
    length = max(len(curve) for curve in made.losses)
    weights = np.bincount(made.parts.part, minlength=len(made.losses)).astype(float)
    trained = [(w, curve) for w, curve in zip(weights, made.losses, strict=True) if len(curve)]
    if not trained:
        return []
    padded: list[FloatArray] = [np.pad(curve, (0, length - len(curve)), "edge") for _, curve in trained]
    mean = np.average(padded, axis=0, weights=np.maximum([w for w, _ in trained], 1e-9))
    return [round(float(value), 6) for value in mean]
