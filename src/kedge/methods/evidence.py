"""The evidence method: candidates ranked by belief, in the form that held-back anchors prefer."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.choice import FORMS, choose, ranking_scores, weighed_scores
from kedge.link.evidence import Evidence, edge_rates
from kedge.link.profile import profile
from kedge.types import Problem
from kedge.workshop import Workshop

__all__ = ["align", "hear", "recall", "scores", "settle"]


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed))


def hear(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Evidence:
    """All that evidence says, in the form that the configuration names or held-back anchors prefer."""
    form = settle(problem, config, seed, workshop).evidence.form
    return FORMS[form](problem, config.evidence)


def scores(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Candidates ranked by belief, anchors above them, with the log-odds, or what takes their place, as strength.

    Log-odds say how strong a pair is by itself, the order how it stands among its rivals: probabilities hear both.
    """
    weighed = evidence.weighed
    ranked = ranking_scores(evidence) if weighed is None else weighed_scores(weighed)
    left, right = problem.anchors.T
    top = max(float(ranked.data.max()), 0.0) + 1.0 if ranked.nnz else 1.0
    anchors = csr_array((np.full(len(left), top), (left, right)), shape=ranked.shape)
    strengths = evidence.log_odds if weighed is None else weighed
    return SparseAlignment(csr_array(ranked + anchors), strengths, evidence.laid)


def recall(problem: Problem, support: csr_array, prior: csr_array | None = None) -> Evidence:
    """As much of the evidence as `link.evidence.terms` needs, from the beliefs that a run kept."""
    s, t = edge_rates(problem)
    empty: csr_array = csr_array(support.shape, dtype=np.float64)
    return Evidence(
        log_odds=empty,
        support=support,
        beliefs=support,
        assigned=np.zeros(0, bool),
        profile=profile(problem),
        s=s,
        t=t,
        rounds=0,
        trace=(),
        prior=prior,
    )


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """The configuration with the form chosen, so that runs with fewer anchors need not choose again."""
    del workshop  # nothing here takes long enough to be kept
    if config.evidence.form != "auto":
        return config
    form = choose(problem, config.evidence, seed)
    return config.model_copy(update={"evidence": config.evidence.model_copy(update={"form": form})})
