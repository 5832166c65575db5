"""Decisions after an audit: unbiased precision, limits that cover it, and probabilities that follow the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kedge.answers.audit import Sample, audit_sentence, draw
from kedge.config import DecideConfig
from kedge.decide.audited import correct, decide_audited, exact_limits, fit_correction
from kedge.types import Matches

CONFIG = DecideConfig()


def made(probability: Any, threshold: float = 0.7, rivals: bool = False) -> Matches:
    """Left account i is assigned to right account i; with rivals, it also has the next one as a candidate."""
    p = np.asarray(probability, np.float64)
    n = len(p)
    copies = 2 if rivals else 1
    left = np.repeat(np.arange(n), copies)
    right = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])[:, :copies].ravel()
    chances = np.column_stack([p, (1 - p) / 4])[:, :copies].ravel()
    assigned = np.tile([True, False][:copies], n)
    return Matches(
        left_ids=pa.array([f"a{i}" for i in range(n)]),
        right_ids=pa.array([f"b{i}" for i in range(n)]),
        left=left,
        right=right,
        rank=np.tile([1, 2][:copies], n),
        score=chances,
        probability=chances,
        margin=chances,
        decision=np.where(assigned & (chances >= threshold), 2, np.where(assigned & (chances >= 0.1), 1, 0)),
        counterpart=np.repeat(p + (1 - p) / 2, copies),
        assigned=assigned,
        threshold=threshold,
    )


def answers(sample: Sample, right: Any) -> Sample:
    """Every pair of the sample answered by the truth; account i is in pair i."""
    return replace(sample, answer=tuple("yes" if right[int(name[1:])] else "no" for name in sample.left))


@pytest.fixture(scope="module")
def population() -> tuple[Matches, Any]:
    rng = np.random.default_rng(3)
    p = rng.beta(3, 1.5, 600)
    return made(p, rivals=True), rng.random(600) < correct(p, -0.8, 1.0)


def test_the_estimate_is_unbiased_and_its_interval_covers_the_truth(population: tuple[Matches, Any]) -> None:
    matches, right = population
    called = matches.assigned & (matches.decision == 2)
    truth = right[matches.left[called]].mean()
    chosen = CONFIG.model_copy(update={"threshold": 0.7})
    found = [
        decide_audited(matches, answers(draw(matches, 40, seed), right), chosen)[1]["drawn"] for seed in range(150)
    ]
    means = np.array([one["precision"] for one in found])
    assert abs(means.mean() - truth) < 3 * means.std() / np.sqrt(len(means)), "unbiased"
    covered = np.mean([one["low"] <= truth <= one["high"] for one in found])
    assert covered >= 0.9 - 2 * np.sqrt(0.9 * 0.1 / len(found)), "up to the error of so few draws"
    assert {one["audited"] for one in found} == {30}


def test_after_the_answers_the_precision_of_two_strata_is_unbiased(population: tuple[Matches, Any]) -> None:
    """A threshold that the answers do not choose, below the matches that the sample was drawn from."""
    matches, right = population
    lower = CONFIG.model_copy(update={"threshold": 0.3})
    means, covered = [], []
    for seed in range(100):
        sample = answers(draw(matches, 40, seed), right)
        raw = matches.probability
        _, found = decide_audited(matches, sample, lower)
        called = matches.assigned & (correct(raw, found["shift"], found["slope"]) >= 0.3)
        truth = right[matches.left[called]].mean()
        means.append(found["precision"] - truth)
        covered.append(found["low"] <= truth <= found["high"])
        assert found["strata"] == 2
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(len(means))
    assert np.mean(covered) >= 0.9 - 2 * np.sqrt(0.9 * 0.1 / len(covered))


@pytest.mark.parametrize(("size", "share"), [(50, 0.9), (400, 0.95), (400, 1.0), (60, 0.5)])
def test_exact_limits_cover_at_least_as_often_as_stated(size: int, share: float) -> None:
    rng = np.random.default_rng(0)
    right = round(size * share)
    inside = 0
    for _ in range(300):
        found = int(rng.hypergeometric(right, size - right, 30))
        low, high = exact_limits(found, 30, size)
        assert low <= found / 30 <= high
        inside += low <= right / size <= high
    assert inside >= 0.9 * 300


def test_limits_of_all_right_of_a_census_and_of_nothing() -> None:
    low, high = exact_limits(40, 40, 100_000)
    assert high == 1
    assert low == pytest.approx(0.05 ** (1 / 40), abs=1e-3), "as Clopper and Pearson in a large population"
    assert exact_limits(7, 10, 10) == (0.7, 0.7)
    assert exact_limits(0, 0, 10) == (0.0, 1.0)
    assert exact_limits(0, 5, 50)[0] == 0.0


def test_a_larger_sample_than_the_matches_is_a_census() -> None:
    p = np.append(np.full(12, 0.95), np.full(60, 0.4))
    matches = made(p)
    right = np.arange(72) != 3
    sample = draw(matches, 40, 0)
    assert sample.stratum.count("match") == 12
    _, found = decide_audited(matches, answers(sample, right), CONFIG.model_copy(update={"threshold": 0.7}))
    drawn = found["drawn"]
    assert (drawn["census"], drawn["audited"], drawn["right"]) == (True, 12, 11)
    assert drawn["low"] == drawn["precision"] == drawn["high"] == 11 / 12
    words = audit_sentence(found)
    assert "all 12 matches were audited and 11 were right" in words
    assert (found["added"], found["removed"]) == (0, 1)
    assert "Taken from the matches, since the answer is no: 1." in words
    assert "Matches besides" not in words


def test_without_answers_nothing_changes(population: tuple[Matches, Any]) -> None:
    matches, _ = population
    same, found = decide_audited(matches, draw(matches, 40, 0), CONFIG)
    assert same is matches
    assert (found["precision"], found["open"]) == (None, 40)
    assert "no match is audited yet" in audit_sentence(found)
    unsure = replace(draw(matches, 40, 0), answer=("unsure",) * 40)
    same, found = decide_audited(matches, unsure, CONFIG)
    assert same is matches
    assert found["unsure"] == 40


@pytest.mark.parametrize("shift", [-1.5, 1.5])
def test_probabilities_follow_the_answers(shift: float) -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(2, 2, 4000)
    right = rng.random(4000) < correct(p, shift, 1.0)
    matches = made(p, rivals=True)
    decided, found = decide_audited(matches, answers(draw(matches, 400, 1), right), CONFIG)
    assert found["shift"] == pytest.approx(shift, abs=0.5)
    rows = decided.assigned
    error = lambda m: abs(m.probability[m.assigned].mean() - right.mean())  # noqa: E731
    assert error(decided) < 0.3 * error(matches)
    assert (decided.probability <= decided.counterpart + 1e-12).all()
    total = np.bincount(decided.left, decided.probability)
    assert (total <= np.bincount(decided.left, decided.counterpart) / np.bincount(decided.left) + 1e-9).all()
    first = np.searchsorted(decided.left, np.arange(4000))
    assert (decided.rank[first] == 1).all()
    assert (np.diff(decided.probability)[np.diff(decided.left) == 0] <= 0).all(), "ranked by probability"
    called = rows & (decided.decision == 2)
    assert right[decided.left[called]].mean() >= 0.88


def test_answered_pairs_are_known(population: tuple[Matches, Any]) -> None:
    matches, right = population
    sample = answers(draw(matches, 40, 2), right)
    for config in (CONFIG, CONFIG.model_copy(update={"threshold": 0.0})):
        decided, _ = decide_audited(matches, sample, config)
        of = {int(left): row for row, left in enumerate(decided.left) if decided.assigned[row]}
        for name, answer in zip(sample.left, sample.answer, strict=True):
            row = of[int(name[1:])]
            assert (decided.probability[row], decided.decision[row]) == ((1.0, 2) if answer == "yes" else (0.0, 0))
    account = next(int(name[1:]) for name, word in zip(sample.left, sample.answer, strict=True) if word == "yes")
    rivals = (decided.right == account) & ~decided.assigned
    assert rivals.any()
    assert (decided.probability[rivals] == 0).all(), "its right account is no one else's"


def test_a_correction_needs_evidence() -> None:
    assert fit_correction(np.array([]), np.array([], bool)).mean == pytest.approx((0.0, 1.03), abs=0.02)
    many = fit_correction(np.full(200, 0.9), np.arange(200) % 2 == 0)
    few = fit_correction(np.full(4, 0.9), np.arange(4) % 2 == 0)
    after = [float(correct(np.array([0.9]), *one.mean)[0]) for one in (few, many)]
    assert 0.9 > after[0] > after[1] > 0.5


def test_a_run_without_match_is_sampled_from_its_surest_pairs() -> None:
    p = np.linspace(0.05, 0.6, 1000)
    matches = made(p, threshold=0.9)
    sample = draw(matches, 40, 0)
    assert not sample.called
    surest = [one for one, stratum in zip(sample.probability, sample.stratum, strict=True) if stratum == "match"]
    assert len(surest) == 30
    assert min(surest) >= np.sort(p)[-160]
    _, found = decide_audited(matches, answers(sample, np.ones(1000, bool)), CONFIG)
    assert found["drawn"] is None
    assert found["matches"] > 0, "the threshold goes down where the surest pairs are right"
