"""Validation anchors found better than by chance, or not: the test, the largest probability, the sentence."""

from __future__ import annotations

import pytest
from planted import planted

from kedge.config import Config, DecideConfig
from kedge.decide import decide
from kedge.probability import calibrate
from kedge.probability.chance import ceiling, is_chance, misfit, right_by_chance


def test_each_fold_has_its_own_number_of_partners_to_choose_from() -> None:
    assert right_by_chance([(10, 100), (5, 50), (2, 0)]) == pytest.approx(0.1 + 0.1 + 2)
    assert right_by_chance([]) == 0


@pytest.mark.parametrize(
    ("right", "validated", "expected", "chance"),
    [
        (0, 3, 0.01, True),
        (1, 3, 0.003, True),  # 1 - 0.999^3 = 0.003
        (2, 10, 0.05, True),  # 1 - 0.995^10 - 10 · 0.005 · 0.995^9 = 0.0011
        (2, 10, 0.005, False),
        (1, 50, 0.3, True),  # 1 - (1 - 0.006)^50 = 0.26
        (3, 50, 0.3, True),
        (5, 50, 0.3, False),
        (40, 50, 0.3, False),
        (2, 2, 2.0, True),  # one free partner only
        (0, 0, 0.0, False),
        (0, 3, None, False),  # a calibrator of an earlier version
    ],
)
def test_a_binomial_test_decides(right: int, validated: int, expected: float | None, chance: bool) -> None:
    assert is_chance(right, validated, expected) == chance
    assert (misfit(right, validated, expected) is not None) == chance


def test_the_largest_probability_is_small_where_anchors_are_found_by_chance() -> None:
    assert ceiling(8, 50, 0.1) == 51 / 52
    assert ceiling(2, 10, 0.05) == 3 / 12
    assert ceiling(0, 40, 0.1) == 1 / 42, "no better than by chance"
    assert ceiling(0, 0, 0.0) == 1 / 2
    assert ceiling(0, 40, None) == 41 / 42, "what earlier versions did"


def test_the_sentence_has_the_numbers_and_a_way_on() -> None:
    found = misfit(1, 40, 0.234)
    assert found is not None
    assert "(1 of 40 right first, 0.23 by chance)" in found
    assert "the anchors or the columns do not fit these networks" in found
    assert "`kedge check`" in found
    assert "the anchors are too few, or do not fit" in (misfit(0, 3, 0.01) or "")


@pytest.mark.parametrize("precision", [0.5, 0.9, 1.0])
def test_scores_without_meaning_call_nothing_a_match_whatever_precision_is_asked_for(precision: float) -> None:
    problem, method, _ = planted(strength=None, n=300, anchors=60)
    config = Config(decide=DecideConfig(precision=precision))
    calibrator = calibrate(problem, method, config)
    assert calibrator.misfit is not None
    assert calibrator.misfit in calibrator.notes
    matches = decide(problem, method(problem), calibrator, config)
    assert matches.probability.max() <= 1 / (calibrator.validated + 2)
    assert not matches.partners("match")


def test_scores_with_a_meaning_are_not_touched() -> None:
    problem, method, _ = planted(strength=6.0, n=300, anchors=60)
    calibrator = calibrate(problem, method, Config())
    assert calibrator.misfit is None
    assert calibrator.ceiling == pytest.approx(1, abs=0.03)
    assert decide(problem, method(problem), calibrator, Config()).partners("match")
