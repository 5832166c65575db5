"""Known pairs in a shared space that they were not used to align: the similarity of a true pair that is not known.

A projection brings its own anchors nearer to each other than any other pair, so a model fitted on them would expect
true pairs to be nearer than they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kedge.linalg import unit_rows
from kedge.reconcile import project_onto
from kedge.types import FloatArray, IntArray

FOLDS = 5
_MOST_PAIRS = 2_000  # more do not change what is learnt


@dataclass(frozen=True)
class ValidationFold:
    """Vectors of length 1 in one space, [n_1, d] and [n_2, d], and known pairs that were not used to align them."""

    left: FloatArray
    right: FloatArray
    pairs: IntArray


def project_folds(
    left: FloatArray, right: FloatArray, known: IntArray, ridge: float, rng: np.random.Generator
) -> Iterator[ValidationFold]:
    """Each fold of the known pairs in the space that the other folds align (Eq. 11), one after the other."""
    X = unit_rows(left)
    for fold in np.array_split(rng.permutation(len(known)), FOLDS):
        Y = unit_rows(project_onto(left, right, np.delete(known, fold, axis=0), ridge))
        yield ValidationFold(X, Y, known[fold[: _MOST_PAIRS // FOLDS]])
