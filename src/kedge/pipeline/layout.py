"""Names of files in a run directory that both its writers and its readers need, and what is in them.

`training.json` is how learning went: `{"curves": {quantity: {name: [value a step, ...]}}}`, one chart of the report a
quantity and one line a name, such as `{"curves": {"loss": {"left": [0.9, 0.4], "right": [0.8, 0.5]}}}`.
`parts.json` is how the networks were cut: `{"left": [accounts of a part, ...], "right": [...]}`. A method that has
nothing to say leaves them out.
"""

from typing import Final

__all__ = [
    "ACCOUNT_FREE",
    "DECIDED",
    "EMBEDDINGS",
    "HYPERGRAPH_FILES",
    "PARTS",
    "PRIOR",
    "REPORT",
    "SETTLED",
    "SUPPORT",
    "TRAINING",
]

SETTLED: Final = "model/settled.json"  # the configuration with nothing left open
SUPPORT: Final = "model/support.npz"
PRIOR: Final = "model/prior.npz"
TRAINING: Final = "model/training.json"
PARTS: Final = "model/parts.json"
DECIDED: Final = "decided.json"  # the threshold from which a pair was called a match, and how many were
HYPERGRAPH_FILES: Final = ("networks/left_hypergraph.npz", "networks/right_hypergraph.npz")  # the user's own
EMBEDDINGS: Final = "embeddings"  # trained vectors, a file a part or network, named by their content
REPORT: Final = "report.html"
# Artefacts of stages in which no account can be told from another: a purge leaves them as they are.
ACCOUNT_FREE: Final = frozenset({SETTLED, "model/calibration.json", TRAINING, PARTS})
