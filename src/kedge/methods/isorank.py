"""IsoRank (Singh, Xu, Berger; PNAS 2008): two accounts are alike if their neighbours are.

    R(i, j) = α Σ_{u in N(i)} Σ_{v in N(j)} R(u, v) / (d_u d_v) + (1 - α) E(i, j),    α = 0.6

Deviations: E are the anchors, where the paper has the similarity of sequences (without anchors every pair alike); the
one-to-one matching that the paper reads off R greedily is left to kedge's assignment.

Cost: |E_1| n_2 + |E_2| n_1 per round; memory: three n_1 × n_2 matrices of float32.
"""

from __future__ import annotations

from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext, reuse_freed_memory
from kedge.linalg import SparseAlignment, normalise, pattern
from kedge.methods.shared.pairs import keep_best
from kedge.methods.shared.spread import seed_scores, spread
from kedge.types import Network, Problem

_ALPHA = 0.6  # the paper's


def _walk(network: Network) -> csr_array:
    """A D^-1: the score of an account is divided among its neighbours."""
    return normalise(pattern(network.adjacency), columns=1)


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The best of R for each account. The method is not random."""
    reuse_freed_memory()
    R = spread(_walk(problem.left), _walk(problem.right), seed_scores(problem), _ALPHA, config.baselines.rounds)
    return keep_best(problem, R, config.baselines.keep)
