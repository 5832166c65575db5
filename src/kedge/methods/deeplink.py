"""DeepLink (Zhou, Liu, Zhang, Trajcevski, Zhong, Zhang; INFOCOM 2018): walks and skip-gram, then dual maps.

Two perceptrons φ: left -> right and ψ: right -> left learn together. Unsupervised: ψ(φ(x)) ≈ x and
φ(ψ(y)) ≈ y for all accounts, as an autoencoder; supervised: φ(x) ≈ y and ψ(y) ≈ x for anchors.

    min Σ_anchors (1 - cos(φ(x), y)) + (1 - cos(ψ(y), x)) + Σ_accounts (1 - cos(ψ(φ(x)), x)) + (1 - cos(φ(ψ(y)), y))

Deviations: the dual game of the paper rewards both maps by policy gradients; here the same reward is differentiated.
The score is the mean of cos(φ(x), y) and cos(x, ψ(y)). Walks as in `deepwalk`; accounts are drawn 512 a step. Cost:
that of `deepwalk` and `baselines.steps` small products; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.linalg import unit_rows
from kedge.methods.embedded import align_mapped
from kedge.methods.every_pair import need_anchors
from kedge.methods.maps import fit, hold_back, two_layers
from kedge.methods.skip_gram import walk_both
from kedge.types import FloatArray, Problem
from kedge.workshop import Workshop

__all__ = ["align"]

_BATCH = 512


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Left accounts as (x, φ(x)), right ones as (ψ(y), y), each half of length 1."""
    need_anchors(problem, "deeplink")
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    X, Y = (torch.from_numpy(unit_rows(vectors)) for vectors in walk_both(problem, config, seeds, workshop))
    generator = torch.Generator().manual_seed(seeds[2])
    phi, psi = (two_layers(X.shape[1], X.shape[1], generator) for _ in range(2))
    known, held = hold_back(problem.anchors, seeds[2])

    def apart(a: Tensor, b: Tensor) -> Tensor:
        return 1 - cosine_similarity(a, b).mean()

    def supervised(pairs: Tensor) -> Tensor:
        x, y = X[pairs[:, 0]], Y[pairs[:, 1]]
        return apart(phi(x), y) + apart(psi(y), x)

    def loss() -> Tensor:
        x, y = (Z[torch.randint(len(Z), (min(_BATCH, len(Z)),), generator=generator)] for Z in (X, Y))
        return supervised(known) + apart(psi(phi(x)), x) + apart(phi(psi(y)), y)

    settings = config.baselines
    held_loss = (lambda: supervised(held)) if len(held) else None
    fit(nn.ModuleList([phi, psi]), loss, held_loss, settings.steps, settings.learning_rate)
    with torch.no_grad():
        left = np.concatenate([X.numpy(), _standing(phi(X), X)], axis=1)
        right = np.concatenate([_standing(psi(Y), Y), Y.numpy()], axis=1)
    return align_mapped(problem, left, right, held.numpy(), config.pairing, seeds[2])


def _standing(moved: Tensor, before: Tensor) -> FloatArray:
    """Moved vectors of length 1; an account that had no vector still has none."""
    rows: FloatArray = unit_rows(moved.numpy())
    rows[~before.numpy().any(axis=1)] = 0
    return rows
