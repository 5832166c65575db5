"""Decisions: assignment, thresholds, and what they must not depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from planted import planted

from kedge.config import Config, DecideConfig
from kedge.decide.decisions import choose_threshold, decide, thresholds
from kedge.evaluation.metrics import decisions
from kedge.probability.calibration import calibrate
from kedge.types import DECISIONS, Problem


@pytest.fixture(scope="module")
def decided() -> Any:
    problem, method, test = planted(0, n=2000, share=0.7, anchors=500, strength=3)
    calibrator = calibrate(problem, method, Config())
    return problem, method(problem), calibrator, test, decide(problem, method(problem), calibrator, Config())


def with_decide(**settings: Any) -> Config:
    return Config(decide=DecideConfig(**settings))


def test_rows_are_sorted_by_account_then_by_probability(decided: Any) -> None:
    matches = decided[4]
    assert (np.diff(matches.left) >= 0).all()
    same = np.diff(matches.left) == 0
    assert (np.diff(matches.probability)[same] <= 0).all()
    assert (np.diff(matches.rank)[same] == 1).all()
    assert (matches.rank[1:][~same] == 1).all()


def test_assignment_is_one_to_one_and_holds_every_decision(decided: Any) -> None:
    matches = decided[4]
    assert len(np.unique(matches.left[matches.assigned])) == matches.assigned.sum()
    assert len(np.unique(matches.right[matches.assigned])) == matches.assigned.sum()
    assert matches.assigned[matches.decision > 0].all()
    assert matches.partners() == {
        **matches.partners("no match"),
        **matches.partners("review"),
        **matches.partners("match"),
    }


def test_assignment_gets_more_right_than_the_best_candidates() -> None:
    problem, method, test = planted(0, n=1000, anchors=300, strength=3)
    matches = decide(problem, method(problem), calibrate(problem, method, Config()), Config())
    rising = np.argsort(matches.score, kind="stable")  # the last one of an account stays: its best by score
    alone = dict(zip(matches.left[rising].tolist(), matches.right[rising].tolist(), strict=True))
    assert decisions(matches.partners(), test)["matched_hits1"] > decisions(alone, test)["matched_hits1"]


def test_matches_are_as_pure_as_asked(decided: Any) -> None:
    _, _, _, test, matches = decided
    found = decisions(matches.partners("match"), test)
    assert found["precision"] > 0.88
    assert found["recall"] > 0.3
    assert decisions(matches.partners("review"), test)["precision"] < found["precision"]


def test_anchored_accounts_are_not_decided_again(decided: Any) -> None:
    problem, _, _, _, matches = decided
    assert not np.isin(matches.left, problem.anchors[:, 0]).any()
    assert not np.isin(matches.right, problem.anchors[:, 1]).any()


def test_rejected_pairs_do_not_come_back(decided: Any) -> None:
    problem, alignment, calibrator, _, matches = decided
    row = int(np.flatnonzero(matches.decision == 2)[0])
    pair = (int(matches.left[row]), int(matches.right[row]))
    again = decide(replace(problem, rejected=np.array([pair])), alignment, calibrator, Config())
    assert pair not in set(zip(again.left.tolist(), again.right.tolist(), strict=True))


def test_more_precision_costs_matches(decided: Any) -> None:
    problem, alignment, calibrator, _, _ = decided
    counts = [
        len(decide(problem, alignment, calibrator, with_decide(precision=p)).partners("match"))
        for p in (0.7, 0.9, 0.97)
    ]
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2]


def test_a_given_threshold_is_kept(decided: Any) -> None:
    problem, alignment, calibrator, _, _ = decided
    matches = decide(problem, alignment, calibrator, with_decide(threshold=0.8, review=0.3))
    assert (matches.probability[matches.decision == 2] >= 0.8).all()
    between = matches.assigned & (matches.probability >= 0.3) & (matches.probability < 0.8)
    assert (matches.decision[between] == DECISIONS.index("review")).all()
    assert (matches.decision[matches.assigned & (matches.probability < 0.3)] == 0).all()


def test_many_to_one_lets_left_accounts_share(decided: Any) -> None:
    problem, alignment, calibrator, _, _ = decided
    matches = decide(problem, alignment, calibrator, with_decide(assignment="many-to-one"))
    assert (matches.assigned == (matches.rank == 1)).all()
    assert len(np.unique(matches.right[matches.assigned])) < matches.assigned.sum()


def test_without_anchors_nothing_is_called_a_match() -> None:
    problem, method, _ = planted(1, n=300, anchors=0)
    calibrator = calibrate(problem, method, Config())
    matches = decide(problem, method(problem), calibrator, Config())
    assert not (matches.decision == 2).any()
    assert (matches.decision == 1).any()
    assert calibrator.notes


def test_all_accounts_known_leaves_nothing_to_decide() -> None:
    problem, method, _ = planted(1, n=50, anchors=50)
    assert len(problem.anchors) == 50
    calibrator = calibrate(problem, method, Config())
    matches = decide(problem, method(problem), calibrator, Config())
    assert len(matches) == 0
    assert matches.table().num_rows == 0
    assert matches.partners() == {}


def test_threshold_falls_back_to_the_precision_where_none_reaches_it() -> None:
    assert choose_threshold(np.array([0.2, 0.3]), Config()) == 0.9
    assert choose_threshold(np.array([]), with_decide(precision=0.8)) == 0.8


def test_the_threshold_is_the_lowest_from_which_the_mean_probability_is_the_precision() -> None:
    assigned = np.random.default_rng(0).random(5000)
    t = choose_threshold(assigned, Config())
    assert assigned[assigned >= t].mean() >= 0.9 > assigned[assigned >= t - 0.01].mean()
    assert choose_threshold(assigned, with_decide(precision=0.7, floor=0.55)) == 0.55
    assert choose_threshold(assigned, with_decide(threshold=0.3)) == 0.3


def test_a_share_of_counterparts_that_the_user_gives_moves_the_decisions(decided: Any) -> None:
    problem, alignment, calibrator, _, _ = decided
    counts = [
        len(decide(problem, alignment, calibrator, with_decide(counterparts=share)).partners("match"))
        for share in ("0", "0.3", "0.3-0.7", "1")
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


def test_thresholds_report_precision_and_recall(decided: Any) -> None:
    calibrator = decided[2]
    rows = thresholds(calibrator)
    recall: list[Any] = [row["recall"] for row in rows]
    assert recall == sorted(recall, reverse=True)
    assert rows[0]["matches"] >= rows[-1]["matches"]
    assert next(row for row in rows if row["threshold"] == 0.8)["precision"] > 0.85


def test_result_does_not_depend_on_the_order_of_anchors(decided: Any) -> None:
    problem, alignment, calibrator, _, matches = decided
    reversed_anchors = Problem(problem.left, problem.right, problem.anchors[::-1])
    again = decide(reversed_anchors, alignment, calibrator, Config())
    assert again.table().equals(matches.table())
