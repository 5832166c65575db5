"""IsoRank (Singh, Xu, Berger; PNAS 2008): two accounts are alike if their neighbours are.

    R(i, j) = α Σ_{u in N(i)} Σ_{v in N(j)} R(u, v) / (d_u d_v) + (1 - α) E(i, j),    α = 0.6

Deviations: E are the anchors, where the paper has the similarity of sequences (without anchors every pair alike); the
one-to-one matching that the paper reads off R greedily is left to kedge's assignment.

Cost: |E_1| n_2 + |E_2| n_1 a round; memory three n_1 × n_2 matrices of float32, refused above `baselines.dense_cells`.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.methods.every_pair import keep_best, refuse_large, seed_scores, spread
from kedge.types import Network, Problem

__all__ = ["align"]

_ALPHA = 0.6


def _walk(network: Network) -> csr_array:
    """A D^-1: what an account says is divided by the number of those who hear it."""
    pattern = network.adjacency.astype(bool).astype(np.float32)
    return csr_array((pattern @ diags_array(1.0 / np.maximum(network.degrees, 1))).tocsr())


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """The best of R for each account. Not random: `seed` is unused."""
    del seed
    refuse_large(problem, config, "isorank")
    R = spread(_walk(problem.left), _walk(problem.right), seed_scores(problem), _ALPHA, config.baselines.rounds)
    return keep_best(problem, R, config.baselines.keep)
