"""FINAL (Zhang, Tong; KDD 2016), FINAL-N without attributes: aligned pairs have aligned neighbours.

    s = α D^-1/2 (A_2 ⊗ A_1) D^-1/2 s + (1 - α) h,    D = D_2 ⊗ D_1,    α = 0.82

which is S = α Ã_1 S Ã_2 + (1 - α) H with Ã = D^-1/2 A D^-1/2. Deviations: no attributes of accounts or edges, so that
the paper's N and E are all ones; H are the anchors (without anchors every pair alike).

Cost: |E_1| n_2 + |E_2| n_1 per round; memory: three n_1 × n_2 matrices of float32.
"""

from __future__ import annotations

import numpy as np

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory
from kedge.linalg import SparseAlignment, symmetric_walk
from kedge.methods.shared.pairs import keep_best
from kedge.methods.shared.spread import seed_scores, spread
from kedge.types import Problem

_ALPHA = 0.82  # the paper's


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The best of S for each account. The method is not random."""
    reuse_freed_memory()
    left, right = (symmetric_walk(network, np.float64) for network in (problem.left, problem.right))
    S = spread(left, right, seed_scores(problem), _ALPHA, config.baselines.rounds)
    return keep_best(problem, S, config.baselines.keep)
