"""Evidence as an alignment: candidates in the order of belief; and evidence back from the beliefs that a run kept."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.evidence.degree_prior import fit_degree_prior
from kedge.evidence.form import ranking_scores, weighed_scores
from kedge.evidence.propagate import Evidence, edge_rates
from kedge.types import Problem, Support


def rank_candidates(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Candidates ranked by belief, anchors above them, with the log-odds, or what takes their place, as strength.

    Log-odds are the evidence for a pair alone, its rank compares it with its rivals: probabilities use both.
    """
    mixed = evidence.mixed
    ranked = ranking_scores(evidence) if mixed is None else weighed_scores(mixed)
    left, right = problem.anchors.T
    top = max(float(ranked.data.max()), 0.0) + 1.0 if ranked.nnz else 1.0
    anchors = csr_array((np.full(len(left), top), (left, right)), shape=ranked.shape)
    strengths = evidence.log_odds if mixed is None else mixed
    support = Support(evidence.support, evidence.prior)
    return SparseAlignment(csr_array(ranked + anchors), strengths, evidence.vectors, support)


def recall(problem: Problem, support: csr_array, prior: csr_array | None = None) -> Evidence:
    """As much of the evidence as `propagate.terms` needs, from the beliefs that a run saved."""
    s, t = edge_rates(problem)
    empty: csr_array = csr_array(support.shape, dtype=np.float64)
    return Evidence(
        log_odds=empty,
        support=support,
        beliefs=support,
        assigned=np.zeros(0, bool),
        degree_prior=fit_degree_prior(problem),
        s=s,
        t=t,
        rounds=0,
        trace=(),
        prior=prior,
    )
