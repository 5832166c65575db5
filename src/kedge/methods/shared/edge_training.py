"""Networks of layers trained on edges (Eq. 10) where their papers have labels, which accounts do not have."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from kedge.config import Config
from kedge.context import reuse_freed_memory
from kedge.embedding.plan import Source
from kedge.mgcn.adam import Adam
from kedge.mgcn.objective import Edges, Sample, noise_distribution, noise_weight, pooled_loss, trivial_loss
from kedge.mgcn.row_ops import unit_rows
from kedge.mgcn.train import judge
from kedge.types import FloatArray, KedgeError

Layers = Callable[[Source, torch.Generator], nn.Module]


def draw_glorot(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """A matrix drawn by Glorot's rule."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns), generator=generator))


def draw_first(n: int, d: int, generator: torch.Generator) -> nn.Parameter:
    """Free first vectors: the weights of a first layer whose inputs are one-hot accounts."""
    return nn.Parameter(torch.randn(n, d, generator=generator) / math.sqrt(d))


def train_on_edges(method: str, source: Source, config: Config, layers: Layers, *, unit: bool = True) -> FloatArray:
    """Vectors [n, d] of a module `layers(source, generator)`, whose call gives X; 0 for an account without edges.

    unit: as in MGCN's default, rows of X are unit vectors times one learned length, the logit has a learned bias, and
    steps are clipped. Otherwise X is as the layers give it. Edges and a pool of noise accounts weigh alike.
    `baselines.steps` steps of Adam; a collapsed fit is refused.
    """
    network, settings = source.network, config.mgcn
    if network.edges == 0:
        return np.zeros((network.n, config.baselines.dimensions), np.float32)
    reuse_freed_memory()
    generator = torch.Generator().manual_seed(source.seed)
    model = layers(source, generator)
    log_length = nn.Parameter(torch.tensor(math.log(settings.length)))
    bias = nn.Parameter(torch.tensor(0.0), requires_grad=unit)
    weight = noise_weight(settings) if unit else 1.0
    edges, noise = Edges.of(network), noise_distribution(network)
    learned = [*model.parameters(), *((log_length, bias) if unit else ())]
    optimiser = Adam(learned, config.baselines.learning_rate)

    def place() -> Tensor:
        X: Tensor = model()
        return unit_rows(X, log_length) if unit else X

    losses = []
    for _ in range(config.baselines.steps):
        pool = torch.multinomial(noise, settings.pool, replacement=True, generator=generator)
        loss = pooled_loss(place(), bias, edges, Sample(pool, weight))
        losses.append(loss.item())
        loss.backward()  # type: ignore[no-untyped-call]
        if unit:
            torch.nn.utils.clip_grad_norm_(optimiser.parameters, settings.clip)
        optimiser.step()
    model.eval()
    with torch.no_grad():
        vectors: FloatArray = place().numpy().copy()
    trivial = trivial_loss(weight, bias=unit)
    if not np.isfinite(vectors).all() or judge(np.array(losses), trivial, None, vectors) == "collapsed":
        raise KedgeError(
            f"{method}'s embedding of {source.name} collapsed (loss {losses[-1]:.3f}, trivial {trivial:.3f})",
            remedy="take more baselines.steps, or a lower baselines.learning_rate",
        )
    vectors[network.degrees == 0] = 0
    return vectors
