"""The evidence method: candidates ranked by their log-odds, the assigned partner first."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.evidence import Evidence, edge_rates, propagate
from kedge.types import Problem

__all__ = ["align", "recall", "scores"]


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:  # noqa: ARG001 - nothing is random here
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    return scores(problem, propagate(problem, config.evidence))


def scores(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Log-odds, raised for assigned pairs so that they lead their row and column; anchors lead everything.

    Among accounts that the networks cannot tell apart the assignment chooses consistently, where a tie would
    rank them all behind each other.
    """
    L = evidence.log_odds
    if L.nnz == 0:
        return SparseAlignment(csr_array(L.astype(np.float32)))
    rows = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    best_left = np.full(L.shape[0], -np.inf)
    best_right = np.full(L.shape[1], -np.inf)
    np.maximum.at(best_left, rows, L.data)
    np.maximum.at(best_right, L.indices, L.data)
    lead = np.maximum(best_left[rows], best_right[L.indices])
    data = np.where(evidence.assigned, np.maximum(L.data, lead + 1e-3), L.data)
    return SparseAlignment(csr_array((data.astype(np.float32), L.indices, L.indptr), shape=L.shape))


def recall(problem: Problem, support: csr_array) -> Evidence:
    """As much of the evidence as `link.evidence.terms` needs, from the beliefs that a run kept."""
    s, t = edge_rates(problem)
    empty: csr_array = csr_array(support.shape, dtype=np.float64)
    return Evidence(
        log_odds=empty, support=support, beliefs=support, assigned=np.zeros(0, bool), s=s, t=t, rounds=0, trace=()
    )
