"""The edges of a network reconstructed from codes: a pool of columns per step in place of n^2 cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from kedge.linalg import pattern
from kedge.types import Network

_POOL = 256


class Reconstruction:
    """Cross-entropy of a network's columns, in which edges and non-edges weigh alike."""

    def __init__(self, network: Network) -> None:
        self.edges = pattern(network.adjacency, np.float32)
        self.share = torch.from_numpy((network.degrees + 1.0) ** 0.75)

    def loss(self, logits: Callable[[Tensor], Tensor], generator: torch.Generator) -> Tensor:
        """Of a drawn pool of accounts; `logits` gives the [n, pool] of the drawn columns."""
        pool = torch.multinomial(self.share, min(_POOL, len(self.share)), generator=generator)
        target = torch.from_numpy(np.ascontiguousarray(self.edges[pool.numpy()].toarray().T))
        rarity = torch.tensor(max(1.0, (target.numel() - float(target.sum())) / max(1.0, float(target.sum()))))
        return binary_cross_entropy_with_logits(logits(pool), target, pos_weight=rarity)
