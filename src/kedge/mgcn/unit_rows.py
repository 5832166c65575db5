"""Rows of one learned length, in one pass each way."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

__all__ = ["unit_rows"]

_ROWS = 1024  # worked on at once, so that they stay in the cache between their uses
_SHORTEST = 1e-12  # a row of 0 stays 0


class _UnitRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, log_length: Tensor) -> Tensor:
        out = torch.empty_like(X)
        scale = X.new_empty(len(X), 1)
        length = torch.exp(log_length / 2)
        for x, s, y in zip(torch.split(X, _ROWS), torch.split(scale, _ROWS), torch.split(out, _ROWS), strict=True):
            torch.linalg.vector_norm(x, dim=1, keepdim=True, out=s)
            torch.div(length, s.clamp_(min=_SHORTEST), out=s)
            torch.mul(x, s, out=y)
        ctx.save_for_backward(out, scale, log_length)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        U, scale, log_length = ctx.saved_tensors
        (gradient,) = gradients
        out = torch.empty_like(U)
        along = torch.empty_like(scale)
        # With u = l x / |x|: dx = (g - u (u · g) / l²) l / |x|, and d log l² = Σ u · g / 2.
        for u, g, s, a, y in zip(*(torch.split(T, _ROWS) for T in (U, gradient, scale, along, out)), strict=True):
            torch.sum(torch.mul(u, g, out=y), dim=1, keepdim=True, out=a)
            torch.addcmul(g, u, a / torch.exp(log_length), value=-1, out=y)
            y.mul_(s)
        return out, along.sum() / 2


def unit_rows(X: Tensor, log_length: Tensor) -> Tensor:
    """Each row x as l x / |x|, with l² = exp(log_length)."""
    return cast(Tensor, _UnitRows.apply(X, log_length))  # type: ignore[no-untyped-call]
