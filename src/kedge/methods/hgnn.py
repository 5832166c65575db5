"""HGNN (Feng, You, Zhang, Ji, Gao; AAAI 2019) trained on edges (the KDD paper's Eq. 10), then the shared phase 2.

    X' = σ(D_v^-1/2 H W D_e^-1 H^T D_v^-1/2 X Θ)

It is MGCN's upper level alone with theta = edge. Deviations: W = I, as the authors set it; as MGCN's default
(`config.mgcn`): free first vectors, σ = identity and Θ = I, unit vectors; the hypergraph is the user's own or that of
`config.hypergraph`, by default each account's nearest; no labels, so trained on edges. Cost: `mgcn.steps`
products with H (n · nearest · d) and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.embedding.part import hyperedges
from kedge.embedding.plan import looks_at_anchors
from kedge.hypergraph import build_hypergraph
from kedge.methods.edge_likelihood import vectors_by_edges
from kedge.methods.embedded import align_vectors
from kedge.methods.every_pair import need_anchors
from kedge.methods.keeping import keep_vectors
from kedge.types import Hypergraph, Network, Problem
from kedge.workshop import Workshop

__all__ = ["align"]


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Both networks convolved by themselves, the right one moved into the left one's space (Eq. 11)."""
    need_anchors(problem, "hgnn")
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]

    def draw(network: Network, side: int) -> Hypergraph:
        if (own := problem.hypergraphs[side]) is not None:
            return own
        return build_hypergraph(network, config.hypergraph, seeds[side], problem.anchors[:, side])

    changes = {"levels": "hypergraph", "theta": "edge", "gate": "fixed", "release": 0}
    known = [problem.anchors] if looks_at_anchors(config) else []
    left, right = keep_vectors(
        "hgnn",
        problem,
        config,
        seeds,
        workshop,
        lambda: vectors_by_edges(problem, config, seeds, "hgnn", changes, draw),
        *known,
        *(part for own in problem.hypergraphs for part in hyperedges(own)),
    )
    return align_vectors(problem, left, right, config.pairing, seeds[2])
