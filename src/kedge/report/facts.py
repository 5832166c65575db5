"""The numbers of a report, counted from a run's contents: plain data, no markup, no id except in the rows of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.config import Config, flatten
from kedge.decide import correct, threshold_grid, thresholds
from kedge.evaluation import by_degree, calibration_error, histogram, made_and_right, reliability
from kedge.store import STAGES, Contents
from kedge.types import DECISIONS, FloatArray, Network

BINS: Final = 20  # of the histogram of validation anchors
FINE: Final = 50  # of the histogram of all assigned pairs
_ROWS: Final = 20


@dataclass(frozen=True)
class Curve:
    """What each threshold would give; `low` and `high` bound the precision (95 % interval)."""

    made: list[int]
    right: list[int]
    precision: list[float | None]
    low: list[float | None]
    high: list[float | None]
    recall: list[float | None]
    pairs: int


@dataclass(frozen=True)
class Validation:
    """The best candidates of validation anchors: known pairs, scored as if they were unknown."""

    pairs: int
    missing: int
    ece: float | None
    reliability: list[dict[str, Any]]
    histogram: dict[str, list[int]]


@dataclass(frozen=True)
class Row:
    """One pair in a table; the only place with ids."""

    left: str
    right: str
    probability: float
    given_counterpart: float
    counterpart: float
    margin: float
    left_degree: int
    right_degree: int


@dataclass(frozen=True)
class Suspect:
    """An anchor that the rest of the evidence contradicts; the best candidates of its accounts, None without."""

    left: str
    right: str
    wrong: float
    better_right: str | None
    better_left: str | None


@dataclass(frozen=True)
class Facts:
    """Every number of the report."""

    name: str
    run_id: str
    accounts: dict[str, int]
    edges: dict[str, int]
    anchors: int
    decisions: dict[str, int]
    threshold: float
    review_from: float
    thresholds: list[float]
    matches: list[int]
    review: list[int]
    expected_right: list[float]
    assigned_histogram: list[int]
    validation_curve: Curve
    test_curve: Curve | None
    validation: Validation
    test: Mapping[str, Any] | None
    metrics: Mapping[str, Any] | None
    decisions_by_degree: list[dict[str, Any]]
    stages: list[dict[str, Any]]
    settings: list[dict[str, Any]]
    notes: list[str]
    training: Mapping[str, Any] | None
    parts: Mapping[str, Any] | None
    audit: Mapping[str, Any] | None
    counterparts: Sequence[Mapping[str, Any]]
    surest: list[Row]
    to_review: list[Row]
    examined: int
    suspects: list[Suspect]

    def for_page(self) -> dict[str, Any]:
        """All of it but the rows with ids, for the page's script and for programs that read the page."""
        plain = asdict(self)
        return {name: value for name, value in plain.items() if name not in ("surest", "to_review", "suspects")}


def interval(right: int, made: int) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of a share; right also where pairs are few."""
    if made == 0:
        return None, None
    z, p = 1.959964, right / made
    middle = (p + z * z / (2 * made)) / (1 + z * z / made)
    half = z * np.sqrt(p * (1 - p) / made + z * z / (4 * made * made)) / (1 + z * z / made)
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))


def gather_facts(contents: Contents) -> Facts:
    """Count everything once."""
    problem, calibrator, config = contents.problem, contents.calibrator, contents.config
    assigned = contents.table.filter(contents.table["assigned"])
    probability = np.asarray(assigned["probability"]).astype(np.float64)
    decision = np.asarray(pc.index_in(assigned["decision"], value_set=pa.array(DECISIONS))).astype(np.int64)
    grid = threshold_grid(contents.threshold)
    matches, _ = made_and_right(probability, np.zeros(len(probability), bool), grid)
    reviewed = [int(((probability >= min(config.decide.review, t)) & (probability < t)).sum()) for t in grid]
    counted = np.bincount(decision, minlength=3)
    free = problem.left.n - len(problem.anchors)
    seen = calibrator.predicted_given_counterpart
    return Facts(
        name=contents.name,
        run_id=str(contents.manifest["run_id"]),
        accounts={"left": problem.left.n, "right": problem.right.n},
        edges={"left": problem.left.edges, "right": problem.right.edges},
        anchors=len(problem.anchors),
        decisions={
            "match": int(counted[2]),
            "review": int(counted[1]),
            "no match": int(free - counted[2] - counted[1]),
        },
        threshold=contents.threshold,
        review_from=config.decide.review,
        thresholds=grid,
        matches=matches,
        review=reviewed,
        expected_right=[round(float(probability[probability >= t].sum()), 2) for t in grid],
        assigned_histogram=histogram(probability, FINE),
        validation_curve=_validation_curve(contents, grid),
        test_curve=_test_curve(contents.evaluation, grid),
        validation=Validation(
            pairs=calibrator.validated,
            missing=calibrator.without_candidates,
            ece=calibration_error(np.clip(seen, 0, 1), calibrator.correct),
            reliability=reliability(seen, calibrator.correct),
            histogram={
                "right": histogram(seen[calibrator.correct], BINS),
                "wrong": histogram(seen[~calibrator.correct], BINS),
            },
        ),
        test=contents.evaluation,
        metrics=contents.metrics,
        decisions_by_degree=_decisions_by_degree(contents, assigned, decision),
        stages=[
            {
                "name": STAGES[name].label if name in STAGES else name,
                "cpu_seconds": stage["cpu_seconds"],
                "peak_mb": stage["peak_mb"],
                "bytes": stage["bytes"],
            }
            for name, stage in contents.manifest["stages"].items()
        ],
        settings=_settings(contents.config.identity()),
        notes=[*contents.suspects.notes, *calibrator.notes],
        training=contents.training,
        parts=contents.parts,
        audit=contents.audit,
        counterparts=contents.counterparts,
        surest=_rows(contents, assigned, decision == DECISIONS.index("match"), probability),
        to_review=_rows(contents, assigned, decision == DECISIONS.index("review"), probability),
        examined=contents.suspects.examined,
        suspects=_suspects(contents),
    )


def _curve(made: Sequence[int], right: Sequence[int], pairs: int) -> Curve:
    bounds = [interval(r, m) for r, m in zip(right, made, strict=True)]
    return Curve(
        made=list(made),
        right=list(right),
        precision=[r / m if m else None for r, m in zip(right, made, strict=True)],
        low=[low for low, _ in bounds],
        high=[high for _, high in bounds],
        recall=[r / pairs if pairs else None for r in right],
        pairs=pairs,
    )


def _validation_curve(contents: Contents, grid: list[float]) -> Curve:
    calibrator, audit = contents.calibrator, contents.audit
    if audit is not None and "slope" in audit:  # thresholds are on the scale of corrected probabilities
        corrected = correct(calibrator.predicted, audit["shift"], audit["slope"])
        calibrator = replace(calibrator, predicted=corrected)
    rows = thresholds(calibrator, grid)
    made = [int(row["matches"] or 0) for row in rows]
    right = [round((row["precision"] or 0) * m) for row, m in zip(rows, made, strict=True)]
    return _curve(made, right, contents.calibrator.validated)


def _test_curve(evaluation: Mapping[str, Any] | None, grid: list[float]) -> Curve | None:
    """The curve of the test pairs at the report's thresholds; each of them is among those that were counted."""
    if evaluation is None:
        return None
    counted = evaluation["thresholds"]
    place = np.searchsorted(counted["threshold"], np.asarray(grid) - 1e-9)
    made, right = (np.append(counted[name], 0)[place].tolist() for name in ("made", "right"))
    return _curve(made, right, evaluation["test_pairs"])


def _decisions_by_degree(contents: Contents, assigned: pa.Table, decision: Any) -> list[dict[str, Any]]:
    """What was decided about the left accounts without anchor, by their degree; in the order of DECISIONS."""
    left = contents.problem.left
    of_account = np.zeros(left.n, np.int64)
    of_account[left.find(assigned["left"])] = decision
    free = np.ones(left.n, bool)
    free[contents.problem.anchors[:, 0]] = False
    return by_degree(left.degrees[free], of_account[free], len(DECISIONS))


def _settings(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    default, here = flatten(Config().model_dump(mode="json")), flatten(config)
    return [
        {"name": name, "default": default.get(name), "here": value}
        for name, value in sorted(here.items())
        if default.get(name) != value
    ]


def _suspects(contents: Contents) -> list[Suspect]:
    """All suspects, the surest first."""
    found = contents.suspects
    left, right = contents.problem.left, contents.problem.right

    def name(network: Network, account: int) -> str | None:
        return network.name(account) if account >= 0 else None

    return [
        Suspect(left.name(u), right.name(v), wrong, name(right, better), name(left, other))
        for (u, v), wrong, (better, other) in zip(
            found.pairs.tolist(), found.wrong.tolist(), found.better.tolist(), strict=True
        )
    ]


def _rows(contents: Contents, assigned: pa.Table, wanted: Any, probability: FloatArray) -> list[Row]:
    """The most probable of the wanted pairs; ties by their ids, so that the page is the same every time."""
    left, right = contents.problem.left, contents.problem.right
    places = np.flatnonzero(wanted)
    if len(places) > _ROWS:
        least = np.partition(probability[places], -_ROWS)[-_ROWS]
        places = places[probability[places] >= least]
    rows = assigned.take(pa.array(places)).select(["left", "right", "probability", "counterpart", "margin"]).to_pylist()
    rows.sort(key=lambda row: (-row["probability"], -row["margin"], row["left"], row["right"]))
    rows = rows[:_ROWS]
    degrees: list[Any] = [
        network.degrees[network.find([row[side] for row in rows])] if rows else []
        for network, side in ((left, "left"), (right, "right"))
    ]
    return [
        Row(
            row["left"],
            row["right"],
            row["probability"],
            row["probability"] / row["counterpart"] if row["counterpart"] else 0.0,
            row["counterpart"],
            row["margin"],
            int(a),
            int(b),
        )
        for row, a, b in zip(rows, *degrees, strict=True)
    ]
