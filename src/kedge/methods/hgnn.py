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
from kedge.embedding.part import hyperedges
from kedge.embedding.plan import Source, uses_anchors
from kedge.hypergraph import build_hypergraph
from kedge.linalg import VectorAlignment
from kedge.methods.shared.embedded import align_embedded, edge_vectors
from kedge.types import FloatArray, Problem

_CHANGES = {"levels": "hypergraph", "theta": "edge", "gate": "fixed", "release": 0}


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""

    def convolve(source: Source) -> FloatArray:
        drawn = source.hypergraph
        if drawn is None:
            settings, known = config.hypergraph, source.shared_values
            drawn = build_hypergraph(source.network, settings, source.seed, source.anchors, known)
        if config.baselines.convolution == "linear":
            return edge_vectors("hgnn", source, drawn, config, _CHANGES)
        from kedge.methods.shared.convolved import convolved_vectors
        from kedge.mgcn.layers import convolve_hypergraph, factor_theta

        G = factor_theta(drawn, "edge")
        return convolved_vectors("hgnn", source, lambda X: convolve_hypergraph(G, X, None, "none"), config)

    anchors = [problem.anchors] if uses_anchors(config) else []
    own = [part for given in (*problem.hypergraphs, *problem.shared_values) for part in hyperedges(given)]
    return align_embedded("hgnn", problem, config, context, convolve, *anchors, *own)
