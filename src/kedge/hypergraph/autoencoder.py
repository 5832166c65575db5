"""An autoencoder of a network's rows, whose codes serve as hyperedges (latent) or as first vectors X^0.

Code and reconstruction are Z = σ(Â E + b) and σ(Z C^T + c): the input of an account is its row of Â, so the encoder's
first product is sparse. Every step reconstructs a drawn pool of columns of A + I instead of all n.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array

from kedge.linalg import pattern
from kedge.linalg.spmm import Sparse, spmm
from kedge.types import FloatArray, Network

_POOL = 512  # columns per step; unmeasured


def encode(network: Network, codes: int, steps: int, seed: int) -> FloatArray:
    """Codes in (0, 1) of each account's row of the network, float32 [n, codes], by `steps` of Adam."""
    n = network.n
    if n == 0:
        return np.empty((0, codes), np.float32)
    generator = torch.Generator().manual_seed(seed)
    rng = np.random.default_rng(seed)
    linked = csr_array(pattern(network.adjacency, np.float32) + diags_array(np.ones(n, np.float32)))
    by_column = csr_array(linked.T.tocsr())
    rows = Sparse.of(csr_array(diags_array(1 / np.sqrt(np.asarray(linked.sum(axis=1)).ravel())) @ linked))
    E = torch.randn((n, codes), generator=generator).div_(math.sqrt(codes) / 4).requires_grad_()
    C = torch.randn((n, codes), generator=generator).div_(math.sqrt(codes)).requires_grad_()
    b, c = torch.zeros(codes, requires_grad=True), torch.zeros(n, requires_grad=True)
    optimiser = torch.optim.Adam([E, C, b, c], lr=0.02)
    share = network.degrees + 1.0
    share = share / share.sum()
    for _ in range(steps):
        Z = torch.sigmoid(spmm(rows, E) + b)
        pool = rng.choice(n, min(_POOL, n), p=share)
        target = torch.from_numpy(csr_array(by_column[pool].T).toarray())
        logits = torch.addmm(c[torch.from_numpy(pool)], Z, C[torch.from_numpy(pool)].T)
        # Edges are rare: weighed so that edges and non-edges count alike, or every code would say "no edge".
        rarity = max(1.0, (target.numel() - float(target.sum())) / max(1.0, float(target.sum())))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, pos_weight=torch.tensor(rarity))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    with torch.no_grad():
        Z = torch.sigmoid(spmm(rows, E) + b)
    return np.asarray(Z.numpy())
