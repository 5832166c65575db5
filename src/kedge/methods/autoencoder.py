"""Gravity-inspired graph autoencoder (Salha, Limnios, Hennequin, Tran, Vazirgiannis; CIKM 2019), then phase 2.

Encoder: a graph convolution over one-hot accounts gives each a place z_i and a mass m_i, (Z, m) = Â tanh(Â W_0) W_1.
Decoder: the more massive and the nearer j is, the likelier i joins it,

    Â_ij = σ(m_j - λ log |z_i - z_j|^2),    λ = 1

Trained by cross-entropy in which edges and non-edges weigh alike. The vector for phase 2 is (Z, m).

Deviations: the model is that of the cited work, where the KDD paper's text speaks of the mean square error; tanh in
place of ReLU; undirected networks; not variational; each step reconstructs the columns of a drawn pool of accounts in
place of n^2 cells. Cost: `baselines.steps` products of |E| d and
n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from kedge.alignment import VectorAlignment
from kedge.config import BaselineConfig, Config
from kedge.methods.embedded import align_vectors
from kedge.methods.every_pair import need_anchors
from kedge.methods.keeping import keep_vectors
from kedge.methods.maps import fit
from kedge.mgcn.layers import normalise_adjacency
from kedge.spmm import Sparse, hold_memory, spmm
from kedge.types import FloatArray, Network, Problem
from kedge.workshop import Workshop

__all__ = ["align", "gravity_logits"]

_POOL = 256
_NEAREST = 1e-2  # squared distances below this count as this: two accounts may not attract without bound


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Both networks encoded by themselves, the right one moved into the left one's space (Eq. 11)."""
    need_anchors(problem, "autoencoder")
    hold_memory()
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]

    def encode() -> tuple[FloatArray, FloatArray]:
        settings = config.baselines
        return _encode(problem.left, settings, seeds[0]), _encode(problem.right, settings, seeds[1])

    left, right = keep_vectors("autoencoder", problem, config, seeds, workshop, encode)
    return align_vectors(problem, left, right, config.pairing, seeds[2])


def gravity_logits(Z: Tensor, others: Tensor, mass: Tensor) -> Tensor:
    """m_j - log |z_i - z_j|^2 for each i of Z [n, d] and j of `others` [q, d] with `mass` [q], [n, q]."""
    square = (Z**2).sum(dim=1, keepdim=True) + (others**2).sum(dim=1) - 2 * Z @ others.T
    return mass - torch.log(square.clamp(min=0) + _NEAREST)


def _encode(network: Network, settings: BaselineConfig, seed: int) -> FloatArray:
    """(Z, m) of each account, float32 [n, d + 1]; an account without edges has none."""
    if network.edges == 0:
        return np.zeros((network.n, settings.dimensions + 1), np.float32)
    n, d = network.n, settings.dimensions
    generator = torch.Generator().manual_seed(seed)
    A = Sparse.of(normalise_adjacency(network), symmetric=True)
    pattern = csr_array(network.adjacency.astype(bool).astype(np.float32))
    weights = nn.ParameterList(
        [
            nn.Parameter(torch.randn((n, d), generator=generator) / math.sqrt(d)),
            nn.Parameter(torch.randn((d, d + 1), generator=generator) / math.sqrt(d)),
        ]
    )
    share = torch.from_numpy((network.degrees + 1.0) ** 0.75)

    def encode() -> Tensor:
        return spmm(A, torch.tanh(spmm(A, weights[0])) @ weights[1])

    def loss() -> Tensor:
        pool = torch.multinomial(share, min(_POOL, n), generator=generator)
        code = encode()
        Z, m = code[:, :d], code[:, d]
        target = torch.from_numpy(np.ascontiguousarray(pattern[pool.numpy()].toarray().T))
        rarity = torch.tensor(max(1.0, (target.numel() - float(target.sum())) / max(1.0, float(target.sum()))))
        return binary_cross_entropy_with_logits(gravity_logits(Z, Z[pool], m[pool]), target, pos_weight=rarity)

    fit(weights, loss, None, settings.steps, settings.learning_rate)
    with torch.no_grad():
        vectors: FloatArray = encode().numpy()
    vectors[network.degrees == 0] = 0
    return vectors
