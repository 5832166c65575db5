"""Evidence propagation as a method: candidates ranked by belief, in the form that validation anchors prefer."""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence import FORMS, choose_form, rank_candidates
from kedge.linalg import SparseAlignment
from kedge.types import Problem


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """Scores of the candidate pairs that evidence reaches, and of the anchors above them."""
    form = choose_form(problem, config).evidence.form
    return rank_candidates(problem, FORMS[form](problem, config.evidence))


def choose_settings(problem: Problem, config: Config, _context: RunContext) -> Config:
    """The form of the evidence, the only thing that settings may leave open here."""
    return choose_form(problem, config)
