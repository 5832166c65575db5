"""DALAUP (Cheng, Zhou, Yang, Wu, Li, Tan, Guo; IJCAI 2019): joint vectors of both networks, made for active learning.

Both networks are encoded and decoded by networks that share parameters; anchors shall have the same code, other pairs
not:

    Z = tanh(Â E + b),    reconstruction of the rows of A from Z  +  Σ_anchors (1 - cos) + Σ_drawn pairs max(0, cos)

Written after the authors' published code and a summary of the paper. Deviations: a batch run has nobody to ask, so
`align` trains once on the given anchors; the paper's queries are in `kedge.methods.active`, which takes any oracle.
The paper's code convolves along the order of accounts, which carries no meaning here: the shared parameters are
instead the rows of E that the two accounts of an anchor have in common. Each step reconstructs a drawn pool of
columns in place of all.

Cost: `baselines.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.methods.embedded import align_shared
from kedge.methods.every_pair import need_anchors
from kedge.methods.maps import fit
from kedge.methods.merged import merge
from kedge.mgcn.layers import normalise_adjacency
from kedge.spmm import Sparse, hold_memory, spmm
from kedge.types import IntArray, Network, Problem

__all__ = ["align"]

_POOL = 256


class _Coder(nn.Module):
    """Encoder and decoder of one network over the rows of E that are its accounts'."""

    def __init__(self, network: Network, place: IntArray, E: nn.Parameter, generator: torch.Generator) -> None:
        super().__init__()
        self.A = Sparse.of(normalise_adjacency(network), symmetric=True)
        self.pattern = csr_array(network.adjacency.astype(bool).astype(np.float32))
        self.share = torch.from_numpy((network.degrees + 1.0) ** 0.75)
        self.place, self.E = torch.from_numpy(place.copy()), E
        d = E.shape[1]
        self.C = nn.Parameter(torch.randn((network.n, d), generator=generator) / math.sqrt(d))
        self.b, self.c = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(network.n))

    def forward(self) -> Tensor:
        """Z [n, d]."""
        return torch.tanh(spmm(self.A, self.E[self.place]) + self.b)

    def misses(self, Z: Tensor, generator: torch.Generator) -> Tensor:
        """How badly a drawn pool of columns is reconstructed, edges and non-edges weighing alike."""
        pool = torch.multinomial(self.share, min(_POOL, len(Z)), generator=generator)
        target = torch.from_numpy(np.ascontiguousarray(self.pattern[pool.numpy()].toarray().T))
        rarity = torch.tensor(max(1.0, (target.numel() - float(target.sum())) / max(1.0, float(target.sum()))))
        return binary_cross_entropy_with_logits(torch.addmm(self.c[pool], Z, self.C[pool].T), target, pos_weight=rarity)


def align(problem: Problem, config: Config, seed: int) -> VectorAlignment:
    """Cosine of the codes, which stand in one space already; no phase 2, no pair network."""
    need_anchors(problem, "dalaup")
    hold_memory()
    merged, settings = merge(problem), config.baselines
    generator = torch.Generator().manual_seed(int(np.random.SeedSequence(seed).generate_state(1)[0]))
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
