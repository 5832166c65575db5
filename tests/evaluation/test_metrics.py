"""Metrics on cases whose answer can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from scipy.sparse import csr_array

from kedge.evaluation.metrics import METRICS, Place, balanced_pairs, calibration_error, decisions, macro, ranking, ranks
from kedge.linalg import SparseAlignment, VectorAlignment

SCORES = SparseAlignment(csr_array(np.array([[9, 5, 1], [0, 0, 2], [4, 4, 4]], np.float32)))


def test_ranks_by_hand() -> None:
    # Row 1 stores only column 2, so columns 0 and 1 share ranks 2 and 3.
    assert ranks(SCORES, [[0, 0], [0, 2], [1, 1], [2, 0], [1, -1]]).tolist() == [1, 3, 2.5, 2, np.inf]
    assert ranks(SCORES, [[0, 0], [2, 1], [1, 0]], "right").tolist() == [1, 2, 3]


def test_ranking_is_the_mean_of_both_directions() -> None:
    result = ranking(SCORES, [[0, 0], [1, 1]])
    assert result["left_to_right"]["hits1"] == 0.5
    assert result["left_to_right"]["mrr"] == pytest.approx((1 + 1 / 2.5) / 2)
    assert result["right_to_left"]["mrr"] == pytest.approx((1 + 1 / 3) / 2)
    assert result["mrr"] == pytest.approx((result["left_to_right"]["mrr"] + result["right_to_left"]["mrr"]) / 2)
    assert ranking(SCORES, [])["mrr"] is None


def test_all_equal_scores_earn_nothing() -> None:
    collapsed = VectorAlignment(np.zeros((50, 4)), np.zeros((50, 4)))
    result = ranking(collapsed, [[i, i] for i in range(50)])
    assert result["hits1"] == 0
    assert result["mrr"] == pytest.approx(1 / 25.5)


def test_macro_by_hand() -> None:
    # True pairs: 3 yes, 1 no. False pairs: 1 yes, 1 no.
    result = macro(np.array([True, True, True, False]), np.array([True, False]))
    assert result["macro_precision"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert result["macro_recall"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert macro(np.array([True]), np.array([False]))["macro_f1"] == 1
    assert macro(np.array([], bool), np.array([], bool))["macro_f1"] is None
    assert macro(np.array([True]), np.array([True]))["macro_f1"] == pytest.approx((2 / 3) / 2)


def test_false_pairs_are_never_true_ones() -> None:
    rng = np.random.default_rng(0)
    test = np.array([[i, i] for i in range(20)] + [[20, -1]])
    true, false = balanced_pairs(test, 21, np.array([[0, 5]]), rng, ratio=2)
    assert len(true) == 20
    assert len(false) == 40
    assert not {(int(u), int(v)) for u, v in false} & ({(i, i) for i in range(20)} | {(0, 5)})
    assert (np.bincount(false[:, 0]) == 2).all()


def test_decisions_by_hand() -> None:
    # 0->0 right; 1->2 wrong and touches two test pairs at once; 7->9 touches none.
    result = decisions({0: 0, 1: 2, 7: 9}, [[0, 0], [1, 1], [2, 2], [3, -1]])
    assert result["matched_hits1"] == 1 / 4
    assert result["precision"] == 1 / 2
    assert result["sample_precision"] == 2 / 4, "four ends in test pairs, both of one right assignment"
    assert decisions({}, [[0, 0]])["precision"] is None
    assert decisions({}, [[0, 0]])["sample_precision"] is None
    assert decisions({0: 0}, [])["matched_hits1"] is None


def test_a_sample_of_the_true_pairs_bounds_the_share_of_right_assignments() -> None:
    n, wrong = 20_000, 4000
    assigned = {u: u if u >= wrong else (u + 1) % wrong for u in range(n)}
    everyone = np.column_stack([np.arange(n)] * 2)
    for share in (1.0, 0.1):
        sample = np.random.default_rng(0).permutation(everyone)[: int(share * n)]
        found = decisions(assigned, sample)
        assert found["sample_precision"] == pytest.approx(0.8, abs=0.02)
        assert found["precision"] == pytest.approx(0.8 if share == 1 else 0.68, abs=0.02), "wrong ones are seen twice"


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_a_samples_two_precisions_have_the_truth_between_them_where_accounts_have_no_partner(share: float) -> None:
    n = 20_000
    # Half of the assignments are right; the others join an account with a partner to one that has none.
    assigned = {u: u if u < n // 2 else u + n for u in range(n)}
    everyone = np.column_stack([np.arange(n)] * 2)
    found = decisions(assigned, np.random.default_rng(0).permutation(everyone)[: int(share * n)])
    assert found["precision"] - 0.03 < 0.5 < found["sample_precision"]


def test_calibration_error_by_hand() -> None:
    probability = np.array([0.9, 0.9, 0.1, 0.1])
    assert calibration_error(probability, np.array([True, True, False, False])) == pytest.approx(0.1)
    assert calibration_error(np.array([1.0]), np.array([True])) == 0
    assert calibration_error(np.array([]), np.array([], bool)) is None
    rng = np.random.default_rng(0)
    honest = rng.random(20000)
    assert calibration_error(honest, rng.random(20000) < honest) < 0.02


def test_every_metric_has_its_row_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    for metric in METRICS.values():
        better = "higher" if metric.higher_is_better else "lower"
        assert f"| `{metric.name}` | {metric.label} | {metric.help} | {better} | " in text
        assert set(metric.shown.split()) <= set(get_args(Place))
    assert text.count("\n| `") == len(METRICS)


def test_an_outcome_is_measured_by_exactly_the_metrics_of_the_registry() -> None:
    from kedge.config import resolve
    from kedge.pipeline import MemoryRun, measure, solve
    from kedge.synthetic import planted, split
    from kedge.types import Problem

    made = planted(60, 60, 45, 250, 250, 0.8, 0)
    observed, test = split(made.anchors, 0.4, 0)
    problem = Problem(made.left, made.right, observed)
    found = measure(solve(problem, resolve(overrides={"method": "common-neighbours"}), MemoryRun()), test, 0)
    assert found.keys() == {*METRICS, "left_to_right", "right_to_left", "test_pairs"}
    assert found["left_to_right"].keys() == {m.name for m in METRICS.values() if m.origin is ranking}
