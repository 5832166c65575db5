"""Dropout and rows of one learned length, each in one pass forward and one backward over blocks of rows."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

_DROPPED_ROWS = 256  # drawn at once: they stay in the cache, and the draws do not depend on the size of a block
_UNIT_ROWS = 1024  # worked on at once, so that they stay in the cache between their uses
_SHORTEST = 1e-12  # a row of 0 stays 0


class _Drop(torch.autograd.Function):
    """One byte per entry is stored for the backward pass."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, share: float, generator: torch.Generator) -> Tensor:
        kept = torch.empty(X.shape, dtype=torch.bool, device=X.device)
        out = torch.empty_like(X)
        for x, k, y in zip(*(torch.split(T, _DROPPED_ROWS) for T in (X, kept, out)), strict=True):
            factor = torch.rand(x.shape, generator=generator).ge_(share).to(x.device)  # the same on every device
            k.copy_(factor)
            torch.mul(x, factor.div_(1 - share), out=y)
        ctx.save_for_backward(kept)
        ctx.share = share
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        out = torch.empty_like(gradients[0])
        for g, k, y in zip(*(torch.split(T, _DROPPED_ROWS) for T in (gradients[0], kept, out)), strict=True):
            torch.mul(g, k.to(g.dtype).div_(1 - ctx.share), out=y)
        return out, None, None


def drop(X: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """X with `share` of its entries set to 0 and the others scaled up, so that the mean stays."""
    if share == 0:
        return X
    return cast(Tensor, _Drop.apply(X, share, generator))  # type: ignore[no-untyped-call]


class _UnitRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, log_length: Tensor) -> Tensor:
        out = torch.empty_like(X)
        scale = X.new_empty(len(X), 1)
        length = torch.exp(log_length / 2)
        for x, s, y in zip(*(torch.split(T, _UNIT_ROWS) for T in (X, scale, out)), strict=True):
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
        for u, g, s, a, y in zip(*(torch.split(T, _UNIT_ROWS) for T in (U, gradient, scale, along, out)), strict=True):
            torch.sum(torch.mul(u, g, out=y), dim=1, keepdim=True, out=a)
            torch.addcmul(g, u, a / torch.exp(log_length), value=-1, out=y)
            y.mul_(s)
        return out, along.sum() / 2


def unit_rows(X: Tensor, log_length: Tensor) -> Tensor:
    """Each row x as l x / |x|, with l² = exp(log_length)."""
    return cast(Tensor, _UnitRows.apply(X, log_length))  # type: ignore[no-untyped-call]
