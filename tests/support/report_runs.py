"""Runs for tests and benchmarks of the report, made of numbers instead of by matching: any size at once."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kedge.config import Config
from kedge.decide.decisions import choose_threshold, threshold_grid
from kedge.evaluation.breakdowns import breakdown
from kedge.probability.calibration import fit_folds
from kedge.store import ARRAYS, JSON, NETWORK, TABLE, Contents, hash_file, to_plain, write_manifest
from kedge.store.manifest import FORMAT
from kedge.types import Matches, Network, Problem

# As a method leaves them: `kedge.store.layout` describes both.
TRAINING = {
    "curves": {
        "loss": {
            side: [round(2 * 0.97**i + at, 4) for i in range(300)] for side, at in (("left", 0.3), ("right", 0.4))
        },
        "held-out hits@10": {"both": [round(0.6 - 0.5 * 0.95**i, 4) for i in range(60)]},
    }
}
PARTS = {"left": [4200, 3100, 1800, 900, 310], "right": [3900, 3300, 1500, 700, 420, 80]}
HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "\"><svg onload='alert(2)'>",
    "<!--",
    "]]><script>alert(3)</script>",
    "txt.\u202egpj\u2066.exe",
    "javascript:alert(4)",
    "&lt;b&gt; & {{7*7}} ${1}",
    "line\nbreak\0and\x1b[31m",
    "a" * 5000,
]
STAGES = ("left-network", "calibration", "scores", "matches")


def facts_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="facts">(.*?)</script>', page, re.S)
    assert found is not None
    facts: dict[str, Any] = json.loads(found[1])
    return facts


def make_contents(
    n: int = 300,
    *,
    held_out: int = 200,
    tested: bool = True,
    likely: float = 0.7,
    names: list[str] | None = None,
    inputs: tuple[str, str] = ("left.tsv", "right.tsv"),
    settings: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    parts: dict[str, Any] | None = None,
) -> Contents:
    """A run over n accounts a side, a tenth of them anchors; account i's partner is i. Two candidates an account."""
    rng = np.random.default_rng(7)
    known = n // 10
    edges = np.column_stack([rng.integers(n, size=4 * n), (n * rng.random(4 * n) ** 2).astype(int)])
    ids = [[f"{side}{i}" for i in range(n)] for side in "lr"]
    for place, name in enumerate(names or ()):
        ids[0][known + place] = ids[1][known + place] = name
    left, right = (Network.from_edges(edges[s::2], n, ids[s]) for s in (0, 1))
    problem = Problem(left, right, np.column_stack([np.arange(known)] * 2))
    free = np.arange(known, n)
    p = np.clip(rng.beta(4, 2, len(free)) * likely / 0.7, 0, 0.999)
    if names:
        p[: len(names)] = np.linspace(0.999, 0.998, len(names))
    partner = np.where(rng.random(len(free)) < p, free, np.roll(free, 1))
    config = Config.model_validate({"decide": {"threshold": 0.6}} if settings is None else settings)
    predicted = rng.beta(4, 2, held_out)
    calibrator = replace(
        fit_folds([]),
        validated=held_out + held_out // 20,
        predicted=predicted,
        predicted_given_counterpart=predicted,
        correct=rng.random(held_out) < predicted,
        without_candidates=held_out // 20,
        notes=(),
    )
    threshold = choose_threshold(p, config)
    decided = np.where(p >= threshold, 2, np.where(p >= min(config.decide.review, threshold), 1, 0))
    both = len(free)
    matches = Matches(
        left_ids=left.ids,
        right_ids=right.ids,
        left=np.repeat(free, 2),
        right=np.column_stack([partner, np.roll(partner, 3)]).ravel(),
        rank=np.tile([1, 2], both),
        score=np.column_stack([10 * p, 5 * p]).ravel(),
        probability=np.column_stack([p, 0.1 * (1 - p)]).ravel().astype(np.float32).astype(np.float64),
        margin=np.column_stack([5 * p, -5 * p]).ravel(),
        decision=np.column_stack([decided, np.zeros(both, int)]).ravel(),
        counterpart=np.ones(2 * both),
        assigned=np.tile([True, False], both),
        threshold=threshold,
    )
    test = np.column_stack([free, free]) if tested else None
    shares = {"hits1": 0.6, "hits5": 0.8, "hits10": 0.85, "hits30": 0.9, "mrr": 0.7}
    metrics = {"left_to_right": shares, "right_to_left": shares, "ece": 0.05, "test_pairs": len(free)}
    stage = {"artefact": "x", "bytes": 1000, "sha256": "0" * 64, "cpu_seconds": 1.25, "peak_mb": 200.0}
    given = (*inputs, "anchors.tsv")
    manifest = {
        "format": FORMAT,
        "run_id": "0123456789ab",
        "created": "2026-01-02T03:04:05Z",
        "versions": {"python": "3.11", "kedge": "0.1.0"},
        "seed": config.seed,
        "inputs": {
            role: {"name": name, "bytes": 12345, "sha256": f"{i}" * 64}
            for i, (role, name) in enumerate(zip(("left", "right", "anchors"), given, strict=True))
        },
        "config": config.identity(),
        "stages": dict.fromkeys(STAGES, stage),
    }
    return Contents(
        name="run",
        manifest=manifest,
        config=config,
        problem=problem,
        calibrator=calibrator,
        table=matches.table(),
        threshold=threshold,
        metrics=metrics if tested else None,
        evaluation=breakdown(problem, matches, test, [0.0, *threshold_grid(threshold)], 0),
        training=training,
        parts=parts,
    )


def write_contents(contents: Contents, directory: Path) -> Path:
    """The same run as a directory, as far as a report reads it."""
    artefacts: list[tuple[str, Any, Any]] = [
        ("metrics.json", JSON, contents.metrics),
        ("evaluation.json", JSON, contents.evaluation),
        ("model/calibration.json", JSON, to_plain(contents.calibrator)),
        ("networks/left.npz", NETWORK, contents.problem.left),
        ("networks/right.npz", NETWORK, contents.problem.right),
        ("networks/anchors.npz", ARRAYS, {"anchors": np.asarray(contents.problem.anchors)}),
        ("matches.parquet", TABLE, contents.table),
        ("decided.json", JSON, {"threshold": contents.threshold}),
    ]
    files = {}
    for name, kind, value in artefacts:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            kind.dump(value, file)
        files[name] = {part: hash_file(path)[part] for part in ("bytes", "sha256")}
    write_manifest(directory, {**contents.manifest, "files": files})
    return directory


def without_rows(contents: Contents) -> pa.Table:
    """The table of a run in which no account had any candidate."""
    return contents.table.slice(0, 0)
