"""The convolutions of MGCN as pure functions: Eq. 3 and 7 on the network, Eq. 6, 8 and 9 on the hypergraph.

Shapes: n accounts, m hyperedges, d dimensions. A and H are scipy matrices, made once a part; X and W are tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array
from torch import Tensor

from kedge.spmm import Propagation, Sparse, propagate, spmm
from kedge.types import FloatArray, Hypergraph, Network

__all__ = [
    "ACTIVATIONS",
    "convolve",
    "convolve_hypergraph",
    "factor_theta",
    "normalise_adjacency",
    "overlay",
]

ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "none": lambda X: X,
}


def _inverse_root(sums: Any) -> FloatArray:
    """sums^-1/2, and 0 where a sum is 0: an account in no edge neither gives nor takes."""
    values = np.asarray(sums, np.float64).ravel()
    roots: FloatArray = np.divide(1.0, np.sqrt(values), out=np.zeros(len(values)), where=values > 0)
    return roots


def normalise_adjacency(network: Network) -> csr_array:
    """Â = I + D^-1/2 A D^-1/2 (section 2.3), n × n: normalised first, then I added; an isolated account has I.

    D holds the sums of A's rows, which are the degrees where no weights were given.
    """
    A = network.adjacency.astype(np.float64)
    scale = diags_array(_inverse_root(A.sum(axis=1)))
    identity = diags_array(np.ones(network.n))
    return csr_array((scale @ A @ scale + identity).tocsr())


def overlay(A_hat: csr_array, H: csr_array) -> csr_array:
    """Σ_e A_e = Σ_e S_e Â S_e = Â ∘ (H Hᵀ) (Eq. 3 summed over all hyperedges), n × n, with Â's own sparsity.

    H Hᵀ is only evaluated where Â is set, so nothing denser than Â is ever made.
    """
    from kedge.mgcn.overlap import row_products

    entries = A_hat.tocoo()
    rows, columns = entries.coords
    memberships = csr_array(H)
    memberships.sum_duplicates()
    values = row_products(memberships.indptr, memberships.indices, memberships.data, rows, columns)
    return csr_array((entries.data * values, (rows, columns)), shape=A_hat.shape)


def convolve(A: Sparse, X: Tensor, W: Tensor | None, activation: str = "relu") -> Tensor:
    """X^{k+1} = σ(Â X^k W^k) (Eq. 7), [n, d]; W = None stands for I."""
    # The narrower side first: (Â X) W and Â (X W) are equal, and d is the same on both sides, so W goes first.
    return ACTIVATIONS[activation](spmm(A, X if W is None else X @ W))


def factor_theta(hypergraph: Hypergraph, normalisation: str = "edge") -> Sparse:
    """G with Θ = G Gᵀ, n × m, where Θ = D_n^-1/2 H Hᵀ D_n^-1/2 (Eq. 9) or D_n^-1/2 H D_e^-1 Hᵀ D_n^-1/2.

    `paper` is the first; its norm grows with the size of the hyperedges, as the paper defines D_e and never uses
    it. `edge` is the second, whose norm is at most 1. Θ itself is never formed.
    """
    H = hypergraph.H.astype(np.float64)
    nodes = _inverse_root(H.sum(axis=1))
    edges = _inverse_root(H.sum(axis=0))
    G = diags_array(nodes) @ H
    if normalisation == "edge":
        G = G @ diags_array(edges)
    elif normalisation != "paper":
        raise ValueError(f"no normalisation {normalisation!r}")
    return Sparse.of(csr_array(G.tocsr()))


def convolve_hypergraph(
    G: Sparse, X: Tensor, W: Tensor | None, activation: str = "relu", weights: Tensor | None = None
) -> Tensor:
    """X^{k+1} = σ(Θ X^k W^k) (Eq. 8-9), [n, d], with Θ = G Gᵀ applied as two sparse products.

    `weights` [m, 1], if any, weigh each hyperedge: Θ = G diag(weights) Gᵀ.
    """
    Y = X if W is None else X @ W
    if weights is None:
        return ACTIVATIONS[activation](propagate((Propagation((G, G.transposed)),), Y))
    return ACTIVATIONS[activation](spmm(G, spmm(G.transposed, Y) * weights))
