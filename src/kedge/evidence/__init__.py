"""Evidence propagation, kedge's own algorithm: rounds, kernels, beliefs, the dense form, and its settings."""

from kedge.evidence.forms import FORMS
from kedge.evidence.model import Evidence, Term, recall, terms
from kedge.evidence.prior import refine, signals_of_candidates
from kedge.evidence.ranking import COLUMNS, mix, rank_candidates
from kedge.evidence.settings import choose_form, choose_settings, refinements_at_most, with_vectors

__all__ = [
    "COLUMNS",
    "FORMS",
    "Evidence",
    "Term",
    "choose_form",
    "choose_settings",
    "mix",
    "rank_candidates",
    "recall",
    "refine",
    "refinements_at_most",
    "signals_of_candidates",
    "terms",
    "with_vectors",
]
