"""From probabilities to decisions: one-to-one assignment, threshold, and the explanation of a pair."""

from kedge.decide.decisions import decide, threshold_grid, thresholds
from kedge.decide.explanation import Explanation, PairEvidence, as_dict, as_text, explain, steps_of

__all__ = [
    "Explanation",
    "PairEvidence",
    "as_dict",
    "as_text",
    "decide",
    "explain",
    "steps_of",
    "threshold_grid",
    "thresholds",
]
