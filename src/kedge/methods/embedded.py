"""Phase 2 of every embedding method, in one place so that comparisons are fair: two sets of vectors become scores."""

from __future__ import annotations

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.reconcile import choose_ridge, lay_over
from kedge.types import FloatArray, Problem

__all__ = ["align_vectors"]


def align_vectors(problem: Problem, left: FloatArray, right: FloatArray, seed: int) -> VectorAlignment:
    """The right vectors [n_2, d_2] moved into the space of the left ones [n_1, d_1] by the anchors (Eq. 11), cosine.

    The ridge is chosen on anchors held back from the projection; `seed` says which.
    """
    ridge = choose_ridge(left, right, problem.anchors, np.random.default_rng(seed))
    return VectorAlignment(left, lay_over(left, right, problem.anchors, ridge))
