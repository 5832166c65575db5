"""From probabilities to decisions: one-to-one assignment, threshold, and the explanation of a pair.

`explanation` and `steps` are reached directly: a match explains nothing.
"""

from kedge.decide.audited import correct, decide_audited
from kedge.decide.decisions import decide, decide_by_share, threshold_grid, thresholds
