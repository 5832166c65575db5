"""Two layers of convolution as GCN and HGNN have them, with σ = ReLU between and learned weights, trained on edges.

    Z = P relu(P W_0) W_1

P is a method's own operator. Accounts have no features, so the input is the identity (one-hot), as in Kipf and
Welling's featureless networks, and W_0 is [n, d]; W_1 is [d, d]. The last layer has no activation, as theirs has none
before its softmax. There are no labels: the objective is Eq. 10 (edge_training.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn

from kedge.config import Config
from kedge.embedding.plan import Source
from kedge.methods.shared.edge_training import draw_first, train_on_edges
from kedge.types import FloatArray

Operator: TypeAlias = Callable[[Tensor], Tensor]  # P X of X [n, d]


def two_convolutions(P: Operator, W_0: Tensor, W_1: Tensor) -> Tensor:
    """Z = P relu(P W_0) W_1, [n, d]."""
    return P(torch.relu(P(W_0)) @ W_1)


class _Convolved(nn.Module):
    """Z of the two learned weights."""

    def __init__(self, P: Operator, n: int, d: int, generator: torch.Generator) -> None:
        super().__init__()
        self.P, self.first, self.second = P, draw_first(n, d, generator), draw_first(d, d, generator)

    def forward(self) -> Tensor:
        """Z [n, d]."""
        return two_convolutions(self.P, self.first, self.second)


def convolved_vectors(method: str, source: Source, P: Operator, config: Config) -> FloatArray:
    """Z of one network after `baselines.steps` of Adam, float32 [n, d]; an account without edges has 0."""

    def layers(given: Source, generator: torch.Generator) -> nn.Module:
        return _Convolved(P, given.network.n, config.baselines.dimensions, generator)

    return train_on_edges(method, source, config, layers, unit=False)
