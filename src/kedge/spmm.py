"""Sparse times dense in torch, as one `embedding_bag` a direction: the shared kernel of every convolution.

`embedding_bag` sums weighted rows at several times the speed of `torch.sparse` on a CPU, and gives the same bits
at every number of threads (docs/mgcn.md has the figures).
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding_bag

__all__ = ["Sparse", "hold_memory", "multiply", "spmm"]


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

    def weighed(self, weights: Tensor, turned: Tensor | None) -> Sparse:
        """The same matrix with each entry times its weight [nnz].

        `turned` [nnz] is the order of the transpose's entries, None where matrix and weights are symmetric.
        """
        forward = Rows(self.forward.offsets, self.forward.indices, self.forward.values * weights)
        if turned is None:
            return Sparse(forward, forward, self.shape)
        values = self.backward.values * weights[turned]
        return Sparse(forward, Rows(self.backward.offsets, self.backward.indices, values), self.shape)

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


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Sparse, X: Tensor) -> Tensor:
        ctx.matrix = matrix
        return multiply(matrix.forward, X.detach())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, multiply(ctx.matrix.backward, gradients[0])


def spmm(matrix: Sparse, X: Tensor) -> Tensor:
    """M X for a constant sparse M [rows, columns] and a dense X [columns, d], with its gradient for X."""
    return cast(Tensor, _Spmm.apply(matrix, X))  # type: ignore[no-untyped-call]


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
