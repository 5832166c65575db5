"""The run directory: every file in it, and the stage that writes it.

`model/training.json` is how training went: `{"curves": {quantity: {name: [value of each step, ...]}}}`. The report
draws one chart for each quantity with one line for each name, such as `{"curves": {"loss": {"left": [0.9, 0.4]}}}`.
`model/parts.json` is how the networks were cut: `{"left": [accounts of each part, ...], "right": [...]}`. A method that
trains nothing leaves both out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kedge.store.formats import (
    ALIGNMENT,
    ARRAYS,
    CALIBRATOR,
    FITTED_FIELDS,
    JSON,
    NETWORK,
    SETTINGS_JSON,
    SPARSE,
    SUSPECT_PAIRS,
    TABLE,
    Format,
)

MANIFEST: Final = "manifest.json"
CONFIG: Final = "config.toml"
DECIDED: Final = "decided.json"  # the threshold from which a pair was called a match, and how many were
METRICS: Final = "metrics.json"
EVALUATION: Final = "evaluation.json"
HELD_OUT: Final = "networks/held_out.parquet"  # ids of the pairs that metrics are measured on; null: in no edge
AUDIT: Final = "audit.json"  # the sample of an audit, with the answers that decisions use
AUDIT_CSV: Final = "audit.csv"  # the same for people, where they named no other file
REPORT: Final = "report.html"
DECISIONS_FILE: Final = "decisions.sqlite"  # the log of the reviewers
EMBEDDINGS: Final = "embeddings"  # vectors, one file for each part or network, named by their content


@dataclass(frozen=True)
class Stage:
    """A step of a run: a stable `id` for the manifest, a `label` for people, and the file that it leaves.

    `names_accounts`: whether the file has data of single accounts; a purge does not touch it otherwise.
    """

    id: str
    label: str
    file: str
    format: Format[Any]
    names_accounts: bool = True


NETWORKS: Final = tuple(
    Stage(f"{side}-network", f"saving the {side} network", f"networks/{side}.npz", NETWORK)
    for side in ("left", "right")
)
HYPERGRAPHS: Final = tuple(
    Stage(f"{side}-hypergraph", f"saving the {side} hypergraph", f"networks/{side}_hypergraph.npz", SPARSE)
    for side in ("left", "right")
)
PROFILES: Final = tuple(
    Stage(f"{side}-profiles", f"saving the {side} profiles", f"networks/{side}_profiles.parquet", TABLE)
    for side in ("left", "right")
)
SHARED_VALUES: Final = tuple(
    Stage(f"{side}-values", f"saving the shared values of the {side} network", f"networks/{side}_values.npz", SPARSE)
    for side in ("left", "right")
)
ANCHORS: Final = Stage("anchors", "saving the anchors", "networks/anchors.npz", ARRAYS)
SETTINGS: Final = Stage("settings", "choosing settings", "model/settled.json", SETTINGS_JSON, names_accounts=False)
TRAINING: Final = Stage("training", "embedding the networks", "model/training.json", JSON, names_accounts=False)
PARTS: Final = Stage("parts", "saving the parts", "model/parts.json", JSON, names_accounts=False)
SUSPECTS: Final = Stage("suspects", "examining the anchors", "model/suspects.npz", SUSPECT_PAIRS)
SCORES: Final = Stage("scores", "scoring pairs", "model/scores.npz", ALIGNMENT)
SUPPORT: Final = Stage("support", "saving the evidence", "model/support.npz", SPARSE)
PRIOR: Final = Stage("prior", "saving the vector evidence", "model/prior.npz", SPARSE)
FIELDS: Final = Stage(
    "fields", "saving the weights of the fields", "model/fields.json", FITTED_FIELDS, names_accounts=False
)
CALIBRATION: Final = Stage(
    "calibration", "calibrating on validation anchors", "model/calibration.json", CALIBRATOR, names_accounts=False
)
MATCHES: Final = Stage("matches", "deciding", "matches.parquet", TABLE)

STAGES: Final = {
    stage.id: stage
    for stage in (
        *NETWORKS,
        *HYPERGRAPHS,
        *PROFILES,
        *SHARED_VALUES,
        ANCHORS,
        SETTINGS,
        TRAINING,
        PARTS,
        SUSPECTS,
        SCORES,
        SUPPORT,
        PRIOR,
        FIELDS,
        CALIBRATION,
        MATCHES,
    )
}
