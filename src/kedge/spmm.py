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
    """One linear step X -> keep X + gain M_1 ... M_k X."""

    factors: tuple[Sparse, ...]
    keep: float = 0.0
    gain: float = 1.0

    @property
    def transposed(self) -> Propagation:
        """The step that takes a gradient back."""
        return Propagation(tuple(factor.transposed for factor in reversed(self.factors)), self.keep, self.gain)

    def apply(self, X: Tensor) -> Tensor:
        """The step itself, without a gradient."""
        Y = X
        for factor in reversed(self.factors):
            Y = multiply(factor.forward, Y)
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


def _run(steps: Sequence[Propagation], X: Tensor) -> Tensor:
    """All steps, strip by strip."""
    products = sum(len(step.factors) for step in steps)
    strips = cut_strips(X) if products > 1 else []  # for a single product, cutting costs what it saves
    if len(strips) < 2:
        return _run_strip(steps, X)
    out = X.new_empty(steps[-1].factors[0].shape[0], X.shape[1])
    for columns in strips:
        out[:, columns] = _run_strip(steps, X[:, columns].contiguous())
    return out


def _run_strip(steps: Sequence[Propagation], X: Tensor) -> Tensor:
    for step in steps:
        X = step.apply(X)
    return X


class _Propagate(torch.autograd.Function):
    """Linear, so nothing is kept for the way back."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, steps: tuple[Propagation, ...]) -> Tensor:
        ctx.steps = steps
        return _run(steps, X)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _run([step.transposed for step in reversed(ctx.steps)], gradients[0]), None


def propagate(steps: Sequence[Propagation], X: Tensor) -> Tensor:
    """X [n, d] taken through linear steps one after another, with its gradient for X."""
    return cast(Tensor, _Propagate.apply(X, tuple(steps))) if steps else X  # type: ignore[no-untyped-call]


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
