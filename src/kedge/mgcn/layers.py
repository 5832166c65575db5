"""The convolutions of MGCN as pure functions: Eq. 3 and 7 on the network, Eq. 6, 8 and 9 on the hypergraph.

Shapes: n accounts, m hyperedges, d dimensions. A and H are scipy matrices, made once per part; X and W are tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numba
import numpy as np
import torch
from scipy.sparse import csr_array, diags_array
from torch import Tensor

from kedge.linalg import normalise
from kedge.linalg.spmm import Propagation, Sparse, multiply, propagate, spmm
from kedge.types import FloatArray, Hypergraph, IntArray, Network

_LARGEST_NORM: Final = 8.0  # of Θ; neighbourhoods are under 5, and trained well so far
_POWER_STEPS: Final = 20  # of the power iteration for it; unmeasured

ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "none": lambda X: X,
}


def normalise_adjacency(network: Network) -> csr_array:
    """Â = I + D^-1/2 A D^-1/2 (section 2.3), n × n: normalised first, then I added; an isolated account has I.

    D holds the sums of A's rows, which are the degrees where no weights were given.
    """
    A = normalise(network.adjacency.astype(np.float64), 0.5, 0.5)
    return csr_array((A + diags_array(np.ones(network.n))).tocsr())


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _row_products(
    indptr: IntArray, indices: IntArray, data: FloatArray, rows: IntArray, columns: IntArray
) -> FloatArray:
    """(H Hᵀ)[rows, columns] of a CSR matrix with sorted rows, float64 [m]: one walk along both rows per pair."""
    result = np.empty(len(rows))
    for place in range(len(rows)):
        a, last_a = indptr[rows[place]], indptr[rows[place] + 1]
        b, last_b = indptr[columns[place]], indptr[columns[place] + 1]
        total = 0.0
        while a < last_a and b < last_b:
            if indices[a] == indices[b]:
                total += np.float64(data[a]) * np.float64(data[b])
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                a += 1
            else:
                b += 1
        result[place] = total
    return result


def overlay(A_hat: csr_array, H: csr_array) -> csr_array:
    """Σ_e A_e = Σ_e S_e Â S_e = Â ∘ (H Hᵀ) (Eq. 3 summed over all hyperedges), n × n, with Â's own sparsity.

    H Hᵀ is only evaluated where Â is set, so nothing denser than Â is ever made.
    """
    entries = A_hat.tocoo()
    rows, columns = entries.coords
    memberships = csr_array(H)
    memberships.sum_duplicates()
    values = _row_products(memberships.indptr, memberships.indices, memberships.data, rows, columns)
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
    if normalisation not in ("edge", "paper"):
        raise ValueError(f"no normalisation {normalisation!r}")
    return Sparse.of(normalise(hypergraph.H.astype(np.float64), 0.5, 0.5 if normalisation == "edge" else 0.0))


def bounded(G: Sparse) -> Sparse:
    """G such that a Θ = G Gᵀ of a norm above 8 has norm 1: it is divided by a number, and W multiplied by it.

    As printed, Θ's norm grows with the size of hyperedges: 2 to 4 for neighbourhoods, 250 to 1,700 for centralities and
    codes, with which the first gradients overflow. σ(Θ X W) is the same function of the free W; a step of Adam is
    not, which is what this is for.
    """
    x = torch.ones(G.shape[0], 1) / math.sqrt(max(1, G.shape[0]))
    norm = 0.0
    for _ in range(_POWER_STEPS):
        x = multiply(G.forward, multiply(G.backward, x))
        norm = float(torch.linalg.vector_norm(x))
        if norm == 0:
            return G
        x /= norm
    if norm <= _LARGEST_NORM:
        return G
    by = 1 / math.sqrt(norm)
    return Sparse(G.forward.scaled(by), G.backward.scaled(by), G.shape)


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
