"""DeepLink (Zhou, Liu, Zhang, Trajcevski, Zhong, Zhang; INFOCOM 2018): walks and skip-gram, then dual maps.

Two perceptrons φ: left -> right and ψ: right -> left learn together. Unsupervised: ψ(φ(x)) ≈ x and
φ(ψ(y)) ≈ y for all accounts, as an autoencoder; supervised: φ(x) ≈ y and ψ(y) ≈ x for anchors.

    min Σ_anchors (1 - cos(φ(x), y)) + (1 - cos(ψ(y), x)) + Σ_accounts (1 - cos(ψ(φ(x)), x)) + (1 - cos(φ(ψ(y)), y))

Deviations: the dual game of the paper rewards both maps by policy gradients; here the same reward is differentiated.
The score is the mean of cos(φ(x), y) and cos(x, ψ(y)). Walks as in `deepwalk`; 512 accounts are drawn per step. Cost:
that of `deepwalk` and `baselines.steps` small products; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from kedge.config import Config
from kedge.context import RunContext, spawn_seeds
from kedge.linalg import VectorAlignment, unit_rows
from kedge.methods.shared.descent import fit, split_anchors, two_layers
from kedge.methods.shared.skip_gram import walk_both
from kedge.similarity import align_mapped
from kedge.types import FloatArray, Problem

_BATCH = 512  # accounts per step; unmeasured


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Left accounts as (x, φ(x)), right ones as (ψ(y), y), each half of length 1."""
    seed = spawn_seeds(config.seed)[2]
    X, Y = (torch.from_numpy(unit_rows(vectors)) for vectors in walk_both(problem, config, context))
    generator = torch.Generator().manual_seed(seed)
    phi, psi = (two_layers(X.shape[1], X.shape[1], generator) for _ in range(2))
    known, validation = split_anchors(problem.anchors, seed)

    def apart(a: Tensor, b: Tensor) -> Tensor:
        return 1 - cosine_similarity(a, b).mean()

    def supervised(pairs: Tensor) -> Tensor:
        x, y = X[pairs[:, 0]], Y[pairs[:, 1]]
        return apart(phi(x), y) + apart(psi(y), x)

    def loss() -> Tensor:
        x, y = (Z[torch.randint(len(Z), (min(_BATCH, len(Z)),), generator=generator)] for Z in (X, Y))
        return supervised(known) + apart(psi(phi(x)), x) + apart(phi(psi(y)), y)

    settings = config.baselines
    check = (lambda: supervised(validation)) if len(validation) else None
    fit(nn.ModuleList([phi, psi]), loss, check, settings.steps, settings.learning_rate)
    with torch.no_grad():
        left = np.concatenate([X.numpy(), _mapped(phi(X), X)], axis=1)
        right = np.concatenate([_mapped(psi(Y), Y), Y.numpy()], axis=1)
    return align_mapped(problem, VectorAlignment(left, right), validation.numpy(), config.pairing, seed)


def _mapped(moved: Tensor, before: Tensor) -> FloatArray:
    """Moved vectors of length 1; an account that had no vector still has none."""
    rows: FloatArray = unit_rows(moved.numpy())
    rows[~before.numpy().any(axis=1)] = 0
    return rows
