"""Known pairs in a space that they did not help to lay: what a pair of strangers would look like, if it were a match.

A projection lays its own anchors nearer to each other than it lays anybody else, so anchors that helped to lay the
spaces over each other would teach that a true pair lies nearer than it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kedge.linalg import unit_rows
from kedge.reconcile import lay_over
from kedge.types import FloatArray, IntArray

__all__ = ["FOLDS", "Unseen", "project_folds"]

FOLDS = 5
_MOST_PAIRS = 2_000  # more teach nothing new


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
