"""The pair network (section 2.6): do two vectors in one space belong to one person?

    z(u, v) = relu(φ(x_u, y_v) W_1 + b_1) W_2 + b_2

`concat`, the paper's:  φ = x ⊕ y.      `interaction`:  φ = |x - y| ⊕ x ∘ y ⊕ cos(x, y).

Each column of φ is brought to mean 0 and spread 1 over the training pairs. With r false pairs drawn for each true one,
z + log r is the log-likelihood ratio of "same person" against "drawn as a false pair".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kedge.linalg import unit_rows
from kedge.types import FloatArray, IntArray, as_pairs

Form = Literal["interaction", "concat"]

_BLOCK = 65_536  # pairs scored at once
_SAVED = ("form", "middle", "spread", "W_1", "b_1", "W_2", "b_2", "base", "trained")


@dataclass(frozen=True)
class PairNetwork:
    """A trained pair network: plain arrays, without torch.

    `middle` and `spread` [f] scale φ; `W_1` [f, h], `b_1` [h], `W_2` [h], `b_2`; `base` is log r. `trained` is False
    where anchors were too few: then every pair has log-odds 0. `losses` are those of the training and of the
    validation pairs, one of each per step.
    """

    form: Form
    middle: FloatArray
    spread: FloatArray
    W_1: FloatArray
    b_1: FloatArray
    W_2: FloatArray
    b_2: float
    base: float
    trained: bool = True
    losses: tuple[tuple[float, float], ...] = ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that log-odds need, by name, for a file."""
        return {name: np.asarray(getattr(self, name)) for name in _SAVED}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> PairNetwork:
        """The network from its `arrays`."""
        whole: dict[str, Any] = {name: part.item() if part.ndim == 0 else part for name, part in arrays.items()}
        return cls(**whole)

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray) -> FloatArray:
        """z + base of each (row of X, row of Y) in `pairs`, [m]; a block of pairs at a time."""
        rows, columns = as_pairs(pairs).T
        if not self.trained:
            return np.zeros(len(rows), np.float32)
        result = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            phi = (features(self.form, X[rows[part]], Y[columns[part]]) - self.middle) / self.spread
            result[part] = np.maximum(phi @ self.W_1 + self.b_1, 0) @ self.W_2 + self.b_2 + self.base
        return result


def features(form: Form, x: FloatArray, y: FloatArray) -> FloatArray:
    """φ of m pairs of vectors, [m, f]."""
    if form == "concat":
        return np.concatenate([x, y], axis=1)
    cosine = np.einsum("ij,ij->i", unit_rows(x), unit_rows(y))[:, None]
    return np.concatenate([np.abs(x - y), x * y, cosine], axis=1)


def untrained(form: Form) -> PairNetwork:
    """The network that gives every pair log-odds of 0."""
    empty = np.zeros(0, np.float32)
    return PairNetwork(form, empty, empty, empty.reshape(0, 0), empty, empty, 0.0, 0.0, trained=False)
