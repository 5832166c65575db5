"""Entries left out at random, with one byte an entry kept for the way back."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

__all__ = ["drop"]

_ROWS = 256  # drawn at once: they stay in the cache, and the draws are the same however they are cut


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, share: float, generator: torch.Generator) -> Tensor:
        kept = torch.empty(X.shape, dtype=torch.bool)
        out = torch.empty_like(X)
        for x, k, y in zip(*(torch.split(T, _ROWS) for T in (X, kept, out)), strict=True):
            factor = torch.rand(x.shape, generator=generator).ge_(share)
            k.copy_(factor)
            torch.mul(x, factor.div_(1 - share), out=y)
        ctx.save_for_backward(kept)
        ctx.share = share
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        out = torch.empty_like(gradients[0])
        for g, k, y in zip(*(torch.split(T, _ROWS) for T in (gradients[0], kept, out)), strict=True):
            torch.mul(g, k.to(g.dtype).div_(1 - ctx.share), out=y)
        return out, None, None


def drop(X: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """X without `share` of its entries, the others raised so that the mean stays."""
    if share == 0:
        return X
    return cast(Tensor, _Drop.apply(X, share, generator))  # type: ignore[no-untyped-call]
