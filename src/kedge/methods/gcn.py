"""GCN, one of the paper's baselines: graph convolution trained on edges (Eq. 10), then the shared phase 2.

The paper cites Defferrard, Bresson, Vandergheynst (NIPS 2016) and prints the first-order filter of Kipf and Welling
(ICLR 2017), which is here as they have it, with two layers:

    Z = P relu(P W_0) W_1,      P = D̃^-1/2 (A + I) D̃^-1/2,  D̃ the degrees of A + I

`baselines.convolution = linear` is the simple level of MGCN's defaults alone: Eq. 7's Â, σ = identity, W = I, unit
vectors, edges dropped in training.

Deviations: no features (one-hot accounts) and no labels, so trained on edges; no dropout; Chebyshev filters of order 1.
Cost: `baselines.steps` products of |E| d, n d² and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, eye_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment, normalise
from kedge.methods.shared.embedded import align_embedded, edge_vectors, one_hyperedge
from kedge.types import FloatArray, Network, Problem

_CHANGES = {"levels": "simple", "fusion": "linear", "gate": "fixed", "release": 0}


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""

    def convolve(source: Source) -> FloatArray:
        if config.baselines.convolution == "linear":
            return edge_vectors("gcn", source, one_hyperedge(source.network), config, _CHANGES)
        from kedge.linalg.spmm import Sparse, spmm
        from kedge.methods.shared.convolved import convolved_vectors

        P = Sparse.of(renormalise(source.network), symmetric=True)
        return convolved_vectors("gcn", source, lambda X: spmm(P, X), config)

    return align_embedded("gcn", problem, config, context, convolve)


def renormalise(network: Network) -> csr_array:
    """P = D̃^-1/2 (A + I) D̃^-1/2, n × n: Kipf and Welling add I first, then normalise."""
    return normalise(csr_array(network.adjacency.astype(np.float64) + eye_array(network.n)), 0.5, 0.5)
