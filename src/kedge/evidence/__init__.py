"""Evidence propagation, kedge's own algorithm: rounds, kernels, beliefs, the dense form, and its settings."""

from kedge.evidence.again import realign
from kedge.evidence.blocks import Where
from kedge.evidence.forms import FORMS
from kedge.evidence.model import Evidence, recall
from kedge.evidence.pairing import (
    choose_form,
    choose_settings,
    refine,
    refinements_at_most,
    signals_of_candidates,
    with_vectors,
)
from kedge.evidence.profile_prior import ProfilePrior, profile_prior
from kedge.evidence.profile_weight import choose_profile_weight
from kedge.evidence.propagate import may_divide
from kedge.evidence.ranking import COLUMNS, mix, rank_candidates
from kedge.evidence.terms import Term, terms
