"""A finished run read back from its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.link.calibrate import Calibrator
from kedge.link.decide import decide
from kedge.link.evidence import Evidence
from kedge.methods import evidenced
from kedge.pipeline.layout import DECIDED, HYPERGRAPH_FILES, PARTS, PRIOR, SETTLED, SUPPORT, TRAINING
from kedge.pipeline.solution import Solution
from kedge.store import ALIGNMENT, ARRAYS, JSON, NETWORK, SPARSE, TABLE, from_plain, load_column, read_manifest
from kedge.types import DECISIONS, Hypergraph, Matches, Problem

__all__ = [
    "Contents",
    "load_contents",
    "load_decided",
    "load_evidence",
    "load_matches",
    "load_mixture",
    "load_problem",
    "load_run",
]


def _refuse_unfinished(directory: Path, *more: str) -> Mapping[str, Any]:
    manifest = read_manifest(directory)
    missing = any(not (directory / name).exists() for name in ("matches.parquet", *more))
    if "decide" not in manifest["stages"] or missing:
        raise KedgeError("the run is not finished", file=directory, remedy="run its `kedge match` command again")
    return manifest


def load_run(directory: Path) -> tuple[Solution, Config, Mapping[str, Any]]:
    """A finished run from its directory alone: what was found, how it was asked, and the manifest."""
    manifest = _refuse_unfinished(directory)
    config = Config.model_validate(manifest["config"])
    return _load_solution(directory, config), config, manifest


def load_decided(directory: Path) -> tuple[Problem, Matches, Config, Mapping[str, Any]]:
    """A finished run as it was decided, without its scores: quicker than `load_run` where only looking is meant."""
    manifest = _refuse_unfinished(directory)
    problem = load_problem(directory)
    file = directory / "matches.parquet"
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
    )
    return problem, matches, Config.model_validate(manifest["config"]), manifest


def load_problem(directory: Path) -> Problem:
    """The networks and the anchors of a run, and the hypergraphs that the user gave."""
    left, right = (NETWORK.load(directory / "networks" / f"{side}.npz") for side in ("left", "right"))
    known = ARRAYS.load(directory / "networks" / "anchors.npz")
    kept = {record["artefact"] for record in read_manifest(directory)["stages"].values()}
    own = [Hypergraph(SPARSE.load(directory / file)) if file in kept else None for file in HYPERGRAPH_FILES]
    rejected = known.get("rejected", np.empty((0, 2), np.int64))
    return Problem(left, right, known["anchors"], rejected, (own[0], own[1]))


def _load_solution(directory: Path, config: Config) -> Solution:
    problem = load_problem(directory)
    calibrator = from_plain(Calibrator, JSON.load(directory / "model" / "calibration.json"))
    alignment = ALIGNMENT.load(directory / "model" / "scores.npz")
    return Solution(problem, alignment, calibrator, decide(problem, alignment, calibrator, config))


@dataclass(frozen=True)
class Contents:
    """What lies in the directory of a finished run, as it was written: nothing is computed again.

    A pair was called a match from `threshold` on. `metrics` and `evaluation` are of the test pairs, None where the run
    had none; `training` and `parts` are there only if the method left them (`layout` says what is in them).
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
    manifest = _refuse_unfinished(directory, DECIDED)
    held = {}
    for name in ("metrics.json", "evaluation.json", TRAINING, PARTS):
        path = directory / name
        held[name] = JSON.load(path) if path.exists() else None
    metrics = held["metrics.json"]
    return Contents(
        manifest=manifest,
        config=Config.model_validate(manifest["config"]),
        problem=load_problem(directory),
        calibrator=from_plain(Calibrator, JSON.load(directory / "model" / "calibration.json")),
        table=TABLE.load(directory / "matches.parquet"),
        threshold=float(JSON.load(directory / DECIDED)["threshold"]),
        metrics=metrics if metrics and metrics.get("test_pairs") else None,
        evaluation=held["evaluation.json"],
        training=held[TRAINING],
        parts=held[PARTS],
    )


def load_evidence(directory: Path, problem: Problem, config: Config) -> Evidence | None:
    """What explains the log-odds of a run's pairs; None where its method left nothing of the kind."""
    method = evidenced(config.method)
    if method is None or not (directory / SUPPORT).exists():
        return None
    prior = SPARSE.load(directory / PRIOR) if (directory / PRIOR).exists() else None
    found: Evidence = method.recall(problem, SPARSE.load(directory / SUPPORT), prior)
    return found


def load_mixture(directory: Path) -> tuple[float, ...]:
    """The weights by which candidates stand in another order than that of their log-odds; none where they do not."""
    settled = JSON.load(directory / SETTLED) if (directory / SETTLED).exists() else None
    return tuple(settled["pairing"]["mixture"]) if settled and settled["method"] == "kedge" else ()


def load_matches(directory: Path, candidates: int) -> pa.Table:
    """The table of matches of a finished run, decided anew where more candidates are asked for than it kept."""
    config = Config.model_validate(_refuse_unfinished(directory)["config"])
    if candidates <= config.candidates:
        table: pa.Table = TABLE.load(directory / "matches.parquet")
        return table
    return _load_solution(directory, config.model_copy(update={"candidates": candidates})).matches.table()
