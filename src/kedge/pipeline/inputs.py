"""What goes into matching: where it comes from, and the problem that is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kedge.config import Config
from kedge.context import Progress
from kedge.ingest import build_problem, hub_warning, read_network, read_pairs, resolve_pairs
from kedge.methods import find_method
from kedge.pipeline.hypergraphs import refuse_unused_hypergraphs, with_hypergraphs
from kedge.pipeline.notes import anchor_notes
from kedge.types import Problem


@dataclass(frozen=True)
class Inputs:
    """Where the networks, the anchors and perhaps the held-out pairs come from: paths or objects.

    `hypergraphs` are the user's own hyperedges of the left and of the right network, None where kedge builds them.
    """

    left: Any
    right: Any
    anchors: Any
    test: Any | None = None
    hypergraphs: tuple[Any | None, Any | None] = (None, None)


def read_problem(inputs: Inputs, config: Config, progress: Progress) -> Problem:
    """The two networks, the observed anchors, and hypergraphs that the user gave."""
    method = find_method(config.method)
    method.check_installed()
    refuse_unused_hypergraphs(inputs.hypergraphs, method)
    progress.stage("reading the left network")
    left, _ = read_network(inputs.left, config.read)
    progress.stage("reading the right network")
    right, _ = read_network(inputs.right, config.read)
    columns = read_pairs(inputs.anchors, config.read)
    resolved = resolve_pairs(columns, left, right)
    for note in resolved.report.notes:
        progress.note(f"anchors: {note}")
    problem = build_problem(left, right, resolved, columns, config.read.contradictory)
    if resolved.report.contradictory:
        progress.note(f"{resolved.report.contradictory:,} anchors give one account several partners and are left out")
    problem = with_hypergraphs(problem, (left, right), inputs.hypergraphs, config, progress)
    hubs = (hub_warning(side, network) for side, network in (("left", problem.left), ("right", problem.right)))
    for note in (*filter(None, hubs), *anchor_notes(problem, method)):
        progress.note(note)
    return problem
