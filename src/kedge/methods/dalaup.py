"""DALAUP (Cheng, Zhou, Yang, Wu, Li, Tan, Guo; IJCAI 2019): joint vectors of both networks, made for active learning.

Both networks are encoded and decoded by networks that share parameters; the two accounts of an anchor are to have the
same code, those of other pairs not:

    Z = tanh(Â E + b),    reconstruction of the rows of A from Z  +  Σ_anchors (1 - cos) + Σ_drawn pairs max(0, cos)

Written after the authors' published code and a summary of the paper. Deviations: a batch run has no oracle, so
`align` trains once on the given anchors; the paper's queries are not part of it.
The paper's code convolves along the order of accounts, which carries no meaning here: the shared parameters are
instead the rows of E that the two accounts of an anchor have in common. Each step reconstructs a drawn pool of
columns in place of all.

Cost: `baselines.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory, spawn_seeds
from kedge.linalg import VectorAlignment
from kedge.linalg.spmm import Sparse, spmm
from kedge.methods.shared.descent import Reconstruction, fit
from kedge.methods.shared.embedded import merge
from kedge.mgcn.layers import normalise_adjacency
from kedge.similarity import align_shared
from kedge.types import IntArray, Network, Problem


class _Coder(nn.Module):
    """Encoder and decoder of one network over the rows of E that are its accounts'."""

    def __init__(self, network: Network, place: IntArray, E: nn.Parameter, generator: torch.Generator) -> None:
        super().__init__()
        self.A = Sparse.of(normalise_adjacency(network), symmetric=True)
        self.reconstruction = Reconstruction(network)
        self.place, self.E = torch.from_numpy(place.copy()), E
        d = E.shape[1]
        self.C = nn.Parameter(torch.randn((network.n, d), generator=generator) / math.sqrt(d))
        self.b, self.c = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(network.n))

    def forward(self) -> Tensor:
        """Z [n, d]."""
        return torch.tanh(spmm(self.A, self.E[self.place]) + self.b)

    def misses(self, Z: Tensor, generator: torch.Generator) -> Tensor:
        """The loss of reconstructing the edges from Z."""
        return self.reconstruction.loss(lambda pool: torch.addmm(self.c[pool], Z, self.C[pool].T), generator)


def align(problem: Problem, config: Config, _context: RunContext) -> VectorAlignment:
    """Cosine of the codes, which are in one space already; no phase 2, no pair network."""
    reuse_freed_memory()
    merged, settings = merge(problem), config.baselines
    generator = torch.Generator().manual_seed(spawn_seeds(config.seed, 1)[0])
    start = torch.randn((merged.n, settings.dimensions), generator=generator) / math.sqrt(settings.dimensions)
    E = nn.Parameter(start * 2)
    left = _Coder(problem.left, merged.left, E, generator)
    right = _Coder(problem.right, merged.right, E, generator)
    mine, other = torch.from_numpy(problem.anchors.copy()).T

    def loss() -> Tensor:
        X, Y = left(), right()
        stranger, strange = (torch.randint(len(Z), (len(mine),), generator=generator) for Z in (X, Y))
        same = 1 - cosine_similarity(X[mine], Y[other])
        apart = cosine_similarity(X[mine], Y[strange]).relu() + cosine_similarity(X[stranger], Y[other]).relu()
        return left.misses(X, generator) + right.misses(Y, generator) + (same + apart / 2).mean()

    fit(nn.ModuleList([left, right]), loss, None, settings.steps, settings.learning_rate)
    with torch.no_grad():
        X, Y = left().numpy(), right().numpy()
    X[np.setdiff1d(np.flatnonzero(problem.left.degrees == 0), problem.anchors[:, 0])] = 0
    Y[np.setdiff1d(np.flatnonzero(problem.right.degrees == 0), problem.anchors[:, 1])] = 0
    return align_shared(problem, X, Y, config.pairing)
