"""FINAL (Zhang, Tong; KDD 2016), FINAL-N without attributes: aligned pairs have aligned neighbours.

    s = α D^-1/2 (A_2 ⊗ A_1) D^-1/2 s + (1 - α) h,    D = D_2 ⊗ D_1,    α = 0.82

which is S = α Ã_1 S Ã_2 + (1 - α) H with Ã = D^-1/2 A D^-1/2. Deviations: no attributes of accounts or edges, so that
the paper's N and E are all ones; H are the anchors (without anchors every pair alike).

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

_ALPHA = 0.82


def _balanced(network: Network) -> csr_array:
    """D^-1/2 A D^-1/2."""
    pattern = network.adjacency.astype(bool).astype(np.float32)
    scale = diags_array(np.maximum(network.degrees, 1) ** -0.5)
    return csr_array((scale @ pattern @ scale).tocsr())


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """The best of S for each account. Not random: `seed` is unused."""
    del seed
    refuse_large(problem, config, "final")
    left, right = _balanced(problem.left), _balanced(problem.right)
    S = spread(left, right, seed_scores(problem), _ALPHA, config.baselines.rounds)
    return keep_best(problem, S, config.baselines.keep)
