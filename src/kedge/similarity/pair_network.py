"""The pair network (section 2.6): do two vectors in one space belong to one person?

    z(u, v) = relu(φ(x_u, y_v) W_1 + b_1) W_2 + b_2

`concat`, the paper's:  φ = x ⊕ y.      `interaction`:  φ = |x - y| ⊕ x ∘ y ⊕ cos(x, y).

Each column of φ is brought to mean 0 and spread 1 over the training pairs. With r false pairs drawn for each true one,
z + log r is the log-likelihood ratio of "same person" against "drawn as a false pair". It is trained on anchors and
false pairs of the same accounts:

    loss = cross-entropy of σ(z) against "is an anchor", by Adam until the loss of validation pairs stops falling

The paper leaves open where the weights start. Those of `concat` start as a distance: the two halves of W_1 are equal
but for their sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kedge.config import PairingConfig
from kedge.context import one_thread
from kedge.linalg import VectorAlignment, unit_rows
from kedge.similarity.candidates import each_once
from kedge.similarity.likelihood import ValidationFold
from kedge.types import FloatArray, IntArray, Problem, Side, as_pairs

_BLOCK = 65_536  # pairs scored at once
_MOST_CELLS = 1_000_000_000  # pairs that are scored to find the likeliest of each account; 0.03 s per million
_ROWS = 64  # accounts whose pairs with all others are scored at once: they stay in the cache
_SAVED = ("form", "middle", "spread", "W_1", "b_1", "W_2", "b_2", "base", "trained")
_LEAST_SPREAD = 1e-6  # a column that is constant over the training pairs carries no information

Form = Literal["interaction", "concat"]


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

    def mirrored(self) -> PairNetwork:
        """The network of (y, x): `concat` exchanges the halves of φ, `interaction` is the same both ways."""
        if self.form != "concat":
            return self
        half = len(self.middle) // 2
        turned = (np.concatenate([part[half:], part[:half]]) for part in (self.middle, self.spread, self.W_1))
        middle, spread, W_1 = turned
        return replace(self, middle=middle, spread=spread, W_1=W_1)

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


def likeliest_pairs(problem: Problem, vectors: VectorAlignment, network: PairNetwork, k: int) -> IntArray | None:
    """The k likeliest partners of each free account among the free ones, from both sides, [m, 2], each pair once.

    Of all pairs: `concat` needs h additions for each, since φ W_1 is a sum of what each vector gives. None where there
    are too many pairs, and for `interaction`, whose φ is each pair's own.
    """
    both = (vectors.left, vectors.right)
    free = [
        np.setdiff1d(np.flatnonzero(side.any(axis=1)), problem.anchors[:, number]) for number, side in enumerate(both)
    ]
    cells = len(free[0]) * len(free[1])
    if network.form != "concat" or not 0 < cells <= _MOST_CELLS:
        return None
    half = len(network.middle) // 2
    hidden = [
        np.asarray((side[kept] - network.middle[part]) / network.spread[part] @ network.W_1[part], np.float32)
        for side, kept, part in zip(both, free, (slice(None, half), slice(half, None)), strict=True)
    ]
    hidden[0] += network.b_1
    found = []
    for near, far in ((0, 1), (1, 0)):
        wanted = min(k, len(free[far]))
        for start in range(0, len(free[near]), _ROWS):
            rows = hidden[near][start : start + _ROWS]
            best = np.argpartition(-_hidden_sums(rows, hidden[far], network.W_2), wanted - 1, axis=1)[:, :wanted]
            ends = [np.repeat(free[near][start : start + _ROWS], wanted), free[far][best.ravel()]]
            found.append(np.column_stack(ends if near == 0 else ends[::-1]))
    return each_once(np.concatenate(found))


def _hidden_sums(X: FloatArray, Y: FloatArray, w: FloatArray) -> FloatArray:
    """Σ_h w_h relu(x_h + y_h) of each row of X and of Y, [n_1, n_2]."""
    total = np.zeros((len(X), len(Y)), np.float32)
    for unit, weight in enumerate(w.astype(np.float32)):
        total += weight * np.maximum(X[:, unit, None] + Y[:, unit], 0)
    return total


def untrained(form: Form) -> PairNetwork:
    """The network that gives every pair log-odds of 0."""
    empty = np.zeros(0, np.float32)
    return PairNetwork(form, empty, empty, empty.reshape(0, 0), empty, empty, 0.0, 0.0, trained=False)


class Examples(NamedTuple):
    """Pairs whose truth is known: vectors [m, d] of both sides, and which are matched."""

    left: FloatArray
    right: FloatArray
    matched: FloatArray


def train_pair_network(folds: Iterable[ValidationFold], config: PairingConfig, seed: int) -> PairNetwork:
    """The network trained on all folds but the first, which decides when to stop."""
    rng = np.random.default_rng(seed)
    drawn = [draw_examples(fold, _rivals(fold, config.negatives), config, rng) for fold in folds]
    return fit_pair_network(Examples(*map(np.concatenate, zip(*drawn[1:], strict=True))), drawn[0], config, seed)


def _rivals(fold: ValidationFold, k: int) -> IntArray:
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


def draw_examples(
    fold: ValidationFold, candidates: IntArray, config: PairingConfig, rng: np.random.Generator
) -> Examples:
    """The fold's pairs, and for each `config.negatives` false ones: one of its two accounts with another account.

    A pair is known to be false only if one of its accounts has its partner elsewhere, so candidates without an anchored
    account are never taken for false. Where an anchor has no such candidates its false pairs are all random.
    """
    known = as_pairs(fold.pairs)
    partner = dict(zip(known[:, 0].tolist(), known[:, 1].tolist(), strict=True))
    owner = {v: u for u, v in partner.items()}
    rivals: dict[tuple[int, int], list[tuple[int, int]]] = {pair: [] for pair in partner.items()}
    for u, v in as_pairs(candidates).tolist():
        if partner.get(u, v) != v:
            rivals[u, partner[u]].append((u, v))
        elif owner.get(v, u) != u:
            rivals[owner[v], v].append((u, v))
    false: list[tuple[int, int]] = []
    for (u, v), near in rivals.items():
        hard = min(round(config.hard * config.negatives), len(near))
        false += [near[i] for i in rng.choice(len(near), hard, replace=False)] if hard else []
        for drawn in range(config.negatives - hard):
            # Half of the random ones change the right account, half the left one.
            here, there, others = (u, v, len(fold.right)) if drawn % 2 == 0 else (v, u, len(fold.left))
            if others < 2:
                continue
            other = int(rng.integers(others - 1))
            other += other >= there
            false.append((here, other) if drawn % 2 == 0 else (other, here))
    pairs = np.concatenate([known, as_pairs(false)])
    matched = np.concatenate([np.ones(len(known)), np.zeros(len(false))])
    return Examples(fold.left[pairs[:, 0]], fold.right[pairs[:, 1]], matched)


def fit_pair_network(train: Examples, validation: Examples, config: PairingConfig, seed: int) -> PairNetwork:
    """Adam on the cross-entropy of `train`; the weights are those of the step with the least loss on `validation`.

    True and false pairs have the shares in which they were drawn. The output starts at 0, so that a network that learns
    nothing gives log-odds of 0, as one does that has no true pair, or no false one, to learn from or to stop by.
    """
    true = float(train.matched.sum())
    if true < 1 or len(train.matched) - true < 1 or validation.matched.sum() < 1:
        return untrained(config.form)
    with one_thread():
        return _descend(train, validation, config, seed)


def _descend(train: Examples, validation: Examples, config: PairingConfig, seed: int) -> PairNetwork:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

    true = float(train.matched.sum())
    base = math.log((len(train.matched) - true) / true)
    phi = features(config.form, train.left, train.right)
    middle, spread = phi.mean(axis=0), phi.std(axis=0)
    spread = np.where(spread > _LEAST_SPREAD, spread, 1.0).astype(phi.dtype)
    inputs = [
        torch.as_tensor((features(config.form, part.left, part.right) - middle) / spread).float()
        for part in (train, validation)
    ]
    labels = [torch.as_tensor(part.matched).float() for part in (train, validation)]
    draw = torch.Generator().manual_seed(seed)
    width = phi.shape[1]
    W_1 = torch.randn(width, config.hidden, generator=draw) / math.sqrt(width)
    if config.form == "concat":
        # Both vectors are in one space, so units begin as ±v · (x - y), which add up to a distance. From weights of no
        # such order a few hundred anchors are learnt by heart (docs/decisions/0048).
        V = W_1[: width // 2, : -(-config.hidden // 2)] * math.sqrt(2)
        W_1 = torch.cat([torch.cat([V, -V], dim=1), torch.cat([-V, V], dim=1)])[:, : config.hidden].contiguous()
    W_1.requires_grad_()
    b_1 = torch.zeros(config.hidden, requires_grad=True)
    W_2 = torch.zeros(config.hidden, requires_grad=True)
    b_2 = torch.tensor(-base, requires_grad=True)
    groups: list[dict[str, Any]] = [{"params": [W_1, W_2]}, {"params": [b_1, b_2], "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, lr=config.learning_rate, weight_decay=config.decay)

    def logits(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ W_1 + b_1) @ W_2 + b_2

    def snapshot() -> list[Any]:
        return [weight.detach().numpy().copy() for weight in (W_1, b_1, W_2, b_2)]

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
    W_1_best, b_1_best, W_2_best, b_2_best = kept
    return PairNetwork(
        config.form, middle, spread, W_1_best, b_1_best, W_2_best, float(b_2_best), base, losses=tuple(losses)
    )
