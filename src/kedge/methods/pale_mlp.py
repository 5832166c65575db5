"""PALE (Man et al., IJCAI 2016) with its second map: the vectors of `pale`, moved by a perceptron with a hidden layer.

    min Σ_anchors |φ(x) - y|^2,    φ(x) = W_2 tanh(W_1 x + b_1) + b_2

Deviations: those of `pale`; 2 d hidden units; training stops where a fifth of the anchors, held back, is nearest. Cost:
that of `pale`, and `baselines.steps` steps over the anchors.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.linalg import unit_rows
from kedge.methods.embedded import align_mapped
from kedge.methods.every_pair import need_anchors
from kedge.methods.maps import fit, hold_back, two_layers
from kedge.methods.pale import embed
from kedge.types import Problem

__all__ = ["align"]


def align(problem: Problem, config: Config, seed: int) -> VectorAlignment:
    """Both extended networks embedded, the right one moved into the left one's space by two layers."""
    need_anchors(problem, "pale-mlp")
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    left, right = (torch.from_numpy(unit_rows(X)) for X in embed(problem, config, seeds))
    phi = two_layers(right.shape[1], left.shape[1], torch.Generator().manual_seed(seeds[2]))
    known, held = hold_back(problem.anchors, seeds[2])

    def distance(pairs: Tensor) -> Tensor:
        missed: Tensor = phi(right[pairs[:, 1]]) - left[pairs[:, 0]]
        return (missed**2).sum(dim=1).mean()

    settings = config.baselines
    held_loss = (lambda: distance(held)) if len(held) else None
    fit(phi, lambda: distance(known), held_loss, settings.steps, settings.learning_rate)
    with torch.no_grad():
        moved = phi(right).numpy()
    moved[~right.numpy().any(axis=1)] = 0  # an account that has learnt nothing stands nowhere
    return align_mapped(problem, left.numpy(), moved, held.numpy(), config.pairing, seeds[2])
