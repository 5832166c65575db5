"""A finished run read back from its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kedge.config import Config
from kedge.evidence import Evidence, recall
from kedge.probability import Calibrator
from kedge.store.formats import JSON, load_column
from kedge.store.layout import (
    ANCHORS,
    CALIBRATION,
    DECIDED,
    EVALUATION,
    HYPERGRAPHS,
    MATCHES,
    METRICS,
    NETWORKS,
    PARTS,
    PRIOR,
    SCORES,
    SETTINGS,
    SUPPORT,
    TRAINING,
)
from kedge.store.manifest import read_manifest
from kedge.store.renamed import rename_evaluation
from kedge.types import DECISIONS, Alignment, Hypergraph, KedgeError, Matches, Problem


def refuse_unfinished(directory: Path, *more: str) -> Mapping[str, Any]:
    """The manifest of a finished run, or one line of error where it is not finished."""
    manifest = read_manifest(directory)
    missing = any(not (directory / name).exists() for name in (MATCHES.file, *more))
    if MATCHES.id not in manifest["stages"] or missing:
        raise KedgeError("the run is not finished", file=directory, remedy="run its `kedge match` command again")
    return manifest


@dataclass(frozen=True)
class Scored:
    """A finished run before its decisions: all that they follow from."""

    problem: Problem
    config: Config
    alignment: Alignment
    calibrator: Calibrator


def load_scored(directory: Path) -> Scored:
    """What a run decided from, with the user's settings."""
    manifest = refuse_unfinished(directory)
    return Scored(
        load_problem(directory),
        Config.model_validate(manifest["config"]),
        SCORES.format.load(directory / SCORES.file),
        load_calibrator(directory),
    )


def load_calibrator(directory: Path) -> Calibrator:
    """What a run learnt of its scores."""
    calibrator: Calibrator = CALIBRATION.format.load(directory / CALIBRATION.file)
    return calibrator


def load_threshold(directory: Path) -> float:
    """The probability from which a run called an assigned pair a match."""
    return float(JSON.load(directory / DECIDED)["threshold"])


def load_decided(directory: Path) -> tuple[Problem, Matches, Config, Mapping[str, Any]]:
    """A finished run as it was decided, without its scores: quicker than `load_scored` where only looking is meant."""
    manifest = refuse_unfinished(directory, DECIDED)
    problem = load_problem(directory)
    file = directory / MATCHES.file
    coded = {name: load_column(file, name, coded=True) for name in ("left", "right", "decision")}
    found = {
        "left": problem.left.find(coded["left"].dictionary),
        "right": problem.right.find(coded["right"].dictionary),
        "decision": np.array([DECISIONS.index(word) for word in coded["decision"].dictionary.to_pylist()], np.int8),
    }
    plain = ("rank", "score", "probability", "margin", "counterpart", "assigned")
    matches = Matches(
        left_ids=problem.left.ids,
        right_ids=problem.right.ids,
        **{name: found[name][np.asarray(coded[name].indices)] for name in found},
        **{name: load_column(file, name).to_numpy(zero_copy_only=False) for name in plain},
        threshold=load_threshold(directory),
    )
    return problem, matches, Config.model_validate(manifest["config"]), manifest


def load_problem(directory: Path) -> Problem:
    """The networks and the anchors of a run, and the hypergraphs that the user gave."""
    left, right = (stage.format.load(directory / stage.file) for stage in NETWORKS)
    known = ANCHORS.format.load(directory / ANCHORS.file)
    stages = read_manifest(directory)["stages"]
    own = [
        Hypergraph(stage.format.load(directory / stage.file)) if stage.id in stages else None for stage in HYPERGRAPHS
    ]
    rejected = known.get("rejected", np.empty((0, 2), np.int64))
    return Problem(left, right, known["anchors"], rejected, (own[0], own[1]))


@dataclass(frozen=True)
class Contents:
    """What lies in the directory of a finished run, as it was written: nothing is computed again.

    A pair was called a match from `threshold` on. `metrics` and `evaluation` are of the test pairs, None where the run
    had none; `training` and `parts` are there only if the method left them (`layout` describes them).
    """

    manifest: Mapping[str, Any]
    config: Config
    problem: Problem
    calibrator: Calibrator
    table: pa.Table
    threshold: float
    metrics: Mapping[str, Any] | None
    evaluation: Mapping[str, Any] | None
    training: Mapping[str, Any] | None
    parts: Mapping[str, Any] | None


def load_contents(directory: Path) -> Contents:
    """All that a report shows, read from a finished run."""
    manifest = refuse_unfinished(directory, DECIDED)
    held = {}
    for name in (METRICS, EVALUATION, TRAINING.file, PARTS.file):
        path = directory / name
        held[name] = JSON.load(path) if path.exists() else None
    metrics = held[METRICS]
    return Contents(
        manifest=manifest,
        config=Config.model_validate(manifest["config"]),
        problem=load_problem(directory),
        calibrator=load_calibrator(directory),
        table=MATCHES.format.load(directory / MATCHES.file),
        threshold=load_threshold(directory),
        metrics=metrics if metrics and metrics.get("test_pairs") else None,
        evaluation=None if held[EVALUATION] is None else rename_evaluation(held[EVALUATION]),
        training=held[TRAINING.file],
        parts=held[PARTS.file],
    )


def load_evidence(directory: Path, problem: Problem) -> Evidence | None:
    """What explains the log-odds of a run's pairs; None where its method left nothing of the kind."""
    if not (directory / SUPPORT.file).exists():
        return None
    prior = PRIOR.format.load(directory / PRIOR.file) if (directory / PRIOR.file).exists() else None
    return recall(problem, SUPPORT.format.load(directory / SUPPORT.file), prior)


def load_mixture(directory: Path) -> tuple[float, ...]:
    """The weights by which candidates stand in another order than that of their log-odds; none where they do not."""
    path = directory / SETTINGS.file
    return SETTINGS.format.load(path).pairing.mixture if path.exists() else ()
