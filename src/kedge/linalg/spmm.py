"""Sparse times dense in torch, as one `embedding_bag` a direction: the shared kernel of every convolution.

`embedding_bag` sums weighted rows at several times the speed of `torch.sparse` on a CPU, and gives the same bits
at every number of threads (docs/mgcn.md has the figures). Columns do not meet in such products, so a row of them is
taken through a strip of columns at a time, which stays in the cache from the first product to the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding_bag

from kedge.types import narrow

_CACHED = 1 << 19  # numbers that stay in a core's own cache, 2 MB
_STRIP = 32  # two cache lines of each row


@dataclass(frozen=True)
class Rows:
    """One direction of a sparse matrix: CSR with int32 indices, float32 values."""

    offsets: Tensor
    indices: Tensor
    values: Tensor

    @classmethod
    def of(cls, matrix: csr_array) -> Rows:
        """The same numbers as tensors."""
        return cls(
            torch.from_numpy(narrow(matrix.indptr)),
            torch.from_numpy(narrow(matrix.indices)),
            torch.from_numpy(matrix.data.astype(np.float32)),
        )

    def scaled(self, by: float | Tensor) -> Rows:
        """The same places with values times `by`, a number or one for each entry."""
        return self if isinstance(by, float) and by == 1 else Rows(self.offsets, self.indices, self.values * by)


@dataclass(frozen=True)
class Sparse:
    """A constant sparse matrix [rows, columns] and its transpose, ready for products and their gradients."""

    forward: Rows
    backward: Rows
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: Any, symmetric: bool = False) -> Sparse:
        """From any scipy sparse matrix; a symmetric one is stored once."""
        rows = csr_array(matrix)
        rows.sort_indices()
        forward = Rows.of(rows)
        backward = forward if symmetric else Rows.of(csr_array(rows.T.tocsr()))
        return cls(forward, backward, (int(rows.shape[0]), int(rows.shape[1])))

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return int(self.forward.indices.numel())

    @property
    def transposed(self) -> Sparse:
        """The transpose, sharing the same memory."""
        return Sparse(self.backward, self.forward, (self.shape[1], self.shape[0]))


def multiply(rows: Rows, X: Tensor) -> Tensor:
    """M X for one direction of M, without a gradient; rows without entries are 0."""
    if len(rows.offsets) == 1 or rows.indices.numel() == 0:
        return X.new_zeros(len(rows.offsets) - 1, X.shape[1])
    if X.dtype != torch.float32:  # exact checks run in double, where embedding_bag's fast path does not apply
        index = torch.repeat_interleave(rows.offsets.diff().long())
        out = X.new_zeros(len(rows.offsets) - 1, X.shape[1])
        return out.index_add(0, index, rows.values.to(X.dtype)[:, None] * X[rows.indices.long()])
    return embedding_bag(
        rows.indices,
        X.contiguous(),
        rows.offsets,
        mode="sum",
        per_sample_weights=rows.values,
        include_last_offset=True,
    )


@dataclass(frozen=True)
class Propagation:
    """One step X -> R = keep X + gain M_1 ... M_k X or, with a gate g [n, 1], X -> (1 - g) X + g R."""

    factors: tuple[Sparse, ...]
    keep: float = 0.0
    gain: float = 1.0
    gate: Tensor | None = None


class _Step:
    """A propagation made ready: gain and gate stand in the matrices, so that they cost no pass over X.

    `kept` is how much of X stays beside the products: a number, or [n, 1] with a gate.
    """

    def __init__(self, step: Propagation) -> None:
        self.keep, self.gate = step.keep, step.gate
        forth, back = (
            [factor.forward for factor in reversed(step.factors)],
            [factor.backward for factor in step.factors],
        )
        ends: tuple[float | Tensor, float | Tensor] = (step.gain, step.gain)
        self.kept: float | Tensor = step.keep
        if step.gate is not None:
            g = step.gate[:, 0]
            each = torch.repeat_interleave(g, forth[-1].offsets.diff(), output_size=forth[-1].indices.numel())
            ends = step.gain * each, step.gain * g[back[0].indices]
            self.kept = 1 - step.gate * (1 - step.keep)
        self.forth = [*forth[:-1], forth[-1].scaled(ends[0])]
        self.back = [back[0].scaled(ends[1]), *back[1:]]

    def go(self, X: Tensor) -> Tensor:
        """The step itself, without a gradient."""
        return self._mix(X, self.forth)

    def take_back(self, G: Tensor) -> Tensor:
        """The gradient for X from that for the step's result."""
        return self._mix(G, self.back)

    def of_gate(self, G: Tensor, X: Tensor, result: Tensor) -> Tensor:
        """The gradient for the gate, [n, 1]: that of R - X, where g R is the result less what was kept of X."""
        assert self.gate is not None
        at_X = (G * X).sum(dim=1, keepdim=True)
        at_R = (G * result).sum(dim=1, keepdim=True) - self.kept * at_X
        return at_R / self.gate + (self.keep - 1) * at_X

    def _mix(self, X: Tensor, products: Sequence[Rows]) -> Tensor:
        Y = X
        for rows in products:
            Y = multiply(rows, Y)
        if isinstance(self.kept, Tensor):
            return Y.addcmul_(X, self.kept)
        return Y.add_(X, alpha=self.kept) if self.kept else Y


def cut_strips(X: Tensor) -> list[slice]:
    """The columns of X in strips that the cache holds where it does not hold X; else, or if none would fit, in one."""
    rows, columns = X.shape
    cut = rows * columns > _CACHED >= rows * _STRIP
    # What is left over goes with the last strip if it is narrow: a strip's cost hardly falls with its width.
    count = max(1, (columns + _STRIP // 2) // _STRIP) if cut else 1
    bounds = [*range(0, _STRIP * count, _STRIP), columns]
    return [slice(first, last) for first, last in pairwise(bounds)]


class _Propagate(torch.autograd.Function):
    """All steps, strip by strip; what a gate needs on the way back is made again there, so that only X is kept."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, steps: tuple[Propagation, ...], *gates: Tensor) -> Tensor:
        ready = [_Step(step) for step in steps]
        ctx.ready, ctx.strips = ready, _strips(steps, X)
        ctx.save_for_backward(*((X,) if gates else ()))
        out = X.new_empty(steps[-1].factors[0].shape[0], X.shape[1])
        for columns in ctx.strips:
            Y = X[:, columns].contiguous()
            for step in ready:
                Y = step.go(Y)
            if len(ctx.strips) == 1:
                return Y
            out[:, columns] = Y
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        ready: list[_Step] = ctx.ready
        G, X = gradients[0], ctx.saved_tensors
        of_gates = [None if step.gate is None else torch.zeros_like(step.gate) for step in ready]
        out = G.new_empty(len(ready[0].back[-1].offsets) - 1, G.shape[1])
        for columns in ctx.strips:
            results = [X[0][:, columns].contiguous()] if X else []
            for step in ready if X else ():
                results.append(step.go(results[-1]))
            back = G[:, columns].contiguous()
            for place in reversed(range(len(ready))):
                if (total := of_gates[place]) is not None:
                    total += ready[place].of_gate(back, results[place], results[place + 1])
                back = ready[place].take_back(back)
            out[:, columns] = back
        return (out, None, *(gradient for gradient in of_gates if gradient is not None))


def _strips(steps: Sequence[Propagation], X: Tensor) -> list[slice]:
    """For a single product, cutting costs what it saves."""
    products = sum(len(step.factors) for step in steps)
    return cut_strips(X) if products > 1 else [slice(0, X.shape[1])]


def propagate(steps: Sequence[Propagation], X: Tensor) -> Tensor:
    """X [n, d] taken through the steps one after another, with its gradient for X and for the gates."""
    if not steps:
        return X
    gates = (step.gate for step in steps if step.gate is not None)
    return cast(Tensor, _Propagate.apply(X, tuple(steps), *gates))  # type: ignore[no-untyped-call]


def spmm(matrix: Sparse, X: Tensor) -> Tensor:
    """M X for a constant sparse M [rows, columns] and a dense X [columns, d], with its gradient for X."""
    return propagate((Propagation((matrix,)),), X)
