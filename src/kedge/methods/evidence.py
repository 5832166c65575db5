"""The evidence method: candidates ranked by their log-odds, the assigned partner first."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.evidence import Evidence, propagate
from kedge.types import Problem

__all__ = ["align", "scores"]

_RAISE = 3.0  # in log-belief: an assigned pair overtakes rivals up to twenty times as believable
_LEAST = 1e-30


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:  # noqa: ARG001 - nothing is random here
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    return scores(problem, propagate(problem, config.evidence))


def scores(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Log-beliefs, raised a little for assigned pairs; anchors lead everything.

    A belief weighs a pair against the rivals of both its accounts, so it ranks better than the log-odds alone. Among
    accounts that the networks cannot tell apart the assignment chooses, consistently, where a tie would rank them
    all behind each other; the raise is too small to overrule clear evidence.
    """
    beliefs = evidence.beliefs
    # Beliefs may underflow; the log-odds still order what is left.
    data = np.log(np.maximum(beliefs.data, _LEAST)) + 1e-3 * np.clip(evidence.log_odds.data, -100, 100)
    ranked = csr_array((data + _RAISE * evidence.assigned, beliefs.indices, beliefs.indptr), shape=beliefs.shape)
    left, right = problem.anchors.T
    anchors = csr_array((np.full(len(left), 2.0 * _RAISE), (left, right)), shape=beliefs.shape)
    return SparseAlignment(csr_array((ranked + anchors).astype(np.float32)))
