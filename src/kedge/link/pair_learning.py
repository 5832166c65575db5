"""Teach the pair network from pairs that its vectors have not seen.

A projection lays its own anchors nearer to each other than it lays anybody else, so anchors that helped to lay the
spaces over each other would teach that a true pair lies nearer than it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import PairingConfig
from kedge.linalg import unit_rows
from kedge.link.pair_examples import Examples, draw_examples
from kedge.link.pair_network import PairNetwork, fit_pair_network
from kedge.reconcile import lay_over
from kedge.types import FloatArray, IntArray, Side

__all__ = ["FOLDS", "Unseen", "learn", "project_folds"]

FOLDS = 5
_MOST_PAIRS = 2_000  # more do not teach the pair network anything new


@dataclass(frozen=True)
class Unseen:
    """Vectors of length 1 in one space, [n_1, d] and [n_2, d], and known pairs that did not help to lay them there."""

    left: FloatArray
    right: FloatArray
    pairs: IntArray


def project_folds(
    left: FloatArray, right: FloatArray, known: IntArray, ridge: float, rng: np.random.Generator
) -> Iterator[Unseen]:
    """Each fold of the known pairs in a space that the others lay (Eq. 11), one after the other."""
    X = unit_rows(left)
    for fold in np.array_split(rng.permutation(len(known)), FOLDS):
        Y = unit_rows(lay_over(left, right, np.delete(known, fold, axis=0), ridge))
        yield Unseen(X, Y, known[fold[: _MOST_PAIRS // FOLDS]])


def learn(folds: Iterable[Unseen], config: PairingConfig, rng: np.random.Generator, seed: int) -> PairNetwork:
    """The pair network of all folds but the first, which tells when to stop."""
    drawn = []
    for fold in folds:
        rivals = _rivals(fold, config.negatives)
        drawn.append(draw_examples(fold.left, fold.right, fold.pairs, config, rng, rivals))
    return fit_pair_network(_together(drawn[1:]), drawn[0], config, seed)


def _rivals(fold: Unseen, k: int) -> IntArray:
    """The k nearest of each account in the fold's pairs on the other side, [m, 2]."""
    alignment = VectorAlignment(fold.left, fold.right)
    found = []
    sides: tuple[Side, Side] = ("left", "right")
    for side, name in enumerate(sides):
        best, _ = alignment.top(fold.pairs[:, side], k, name)
        row, place = np.nonzero(best >= 0)
        mine, other = fold.pairs[row, side], best[row, place]
        found.append(np.column_stack([mine, other] if side == 0 else [other, mine]))
    return np.concatenate(found)


def _together(parts: list[Examples]) -> Examples:
    return Examples(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.matched for part in parts]),
    )
