"""Gravity-inspired graph autoencoder (Salha, Limnios, Hennequin, Tran, Vazirgiannis; CIKM 2019), then phase 2.

Encoder: a graph convolution over one-hot accounts gives each a position z_i and a mass m_i, (Z, m) = Â tanh(Â W_0) W_1.
Decoder: the more massive and the nearer j is, the likelier the edge from i to j,

    Â_ij = σ(m_j - λ log |z_i - z_j|^2),    λ = 1

Trained by cross-entropy, in which edges and non-edges weigh alike, as the cited work does, or by the mean square error
of Â_ij, which the KDD paper names (`baselines.loss = mse`), weighed alike too. The vector for phase 2 is (Z, m).

Deviations: tanh in place of ReLU; undirected networks; not variational; each step reconstructs the columns of a drawn
pool of accounts in place of n^2 cells.

Cost: `baselines.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext, reuse_freed_memory
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment
from kedge.linalg.spmm import Sparse, spmm
from kedge.methods.shared.descent import Reconstruction, fit
from kedge.methods.shared.embedded import align_embedded
from kedge.mgcn.layers import normalise_adjacency
from kedge.types import FloatArray, Problem

_NEAREST = 1e-2  # smaller squared distances count as this: two accounts may not attract without bound; unmeasured


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks encoded by themselves, the right one projected into the left one's space (Eq. 11)."""
    reuse_freed_memory()
    return align_embedded("autoencoder", problem, config, context, lambda source: _encode(source, config.baselines))


def gravity_logits(Z: Tensor, others: Tensor, mass: Tensor) -> Tensor:
    """m_j - log |z_i - z_j|^2 for each i of Z [n, d] and j of `others` [q, d] with `mass` [q], [n, q]."""
    square = (Z**2).sum(dim=1, keepdim=True) + (others**2).sum(dim=1) - 2 * Z @ others.T
    return mass - torch.log(square.clamp(min=0) + _NEAREST)


def _encode(source: Source, settings: BaselineConfig) -> FloatArray:
    """(Z, m) of each account, float32 [n, d + 1]; 0 for an account without edges."""
    network, d = source.network, settings.dimensions
    if network.edges == 0:
        return np.zeros((network.n, d + 1), np.float32)
    generator = torch.Generator().manual_seed(source.seed)
    A = Sparse.of(normalise_adjacency(network), symmetric=True)
    reconstruction = Reconstruction(network, settings.loss)
    weights = nn.ParameterList(
        nn.Parameter(torch.randn(shape, generator=generator) / math.sqrt(d)) for shape in ((network.n, d), (d, d + 1))
    )

    def encode() -> Tensor:
        return spmm(A, torch.tanh(spmm(A, weights[0])) @ weights[1])

    def loss() -> Tensor:
        code = encode()
        Z, m = code[:, :d], code[:, d]
        return reconstruction.loss(lambda pool: gravity_logits(Z, Z[pool], m[pool]), generator)

    fit(weights, loss, None, settings.steps, settings.learning_rate)
    with torch.no_grad():
        vectors: FloatArray = encode().numpy()
    vectors[network.degrees == 0] = 0
    return vectors
