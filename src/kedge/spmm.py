"""Sparse times dense in torch, as one `embedding_bag` a direction: the shared kernel of every convolution.

`embedding_bag` sums weighted rows at several times the speed of `torch.sparse` on a CPU, and gives the same bits
at every number of threads (docs/mgcn.md has the figures). Columns do not meet in such products, so a row of them is
taken through a strip of columns at a time, which stays in the cache from the first product to the last.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding_bag

__all__ = ["Propagation", "Rows", "Sparse", "cut_strips", "hold_memory", "multiply", "propagate", "spmm"]

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
            torch.from_numpy(matrix.indptr.astype(np.int32)),
            torch.from_numpy(matrix.indices.astype(np.int32)),
            torch.from_numpy(matrix.data.astype(np.float32)),
        )


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

    def find(self, X: Tensor) -> Tensor:
        """R, without a gradient."""
        return self._mix(X, [factor.forward for factor in reversed(self.factors)])

    def hand_on(self, X: Tensor, found: Tensor) -> Tensor:
        """What goes on of X and R."""
        return found if self.gate is None else torch.lerp(X, found, self.gate)

    def take_back(self, G: Tensor) -> Tensor:
        """The gradient for X from that for the step's result."""
        opened = G if self.gate is None else G * self.gate
        back = self._mix(opened, [factor.backward for factor in self.factors])
        return back if self.gate is None else back.add_(G).sub_(opened)

    def _mix(self, X: Tensor, products: Sequence[Rows]) -> Tensor:
        Y = X
        for rows in products:
            Y = multiply(rows, Y)
        if self.gain != 1:
            Y = Y.mul_(self.gain)
        return Y.add_(X, alpha=self.keep) if self.keep else Y


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
        ctx.steps = steps
        ctx.save_for_backward(*((X,) if gates else ()))
        strips = _strips(steps, X)
        out = X.new_empty(steps[-1].factors[0].shape[0], X.shape[1]) if len(strips) > 1 else X
        for columns in strips:
            Y = X[:, columns].contiguous()
            for step in steps:
                Y = step.hand_on(Y, step.find(Y))
            if len(strips) == 1:
                return Y
            out[:, columns] = Y
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        steps: tuple[Propagation, ...] = ctx.steps
        G, kept = gradients[0], ctx.saved_tensors
        of_gates = [torch.zeros_like(step.gate) for step in steps if step.gate is not None]
        columns_at_once = _strips(steps, G)
        out = G.new_empty(steps[0].factors[-1].shape[1], G.shape[1])
        for columns in columns_at_once:
            moved: list[Tensor] = []  # R - X of each gated step
            if kept:
                Y = kept[0][:, columns].contiguous()
                for step in steps:
                    found = step.find(Y)
                    handed = step.hand_on(Y, found)
                    if step.gate is not None:
                        moved.append(found.sub_(Y))
                    Y = handed
            back, place = G[:, columns].contiguous(), len(moved)
            for step in reversed(steps):
                if step.gate is not None:
                    place -= 1
                    of_gates[place] += (back * moved[place]).sum(dim=1, keepdim=True)
                back = step.take_back(back)
            out[:, columns] = back
        return (out, None, *of_gates)


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


def hold_memory() -> bool:
    """Ask glibc to keep big blocks instead of returning them to the system after each use.

    A training step allocates the same big tensors again and again; without this, each one is faulted in anew,
    several times the cost of the arithmetic. False where there is no glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    trim_threshold, top_pad, mmap_max = -1, -2, -4
    return bool(mallopt(mmap_max, 0) and mallopt(trim_threshold, -1) and mallopt(top_pad, 64 << 20))
