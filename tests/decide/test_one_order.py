"""Which network is called left has no effect: exchanged sides give the mirrored matches, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evidence_problems import planted

from kedge.config import Config
from kedge.linalg import canonical
from kedge.pipeline import MemoryRun, Outcome, solve
from kedge.types import Problem


def _solved(problem: Problem, method: str) -> Outcome:
    config = Config.model_validate({"method": method, "mgcn": {"dimensions": 8, "steps": 5}})
    return solve(canonical(problem), config, MemoryRun())


def _rows(outcome: Outcome, turned: bool) -> dict[tuple[str, str], Any]:
    table = outcome.matches.table().to_pydict()
    ends = (table["right"], table["left"]) if turned else (table["left"], table["right"])
    values = zip(table["score"], table["probability"], table["decision"], table["assigned"], strict=True)
    return dict(zip(zip(*ends, strict=True), values, strict=True))


@pytest.mark.parametrize("method", ["kedge", "evidence", "percolation", "pale"])
@pytest.mark.parametrize("fewer", [0, 20])
def test_exchanged_sides_give_the_mirrored_matches(method: str, fewer: int) -> None:
    problem, _ = planted(n=120, anchors=40, seed=3)
    if fewer:  # unequal networks too
        kept = problem.anchors[(problem.anchors[:, 1] < 120 - fewer)]
        adjacency = problem.right.adjacency[: 120 - fewer][:, : 120 - fewer]
        right = type(problem.right)(adjacency, problem.right.ids[: 120 - fewer])
        problem = Problem(problem.left, right, kept)
    one, two = _solved(problem, method), _solved(problem.mirrored(), method)
    assert one.problem.exchanged != two.problem.exchanged
    assert one.matches.threshold == two.matches.threshold
    assert _rows(one, False) == _rows(two, True)
    assert len(one.matches) > 100


def test_a_pair_rule_answers_alike_from_both_sides() -> None:
    problem, _ = planted(n=120, anchors=40, seed=3)
    one, two = _solved(problem, "evidence"), _solved(problem.mirrored(), "evidence")
    pairs = np.random.default_rng(0).integers(0, 120, (200, 2))
    answers = [
        made.calibrator.predicts_link(made.problem, made.alignment, drawn)
        for made, drawn in ((one, pairs), (two, pairs[:, ::-1]))
    ]
    np.testing.assert_array_equal(*answers)


def test_a_counterpart_is_at_least_as_likely_as_its_candidates_together() -> None:
    problem, _ = planted(n=120, anchors=40, seed=5)
    for given in (problem, problem.mirrored()):
        matches = _solved(given, "evidence").matches
        total = np.bincount(matches.left, matches.probability)
        assert (matches.counterpart <= 1).all()
        assert (matches.counterpart >= total[matches.left] - 1e-6).all()
