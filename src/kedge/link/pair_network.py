"""The pair network (section 2.6): do two vectors in one space belong to one person?

    z(u, v) = relu(φ(x_u, y_v) W_1 + b_1) W_2 + b_2,      loss = cross-entropy of σ(z) against "is an anchor"

`concat`, the paper's:  φ = x ⊕ y.      `interaction`:  φ = |x - y| ⊕ x ∘ y ⊕ cos(x, y) [⊕ evidence(u, v)].

Each column of φ is brought to mean 0 and spread 1 over the training pairs. With r false pairs drawn for each true one,
z + log r is the log-likelihood ratio of "same person" against "drawn as a false pair": what evidence wants as a prior.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kedge.config import PairingConfig
from kedge.linalg import unit_rows
from kedge.link.pair_examples import Examples
from kedge.threads import one_thread
from kedge.types import FloatArray, IntArray, as_pairs

__all__ = ["PairNetwork", "features", "fit_pair_network"]

Form = Literal["interaction", "concat"]

_BLOCK = 65_536  # pairs scored at once
_KEPT = ("form", "middle", "spread", "W_1", "b_1", "W_2", "b_2", "base", "trained")
_LEAST_SPREAD = 1e-6  # a column that is constant over the training pairs says nothing


@dataclass(frozen=True)
class PairNetwork:
    """A trained pair network: plain arrays, without torch.

    `middle` and `spread` [f] scale φ; `W_1` [f, h], `b_1` [h], `W_2` [h], `b_2`; `base` is log r. `trained` is False
    where anchors were too few: then every pair has log-odds 0. `losses` are those of training and of the anchors left
    out, one a step.
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
        """All that log-odds need, by name, to be kept in a file."""
        return {name: np.asarray(getattr(self, name)) for name in _KEPT}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> PairNetwork:
        """The network from its `arrays`."""
        whole: dict[str, Any] = {name: part.item() if part.ndim == 0 else part for name, part in arrays.items()}
        return cls(**whole)

    def log_odds(self, X: FloatArray, Y: FloatArray, pairs: IntArray, evidence: FloatArray | None = None) -> FloatArray:
        """z + base of each (row of X, row of Y) in `pairs`, [m]; a block of pairs at a time."""
        rows, columns = as_pairs(pairs).T
        if not self.trained:
            return np.zeros(len(rows), np.float32)
        result = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            heard = None if evidence is None else evidence[part]
            phi = (features(self.form, X[rows[part]], Y[columns[part]], heard) - self.middle) / self.spread
            result[part] = np.maximum(phi @ self.W_1 + self.b_1, 0) @ self.W_2 + self.b_2 + self.base
        return result


def features(form: Form, x: FloatArray, y: FloatArray, evidence: FloatArray | None = None) -> FloatArray:
    """φ of m pairs of vectors, [m, f]."""
    if form == "concat":
        return np.concatenate([x, y], axis=1)
    cosine = np.einsum("ij,ij->i", unit_rows(x), unit_rows(y))[:, None]
    columns = [np.abs(x - y), x * y, cosine]
    return np.concatenate(columns if evidence is None else [*columns, evidence[:, None].astype(x.dtype)], axis=1)


def fit_pair_network(train: Examples, held: Examples, config: PairingConfig, seed: int) -> PairNetwork:
    """Adam on the cross-entropy of `train` until that of `held` stops falling; the best step's weights are kept.

    True and false pairs have the shares in which they were drawn. The output starts at 0, so that a network that learns
    nothing says nothing; nor does one that has no true pair, or no false one, to learn from or to stop by.
    """
    true = float(train.matched.sum())
    false = len(train.matched) - true
    if true < 1 or false < 1 or held.matched.sum() < 1:
        return _silent(config.form)
    with one_thread():
        return _descend(train, held, config, seed)


def _descend(train: Examples, held: Examples, config: PairingConfig, seed: int) -> PairNetwork:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

    true = float(train.matched.sum())
    false = len(train.matched) - true
    phi = features(config.form, train.left, train.right, train.evidence)
    middle, spread = phi.mean(axis=0), phi.std(axis=0)
    spread = np.where(spread > _LEAST_SPREAD, spread, 1.0).astype(phi.dtype)
    inputs = [
        torch.as_tensor((features(config.form, part.left, part.right, part.evidence) - middle) / spread).float()
        for part in (train, held)
    ]
    labels = [torch.as_tensor(part.matched).float() for part in (train, held)]
    base = math.log(false / true)
    draw = torch.Generator().manual_seed(seed)
    width = phi.shape[1]
    W_1 = (torch.randn(width, config.hidden, generator=draw) / math.sqrt(width)).requires_grad_()
    b_1 = torch.zeros(config.hidden, requires_grad=True)
    W_2 = torch.zeros(config.hidden, requires_grad=True)
    b_2 = torch.tensor(-base, requires_grad=True)
    weights = [W_1, b_1, W_2, b_2]
    groups: list[dict[str, Any]] = [{"params": [W_1, W_2]}, {"params": [b_1, b_2], "weight_decay": 0.0}]
    adam = torch.optim.AdamW(
        groups,
        lr=config.learning_rate,
        weight_decay=config.decay,
    )

    def logits(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ W_1 + b_1) @ W_2 + b_2

    def snapshot() -> list[Any]:
        return [weight.detach().numpy().copy() for weight in weights]

    losses: list[tuple[float, float]] = []
    with torch.no_grad():
        best, best_step, kept = float(cross_entropy(logits(inputs[1]), labels[1])), 0, snapshot()
    for step in range(1, config.steps + 1):
        adam.zero_grad()
        loss = cross_entropy(logits(inputs[0]), labels[0])
        loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
        adam.step()
        with torch.no_grad():
            losses.append((float(loss), float(cross_entropy(logits(inputs[1]), labels[1]))))
        if losses[-1][1] < best:
            best, best_step, kept = losses[-1][1], step, snapshot()
        elif step - best_step >= config.patience:
            break
    return PairNetwork(
        config.form, middle, spread, kept[0], kept[1], kept[2], float(kept[3]), base, True, tuple(losses)
    )


def _silent(form: Form) -> PairNetwork:
    """The network that says nothing of any pair."""
    empty = np.zeros(0, np.float32)
    return PairNetwork(form, empty, empty, empty.reshape(0, 0), empty, empty, 0.0, 0.0, trained=False)
