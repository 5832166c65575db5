"""What methods learn by descent: maps between the spaces of two networks, and codes that reconstruct edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from kedge.linalg import pattern
from kedge.types import IntArray, Network

_CHECK_EVERY = 10  # steps; unmeasured
_POOL = 256  # columns per step; unmeasured


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


class Reconstruction:
    """The error of a network's reconstructed columns, in which edges and non-edges weigh alike.

    `cross-entropy`, or `mse`: (σ(logit_ij) - A_ij)² in its place.
    """

    def __init__(self, network: Network, kind: Literal["cross-entropy", "mse"] = "cross-entropy") -> None:
        self.kind = kind
        self.edges = pattern(network.adjacency, np.float32)
        self.share = torch.from_numpy((network.degrees + 1.0) ** 0.75)

    def loss(self, logits: Callable[[Tensor], Tensor], generator: torch.Generator) -> Tensor:
        """Of a drawn pool of accounts; `logits` gives the [n, pool] of the drawn columns."""
        pool = torch.multinomial(self.share, min(_POOL, len(self.share)), generator=generator)
        target = torch.from_numpy(np.ascontiguousarray(self.edges[pool.numpy()].toarray().T))
        rarity = torch.tensor(max(1.0, (target.numel() - float(target.sum())) / max(1.0, float(target.sum()))))
        if self.kind == "mse":
            return ((torch.sigmoid(logits(pool)) - target) ** 2 * (1 + (rarity - 1) * target)).mean()
        return binary_cross_entropy_with_logits(logits(pool), target, pos_weight=rarity)
