"""The evidence method: candidates ranked by their log-odds, the assigned partner first."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.evidence import Evidence, propagate
from kedge.types import Problem

__all__ = ["align", "scores"]


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:  # noqa: ARG001 - nothing is random here
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    return scores(problem, propagate(problem, config.evidence))


def scores(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Log-odds, raised for assigned pairs so that they lead their row and column; anchors lead everything.

    Among accounts that the networks cannot tell apart the assignment chooses consistently, where a tie would
    rank them all behind each other.
    """
    L = evidence.log_odds
    top = float(L.data.max()) if L.nnz else 0.0
    spread = top - float(L.data.min()) + 1.0 if L.nnz else 1.0
    ranked = csr_array((L.data + spread * evidence.assigned, L.indices, L.indptr), shape=L.shape)
    left, right = problem.anchors.T
    anchors = csr_array((np.full(len(left), top + 2 * spread), (left, right)), shape=L.shape)
    return SparseAlignment(csr_array((ranked + anchors).astype(np.float32)))
