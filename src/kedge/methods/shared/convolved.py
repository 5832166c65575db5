"""Two layers of convolution as GCN and HGNN have them, with σ = ReLU between and learned weights, trained on edges.

    Z = P relu(P W_0) W_1

P is a method's own operator. Accounts have no features, so the input is the identity (one-hot), as in Kipf and
Welling's featureless networks, and W_0 is [n, d]; W_1 is [d, d]. The last layer has no activation, as theirs has none
before its softmax. There are no labels: the objective is Eq. 10, edges and noise weighed alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from kedge.config import Config
from kedge.context import reuse_freed_memory
from kedge.embedding.plan import Source
from kedge.mgcn.adam import Adam
from kedge.mgcn.objective import Edges, Sample, noise_distribution, pooled_loss, trivial_loss
from kedge.types import FloatArray, KedgeError

_SHORTEST = 1e-4  # vectors of which no entry is larger are all 0 but for rounding, as in kedge.mgcn.train

Operator: TypeAlias = Callable[[Tensor], Tensor]  # P X of X [n, d]


def two_convolutions(P: Operator, W_0: Tensor, W_1: Tensor) -> Tensor:
    """Z = P relu(P W_0) W_1, [n, d]."""
    return P(torch.relu(P(W_0)) @ W_1)


def convolved_vectors(method: str, source: Source, P: Operator, config: Config) -> FloatArray:
    """Z of one network after `baselines.steps` of Adam, float32 [n, d]; an account without edges has 0."""
    reuse_freed_memory()
    network, settings, d = source.network, config.baselines, config.baselines.dimensions
    if network.edges == 0:
        return np.zeros((network.n, d), np.float32)
    generator = torch.Generator().manual_seed(source.seed)
    weights = [
        (torch.randn(shape, generator=generator) / math.sqrt(d)).requires_grad_() for shape in ((network.n, d), (d, d))
    ]
    edges, noise, no_bias = Edges.of(network), noise_distribution(network), torch.tensor(0.0)
    optimiser = Adam(weights, settings.learning_rate)
    for _ in range(settings.steps):
        pool = torch.multinomial(noise, config.mgcn.pool, replacement=True, generator=generator)
        loss = pooled_loss(two_convolutions(P, *weights), no_bias, edges, Sample(pool))
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        vectors: FloatArray = two_convolutions(P, *weights).numpy()
    vectors[network.degrees == 0] = 0
    if not np.abs(vectors).max() > _SHORTEST:
        raise KedgeError(
            f"{method}'s embedding of {source.name} collapsed (loss {loss.item():.3f}, trivial {trivial_loss():.3f})",
            remedy="lower baselines.learning_rate, or set baselines.convolution=linear",
        )
    return vectors
