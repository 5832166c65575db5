"""Logistic regression on weighted examples, drawn to weights that are believed in before any example is seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.types import FloatArray


def fit_logistic(
    columns: FloatArray, is_true: NDArray[np.bool_], weight: FloatArray, prior: FloatArray, strength: float = 1.0
) -> FloatArray:
    """w minimising sum_i weight_i log(1 + exp(-sign_i columns_i · w)) + strength |w - prior|² / 2; columns [m, d]."""
    from scipy.optimize import minimize  # takes longer to load than all else here

    sign = np.where(is_true, 1.0, -1.0)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        z = sign * (columns @ w)
        slope = -weight * sign * 0.5 * (1 - np.tanh(z / 2))
        away = w - prior
        return float(weight @ np.logaddexp(0, -z) + strength * (away**2).sum() / 2), columns.T @ slope + strength * away

    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B").x)
