"""From probabilities to decisions: one-to-one assignment, threshold, and the explanation of a pair."""

from kedge.decide.decisions import decide, threshold_grid, thresholds
from kedge.decide.explanation import Explanation, PairEvidence, as_dict, as_text, explain, steps_of
