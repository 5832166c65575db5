"""What `kedge check` shows: facts, warnings and a cost estimate before matching, and anchors that seem wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from kedge import ingest
from kedge.config import Config
from kedge.context import Progress
from kedge.pipeline.inputs import Inputs, estimate_cost, hold_pipes
from kedge.pipeline.profiles import check_profiles
from kedge.pipeline.suspects import examine_anchors, suspect_table
from kedge.types import KedgeError


def check_inputs(
    inputs: Inputs, config: Config, progress: Progress, *, suspects: bool = False
) -> tuple[dict[str, Any], pa.Table | None]:
    """The facts, and with `suspects` the table of anchors that the rest of the evidence contradicts."""
    if suspects and inputs.anchors is None:
        raise KedgeError("there are no anchors to examine", remedy="give them with --anchors")
    names = _name(inputs.left, "the left network"), _name(inputs.right, "the right network")
    inputs = hold_pipes(inputs, config)
    progress.stage(f"reading {names[0]}")
    left = ingest.read_network(inputs.left, config.read, "left")
    progress.stage(f"reading {names[1]}")
    right = ingest.read_network(inputs.right, config.read, "right")
    networks, known = (left[0], right[0]), None
    if inputs.anchors is not None:
        resolved = ingest.resolve_pairs(ingest.read_pairs(inputs.anchors, config.read), *networks)
        known = (resolved.pairs, resolved.report)
    fields: dict[str, Any] = {}
    if any(source is not None for source in inputs.profiles):
        pairs = None if known is None else known[0]
        fields = check_profiles(inputs.profiles, networks, pairs, config, progress)
    found = 0 if known is None else known[1].found
    cost = estimate_cost(*networks, found, config, len(fields.get("fields", ())))
    facts = ingest.check(left, right, known, cost).as_dict() | fields
    if not suspects:
        return facts, None
    problem, wrong = examine_anchors(Inputs(inputs.left, inputs.right, inputs.anchors), config, progress)
    table = suspect_table(problem, wrong)
    facts["suspects"] = {
        "examined": wrong.examined,
        "share": wrong.share,
        "unrelated": wrong.unrelated,
        "note": wrong.notes[0] if wrong.unrelated else "",
        "table": table.to_pylist(),
    }
    return facts, table


def _name(source: Any, otherwise: str) -> str:
    return Path(source).name if isinstance(source, str | Path) else otherwise
