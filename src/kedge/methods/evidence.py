"""The evidence method: candidates ranked by belief, in the form that held-back anchors prefer."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.choice import FORMS, choose, ranking_scores
from kedge.types import Problem

__all__ = ["align", "settle"]


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    form = FORMS[settle(problem, config, seed).evidence.form]
    ranked = ranking_scores(form(problem, config.evidence))
    left, right = problem.anchors.T
    top = max(float(ranked.data.max()), 0.0) + 1.0 if ranked.nnz else 1.0
    anchors = csr_array((np.full(len(left), top), (left, right)), shape=ranked.shape)
    return SparseAlignment(csr_array((ranked + anchors).astype(np.float32)))


def settle(problem: Problem, config: Config, seed: int) -> Config:
    """The configuration with the form chosen, so that runs with fewer anchors need not choose again."""
    if config.evidence.form != "auto":
        return config
    form = choose(problem, config.evidence, seed)
    return config.model_copy(update={"evidence": config.evidence.model_copy(update={"form": form})})
