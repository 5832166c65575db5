"""Maps between the spaces of two networks that are learnt by descent: a hidden layer of twice the width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from kedge.types import IntArray

_CHECK_EVERY = 10


def two_layers(d_in: int, d_out: int, generator: torch.Generator) -> nn.Sequential:
    """x -> W_2 tanh(W_1 x + b_1) + b_2, with 2 d_in hidden units, drawn by Glorot's rule from the generator."""
    first, second = nn.Linear(d_in, 2 * d_in), nn.Linear(2 * d_in, d_out)
    for layer in (first, second):
        nn.init.xavier_uniform_(layer.weight, generator=generator)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(first, nn.Tanh(), second)


def split_anchors(anchors: IntArray, seed: int) -> tuple[Tensor, Tensor]:
    """(known, validation): a fifth of the anchors for validation; none of fewer than ten."""
    order = np.random.default_rng(seed).permutation(len(anchors))
    cut = len(anchors) // 5 if len(anchors) >= 10 else 0
    return torch.from_numpy(anchors[order[cut:]]), torch.from_numpy(anchors[order[:cut]])


def fit(
    module: nn.Module, loss: Callable[[], Tensor], check: Callable[[], Tensor] | None, steps: int, rate: float
) -> None:
    """Adam on `loss`; the parameters are those of the step where `check`, computed every ten steps, is least."""
    optimiser = torch.optim.Adam(module.parameters(), lr=rate)
    best, kept = float("inf"), {name: value.clone() for name, value in module.state_dict().items()}
    for step in range(steps):
        optimiser.zero_grad()
        loss().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if check is not None and (step + 1) % _CHECK_EVERY == 0:
            with torch.no_grad():
                now = float(check())
            if now < best:
                best, kept = now, {name: value.clone() for name, value in module.state_dict().items()}
    if best < float("inf"):
        module.load_state_dict(kept)
