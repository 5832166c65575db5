"""Evidence propagation as a method: candidates ranked by belief, in the form that validation anchors prefer."""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence import (
    FORMS,
    Where,
    choose_form,
    choose_profile_weight,
    may_divide,
    profile_prior,
    rank_candidates,
    realign,
)
from kedge.linalg import SparseAlignment
from kedge.types import Problem

__all__ = ["align", "choose_settings", "divides", "realign"]


def align(problem: Problem, config: Config, context: RunContext) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or profiles reach, and of the anchors above them."""
    config = choose_settings(problem, config, context)
    where = Where.of(config.engine, context)
    found = FORMS[config.evidence.form](problem, config.evidence, profiles=profile_prior(problem, config), where=where)
    return rank_candidates(problem, found)


def choose_settings(problem: Problem, config: Config, context: RunContext) -> Config:
    """The form of the evidence, and how much profiles count beside structure."""
    return choose_profile_weight(problem, choose_form(problem, config), context)


def divides(problem: Problem, config: Config) -> bool:
    """Whether rounds may run in blocks, and elsewhere."""
    return may_divide(problem, config.evidence, problem.profiles is not None)
