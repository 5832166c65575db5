"""PALE (Man et al., IJCAI 2016) with its second map: the vectors of `pale`, mapped by a perceptron with a hidden layer.

    min Σ_anchors |φ(x) - y|^2,    φ(x) = W_2 tanh(W_1 x + b_1) + b_2

Deviations: those of `pale`; 2 d hidden units; the weights are those at which a fifth of the anchors, for validation, is
nearest. Cost:
that of `pale`, and `baselines.steps` steps over the anchors.
"""

from __future__ import annotations

import torch
from torch import Tensor

from kedge.config import Config
from kedge.context import RunContext, spawn_seeds
from kedge.linalg import VectorAlignment, unit_rows
from kedge.methods.pale import embed
from kedge.methods.shared.descent import fit, split_anchors, two_layers
from kedge.similarity import align_mapped
from kedge.types import Problem


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Both extended networks embedded, the right one mapped into the left one's space by two layers."""
    seed = spawn_seeds(config.seed)[2]
    left, right = (torch.from_numpy(unit_rows(X)) for X in embed(problem, config))
    phi = two_layers(right.shape[1], left.shape[1], torch.Generator().manual_seed(seed))
    known, validation = split_anchors(problem.anchors, seed)

    def distance(pairs: Tensor) -> Tensor:
        missed: Tensor = phi(right[pairs[:, 1]]) - left[pairs[:, 0]]
        return (missed**2).sum(dim=1).mean()

    settings = config.baselines
    check = (lambda: distance(validation)) if len(validation) else None
    fit(phi, lambda: distance(known), check, settings.steps, settings.learning_rate)
    with torch.no_grad():
        moved = phi(right).numpy()
    moved[~right.numpy().any(axis=1)] = 0  # an account without a vector has none after the map
    return align_mapped(problem, VectorAlignment(left.numpy(), moved), validation.numpy(), config.pairing, seed)
