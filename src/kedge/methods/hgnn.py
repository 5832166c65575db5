"""HGNN (Feng, You, Zhang, Ji, Gao; AAAI 2019) trained on edges (the KDD paper's Eq. 10), then the shared phase 2.

    Z = P relu(P Θ_0) Θ_1,      P = D_v^-1/2 H W D_e^-1 H^T D_v^-1/2

`baselines.convolution = linear` is MGCN's upper level alone with theta = edge and its defaults: σ = identity, Θ = I,
unit vectors, edges dropped in training.

Deviations: W = I, as the authors set it; the hypergraph is the user's own or that of `config.hypergraph`, by default
each account's nearest, with memberships between 0 and 1; no features (one-hot accounts) and no labels, so trained on
edges; no dropout. Cost: `baselines.steps` products with H (n · nearest · d), n d² and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment
from kedge.methods.shared.embedded import align_on_hyperedges, edge_vectors
from kedge.types import FloatArray, Hypergraph, Problem

_CHANGES = {"levels": "hypergraph", "theta": "edge", "gate": "fixed", "release": 0}


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""

    def convolve(source: Source, drawn: Hypergraph) -> FloatArray:
        if config.baselines.convolution == "linear":
            return edge_vectors("hgnn", source, drawn, config, _CHANGES)
        from kedge.methods.shared.convolved import convolved_vectors
        from kedge.mgcn.layers import convolve_hypergraph, factor_theta

        G = factor_theta(drawn, "edge")
        return convolved_vectors("hgnn", source, lambda X: convolve_hypergraph(G, X, None, "none"), config)

    return align_on_hyperedges("hgnn", problem, config, context, convolve)
