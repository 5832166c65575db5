"""The vectors of two networks in one space: the projection by anchors (Eq. 11), in closed form instead of trained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.linalg import rank_in_rows, unit_rows
from kedge.types import FloatArray, IntArray, KedgeError, as_pairs

RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # validation anchors choose among them
_FEWEST = 10  # with fewer anchors none are split off for validation, and the ridge is 1; unmeasured


@dataclass(frozen=True)
class Projection:
    """γ(x) = x Γ + b of Eq. 11, with Γ [d_2, d_1] and b [d_1]."""

    Gamma: FloatArray
    bias: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Vectors of the second network in the first one's space."""
        return np.asarray(X @ self.Gamma + self.bias)


def project(X1: FloatArray, X2: FloatArray, anchors: IntArray, ridge: float = 1.0) -> Projection:
    """argmin_{Γ,b} Σ_(v,u) |X1[v] - γ(X2[u])|² + ridge |Γ|² (Eq. 11), in closed form.

    b is free of the ridge, so both sides are centred first. The dual form is solved where anchors are fewer than
    dimensions.
    """
    pairs = as_pairs(anchors)
    if len(pairs) == 0:
        raise KedgeError("no anchors to project by", remedy="give at least one known pair")
    if ridge <= 0:
        raise KedgeError(f"ridge = {ridge} is not above 0")
    target = X1[pairs[:, 0]].astype(np.float64)
    source = X2[pairs[:, 1]].astype(np.float64)
    middle_1, middle_2 = target.mean(axis=0), source.mean(axis=0)
    Y, X = target - middle_1, source - middle_2
    if len(pairs) < X.shape[1]:
        Gamma = X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X)), Y)
    else:
        Gamma = np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y)
    return Projection(Gamma.astype(np.float32), (middle_1 - middle_2 @ Gamma).astype(np.float32))


def project_onto(X1: FloatArray, X2: FloatArray, anchors: IntArray, ridge: float) -> FloatArray:
    """X2 in the space of X1 (Eq. 11); an account whose vector is 0 stays at 0 instead of moving to the bias."""
    moved = project(X1, X2, anchors, ridge)(X2)
    moved[~X2.any(axis=1)] = 0.0
    return moved


def choose_ridge(X1: FloatArray, X2: FloatArray, anchors: IntArray, rng: np.random.Generator) -> float:
    """The ridge of `RIDGES` whose projection best ranks the partners of a fifth of the anchors, fitted on the others.

    The mean reciprocal rank among the partners of these validation anchors, by cosine; ties take the stronger ridge.
    """
    pairs = as_pairs(anchors)
    if len(pairs) < _FEWEST:
        return 1.0
    order = rng.permutation(len(pairs))
    validation, known = pairs[order[: len(pairs) // 5]], pairs[order[len(pairs) // 5 :]]
    right = unit_rows(X1[validation[:, 0]].astype(np.float32))
    best = (-1.0, 1.0)
    for ridge in RIDGES:
        moved = unit_rows(project(X1, X2, known, ridge)(X2[validation[:, 1]]).astype(np.float32))
        scores = moved @ right.T
        best = max(best, (float((1 / rank_in_rows(scores, np.diag(scores))).mean()), ridge))
    return best[1]
