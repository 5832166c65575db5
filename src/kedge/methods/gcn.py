"""GCN as the paper's baseline: graph convolution (Eq. 7) trained on edges (Eq. 10), then the shared phase 2.

The paper cites Defferrard, Bresson, Vandergheynst (NIPS 2016) and prints the first-order filter of Kipf and Welling
(ICLR 2017), X' = σ(Â X W). It is MGCN whose one hyperedge holds every account.

Deviations: as MGCN's default (`config.mgcn`): free first vectors, σ = identity and W = I, unit vectors; Chebyshev
filters of order 1. Cost: `mgcn.steps` products of |E| d and n · pool · d; no n × n matrix.
"""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.plan import Source
from kedge.linalg import VectorAlignment
from kedge.methods.shared.embedded import align_embedded, edge_vectors, one_hyperedge
from kedge.types import FloatArray, Problem

_CHANGES = {"levels": "simple", "fusion": "linear", "gate": "fixed", "release": 0}


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks convolved by themselves, the right one projected into the left one's space (Eq. 11)."""

    def convolve(source: Source) -> FloatArray:
        return edge_vectors("gcn", source, one_hyperedge(source.network), config, _CHANGES)

    return align_embedded("gcn", problem, config, context, convolve)
