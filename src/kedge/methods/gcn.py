"""GCN as the paper's baseline: graph convolution (Eq. 7) trained on edges (Eq. 10), then the shared phase 2.

The paper cites Defferrard, Bresson, Vandergheynst (NIPS 2016) and prints the first-order filter of Kipf and Welling
(ICLR 2017), X' = σ(Â X W). It is MGCN whose one hyperedge holds every account.

Deviations: as MGCN's default (`config.mgcn`): free first vectors, σ = identity and W = I, unit vectors; Chebyshev
filters of order 1. Cost: `mgcn.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.methods.edge_likelihood import vectors_by_edges
from kedge.methods.embedded import align_vectors
from kedge.methods.every_pair import need_anchors
from kedge.methods.keeping import keep_vectors
from kedge.types import Hypergraph, Network, Problem
from kedge.workshop import Workshop

__all__ = ["align"]


def _everybody(network: Network, side: int) -> Hypergraph:
    """One hyperedge with all accounts."""
    del side
    return Hypergraph(csr_array(np.ones((network.n, 1), np.float32)))


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Both networks convolved by themselves, the right one moved into the left one's space (Eq. 11)."""
    need_anchors(problem, "gcn")
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    changes = {"levels": "simple", "fusion": "linear", "gate": "fixed", "release": 0}
    left, right = keep_vectors(
        "gcn",
        problem,
        config,
        seeds,
        workshop,
        lambda: vectors_by_edges(problem, config, seeds, "gcn", changes, _everybody),
    )
    return align_vectors(problem, left, right, config.pairing, seeds[2])
