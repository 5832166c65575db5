"""Probabilities: whether they come true on scores with a known truth, and what few anchors allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from planted import networks, planted
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.evaluation.metrics import balanced_pairs, calibration_error, macro
from kedge.linalg import SparseAlignment
from kedge.probability import calibration as module
from kedge.probability.calibration import Calibrator, Fold, best_logits, calibrate, fit_folds, hold_outs
from kedge.probability.candidates import Shortlist, margins, scale_of, shortlist, signals
from kedge.probability.model import estimate_counterpart
from kedge.types import Problem


def judged(problem: Problem, method: Any, test: Any) -> Any:
    """The calibrator, the shortlist, and for each candidate whether it is a true pair."""
    calibrator = calibrate(problem, method, Config())
    pairs = shortlist(problem, method(problem), 10)
    partner = np.full(problem.left.n, -1)
    partner[test[:, 0]] = test[:, 1]
    return calibrator, pairs, partner[pairs.left] == pairs.right, partner[pairs.left] >= 0


def given_counterpart(calibrator: Calibrator, pairs: Shortlist) -> np.ndarray:
    """P(v | u has a counterpart) of each candidate, [m]."""
    return calibrator.probability(pairs) / calibrator.has_counterpart(pairs)[pairs.left]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.01, 0.9), (40.0, -300.0)])
def test_probabilities_come_true_whatever_the_unit_of_the_scores(seed: int, scale: float, shift: float) -> None:
    problem, method, test = planted(seed, scale=scale, shift=shift)
    calibrator, pairs, true, _ = judged(problem, method, test)
    p = given_counterpart(calibrator, pairs)
    best = pairs.rank == 1
    assert calibration_error(p[best], true[best]) < 0.05
    assert calibration_error(p, true) < 0.02
    assert 0.3 < true[best].mean() < 0.95  # the problem is neither hopeless nor trivial


@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_accounts_without_counterpart_lower_the_probabilities(share: float) -> None:
    problem, method, test = planted(5, n=3000, share=share, anchors=400, strength=4)
    calibrator, pairs, true, _ = judged(problem, method, test)
    left = len(test) / (problem.left.n - len(problem.anchors))
    assert calibrator.counterpart.share == pytest.approx(left, abs=0.12)
    best = pairs.rank == 1
    p = calibrator.probability(pairs)
    assert calibration_error(p[best], true[best]) < 0.08
    if share < 1:  # without the factor it would be badly wrong
        given = given_counterpart(calibrator, pairs)
        assert calibration_error(given[best], true[best]) > 2 * calibration_error(p[best], true[best])


def test_validation_accounts_are_not_among_those_whose_share_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them have a counterpart: where many are anchored they would lift the share."""
    given: dict[str, Any] = {}

    def estimate(anchored: Any, unpaired: Any, everyone: Any, limit: Any) -> Any:
        given.update(anchored=anchored, unpaired=unpaired, everyone=everyone)
        return estimate_counterpart(anchored, unpaired, everyone, limit)

    monkeypatch.setattr(module, "estimate_counterpart", estimate)
    problem, method, _ = planted(5, n=600, share=0.6, anchors=200, strength=4)
    calibrate(problem, method, Config())
    assert len(given["everyone"]) == problem.left.n - 200, "once each, though five runs have them"
    assert len(given["anchored"]) == len(given["unpaired"]) == 200


def test_accounts_whose_partner_is_removed_score_like_those_without_counterpart() -> None:
    """Not lower: their rivals remain."""
    problem, method, test = planted(5, n=3000, share=0.5, anchors=600, strength=4)
    (observed, validation), *_ = hold_outs(problem, 0.2, 0)
    calibrator = calibrate(problem, method, Config())
    side = int(calibrator.is_mirrored(problem))
    fold = Fold(observed, method(observed), validation).in_one_order()
    pairs, validation = shortlist(fold.problem, fold.alignment, 10), fold.validation
    x, alone = (best_logits(calibrator._logits(one), one) for one in (pairs, pairs.without(validation)))
    everyone = np.setdiff1d(np.arange(pairs.n_left), np.concatenate([problem.anchors[:, side], test[:, side]]))
    with_partner, unpaired, without = x[validation[:, 0]], alone[validation[:, 0]], x[everyone]
    apart = np.median(with_partner) - np.median(without)
    assert apart > with_partner.std()
    assert np.median(unpaired) == pytest.approx(np.median(without), abs=0.2 * apart)


def test_removed_pairs_leave_a_shortlist_and_nothing_else_does() -> None:
    problem, method, _ = planted(3, n=200)
    pairs = shortlist(problem, method(problem), 5)
    pairs = replace(pairs, own_order=np.arange(len(pairs), dtype=float))
    removed = np.column_stack([pairs.left, pairs.right])[::3]
    left = pairs.without(removed)
    kept = np.delete(np.arange(len(pairs)), np.arange(0, len(pairs), 3))
    for name in ("left", "right", "score", "own_order"):
        np.testing.assert_array_equal(getattr(left, name), getattr(pairs, name)[kept])
    assert (left.n_left, left.free_right) == (pairs.n_left, pairs.free_right)
    assert len(pairs.without(removed[:0])) == len(pairs)


LOW = np.full(100, -10.0)  # x of accounts without their partner, below all others


def test_share_is_limited_by_the_smaller_side() -> None:
    rng = np.random.default_rng(0)
    everyone = rng.normal(size=1000)
    found = estimate_counterpart(everyone[:100], LOW, everyone, limit=0.2)
    assert found.share == pytest.approx(0.2)
    assert found.probability(everyone).mean() == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("lost", [1.0, 2.0, 10.0])
def test_a_share_of_one_is_seldom_denied_by_chance(lost: float) -> None:
    """Validation anchors are a fair sample of all: few draws may show a share below one."""
    rng = np.random.default_rng(0)
    everyone = rng.normal(size=5000)
    shares = []
    for _ in range(200):
        drawn = rng.choice(everyone, 200)
        shares.append(estimate_counterpart(drawn, drawn - lost, everyone, limit=1.0).share)
    assert np.mean(np.array(shares) < 1) < 0.15, "one in ten"
    assert np.mean(shares) > 0.98


@pytest.mark.parametrize("lost", [1.5, 2.0, 6.0])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_the_share_is_near_the_truth_also_where_those_without_counterpart_score_high(lost: float, share: float) -> None:
    rng = np.random.default_rng(0)
    anchored = rng.normal(3, 1, 1500)
    unpaired = anchored - lost + rng.normal(0, 0.3, 1500)
    count = int(5000 * share)
    without = rng.choice(unpaired, 5000 - count)
    everyone = np.concatenate([rng.normal(3, 1, count), without])
    assert estimate_counterpart(anchored, unpaired, everyone, limit=1.0).share == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("lost", [1.5, 3.0, 10.0])
def test_accounts_without_counterpart_may_be_less_active_than_the_anchored(lost: float) -> None:
    """Then they score lower than accounts whose partner is removed, and the share is too low, but not by much."""
    rng = np.random.default_rng(0)
    anchored = rng.normal(3, 1, 1500)
    everyone = np.concatenate([rng.normal(3, 1, 3000), rng.normal(-10, 1, 2000)])
    found = estimate_counterpart(anchored, anchored - lost, everyone, limit=1.0).share
    assert found == pytest.approx(0.6, abs=0.06)


def test_without_a_difference_the_share_is_one() -> None:
    everyone = np.linspace(0, 1, 400)
    assert estimate_counterpart(everyone[::4], everyone[::4], everyone[:200], limit=1.0).share == 1.0


def test_a_bare_contradiction_moves_the_share_barely() -> None:
    anchored = np.linspace(0, 1, 400)
    shares = []
    for low in range(0, 400, 5):  # ever more accounts below all anchored ones
        everyone = np.concatenate([anchored, np.full(low, -1.0)])
        shares.append(estimate_counterpart(anchored, LOW, everyone, limit=1.0).share)
    steps = -np.diff(shares)
    assert shares[0] == 1.0
    assert shares[-1] == pytest.approx(400 / 795, abs=0.12)
    assert steps.min() >= 0
    assert steps.max() < 0.03


def test_probabilities_of_an_account_sum_to_at_most_one() -> None:
    problem, method, test = planted(1, share=0.7)
    calibrator, pairs, _, _ = judged(problem, method, test)
    for p in (given_counterpart(calibrator, pairs), calibrator.probability(pairs)):
        assert p.min() >= 0
        assert np.bincount(pairs.left, p).max() <= 1


def test_probability_rises_with_the_score() -> None:
    problem, method, test = planted(2, share=0.7)
    calibrator, pairs, _, _ = judged(problem, method, test)
    before = given_counterpart(calibrator, pairs)
    rng = np.random.default_rng(0)
    for row in rng.choice(len(pairs), 25, replace=False):
        score = pairs.score.copy()
        score[row] += 0.3
        raised = replace(pairs, score=score)
        assert given_counterpart(calibrator, raised)[row] >= before[row] - 1e-12
        if pairs.rank[row] == 1:
            assert calibrator.probability(raised)[row] >= calibrator.probability(pairs)[row] - 1e-12


def test_validation_anchors_are_not_in_the_problem_that_remains() -> None:
    problem, _, _ = planted(anchors=100)
    ((smaller, validation),) = hold_outs(problem, 0.25, seed=3)
    assert len(validation) == 25
    assert len(smaller.anchors) == 75
    both = np.concatenate([smaller.anchors, validation])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, problem.anchors.tolist()))
    assert (hold_outs(problem, 0.25, seed=3)[0][1] == validation).all()
    assert (hold_outs(problem, 0.25, seed=4)[0][1] != validation).any()


def test_folds_are_disjoint_and_cover_all() -> None:
    problem, _, _ = planted(anchors=101)
    validation = np.concatenate([pairs for _, pairs in hold_outs(problem, 0.25, 0, folds=5)])
    assert len(np.unique(validation[:, 0])) == len(validation) == 101


def test_more_runs_where_anchors_are_few() -> None:
    runs: list[Any] = []

    def counted(problem: Problem, method: Any, folds: int = 0) -> Any:
        runs.clear()

        def noted(p: Any) -> Any:
            runs.append(len(p.anchors))
            return method(p)

        calibrate(problem, noted, Config.model_validate({"decide": {"folds": folds}}))
        return len(runs)

    few, method, _ = planted(anchors=200)
    with_few = counted(few, method)
    assert with_few == 5
    assert counted(few, method, folds=1) == 1
    many, other, _ = planted(n=2200, anchors=2000)
    assert counted(many, other) == 3


@pytest.mark.parametrize("anchors", [0, 1, 2, 4, 6])
def test_few_anchors_are_noted_and_never_give_certainty(anchors: int) -> None:
    problem, method, test = planted(anchors=anchors)
    calibrator, pairs, _, _ = judged(problem, method, test)
    p = calibrator.probability(pairs)
    assert np.isfinite(p).all()
    assert p.max() <= (anchors + 1) / (anchors + 2)
    (note,) = calibrator.notes[:1]
    expected = "guess" if anchors < 5 else "take them as rough"
    assert expected in note


def test_two_anchors_are_too_few() -> None:
    problem, method, _ = planted(anchors=2)
    assert calibrate(problem, method, Config()).notes[0] == (
        "2 validation anchors are too few to estimate probabilities; they are a guess"
    )


def test_all_scores_equal() -> None:
    rng = np.random.default_rng(0)
    left, right = networks(200, 200)
    partner = np.column_stack([np.arange(200), rng.permutation(200)])
    rows = np.repeat(np.arange(200), 5)
    columns = rng.integers(200, size=1000)
    flat = csr_array((np.ones(1000, np.float32), (rows, columns)), shape=(200, 200))
    flat.sum_duplicates()
    flat.data[:] = 1
    ((problem, validation),) = hold_outs(Problem(left, right, partner[:80]), 0.5, 0)
    calibrator = fit_folds([Fold(problem, SparseAlignment(flat), validation)])
    p = calibrator.probability(shortlist(problem, SparseAlignment(flat), 5))
    assert np.isfinite(p).all()
    assert p.max() < 0.5


@pytest.mark.parametrize("strength", [None, 30])
def test_one_class_only(strength: int | None) -> None:
    """All validation anchors wrong, or all right: no division by zero, no certainty."""
    problem, method, test = planted(3, n=400, anchors=60, strength=strength)
    calibrator, pairs, true, _ = judged(problem, method, test)
    best = pairs.rank == 1
    p = given_counterpart(calibrator, pairs)[best]
    assert abs(p.mean() - true[best].mean()) < 0.06
    assert p.max() < 1


def test_without_candidates_there_are_no_probabilities() -> None:
    left, right = networks(50, 50)
    pairs = np.column_stack([np.arange(20), np.arange(20)])
    nothing = SparseAlignment(csr_array((50, 50), dtype=np.float32))
    problem = Problem(left, right, pairs)
    calibrator = calibrate(problem, lambda p: nothing, Config())
    assert len(calibrator.probability(shortlist(problem, nothing, 10))) == 0
    assert "no validation anchor had any candidate: probabilities are a guess" in calibrator.notes
    assert not calibrator.predicts_link(problem, nothing, [[30, 30]]).any()


def test_yes_or_no_for_balanced_pairs() -> None:
    problem, method, test = planted(4, strength=3)
    alignment = method(problem)
    calibrator = calibrate(problem, method, Config())
    true, false = balanced_pairs(test, problem.right.n, problem.anchors, np.random.default_rng(0))
    predicted = [calibrator.predicts_link(problem, alignment, pairs) for pairs in (true, false)]
    assert macro(*predicted)["macro_f1"] > 0.97
    # What is known is not guessed.
    assert calibrator.predicts_link(problem, alignment, problem.anchors).all()
    (u, _), (_, v) = problem.anchors[:2]
    assert not calibrator.predicts_link(problem, alignment, [[u, v]]).any()


def lifted(method: Any, lift: Any) -> Any:
    """The method with the same strengths and another order: its scores and what `lift` adds to them."""

    def run(p: Any) -> SparseAlignment:
        strengths = method(p).scores
        scores = strengths.copy()
        scores.data = scores.data + np.float32(lift(p, strengths))
        return SparseAlignment(scores, strengths)

    return run


def test_an_order_that_knows_no_more_makes_probabilities_no_better_and_no_worse() -> None:
    problem, method, test = planted(6)
    losses = []
    for tried in (method, lifted(method, lambda _, scores: 0.5 * (scores.data > 2))):
        calibrator, pairs, true, paired = judged(problem, tried, test)
        p = np.clip(given_counterpart(calibrator, pairs)[paired], 1e-9, 1 - 1e-9)
        losses.append(-np.where(true[paired], np.log(p), np.log1p(-p)).mean())
        best = pairs.rank == 1
        assert calibration_error(given_counterpart(calibrator, pairs)[best], true[best]) < 0.05
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_an_order_that_knows_more_makes_probabilities_better() -> None:
    problem, method, test = planted(6, strength=1)
    truth = np.full(problem.left.n, -1)
    for u, v in (*problem.anchors, *test):
        truth[u] = v

    def knows(_: Any, scores: Any) -> Any:
        return 4 * (scores.indices == truth[np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))])

    of_true, of_false = [], []
    for tried in (method, lifted(method, knows)):
        calibrator, pairs, true, paired = judged(problem, tried, test)
        p = calibrator.probability(pairs)
        of_true.append(p[true].mean())
        of_false.append(p[paired & ~true].mean())
    assert of_true[1] > of_true[0] + 0.1
    assert of_false[1] < 0.5 * of_false[0]


def test_leads_agree_with_loops() -> None:
    problem, method, _ = planted(7, n=60, anchors=0)
    pairs = shortlist(problem, method(problem), 10)
    scale = scale_of([pairs])
    found, unit = signals(pairs, scale), scale.temperature * scale.spread
    from_left, from_right = margins(pairs, pairs.score, scale.floor)
    for i in range(len(pairs)):
        for account, column, margin in ((pairs.left, 1, from_left), (pairs.right, 2, from_right)):
            others = (account == account[i]) & (np.arange(len(pairs)) != i)
            rivals = np.append(pairs.score[others].astype(float), scale.floor)
            soft = np.log(np.exp(rivals / unit).sum())
            assert found[i, column] == pytest.approx(np.arcsinh(pairs.score[i] / unit - soft), abs=1e-5)
            assert margin[i] == pytest.approx(pairs.score[i] - rivals.max(), abs=1e-5)
            assert found[i, column + 3] == 0, "the scores are the order"


def test_leads_in_the_methods_own_order_agree_with_loops() -> None:
    problem, method, _ = planted(7, n=60, anchors=0)
    pairs = shortlist(problem, lifted(method, lambda _, scores: np.sin(np.arange(scores.nnz)))(problem), 10)
    scale = scale_of([pairs])
    assert scale.last == pytest.approx(np.quantile(pairs.own_order, 0.01))
    found = signals(pairs, scale)
    for i in range(len(pairs)):
        for account, column in ((pairs.left, 4), (pairs.right, 5)):
            others = (account == account[i]) & (np.arange(len(pairs)) != i)
            rival = max(*pairs.own_order[others].tolist(), scale.last, scale.last)
            assert found[i, column] == pytest.approx(np.arcsinh(pairs.own_order[i] - rival), abs=1e-5)


def test_a_shortlist_has_no_anchored_account_and_no_rejected_pair() -> None:
    problem, method, _ = planted(8, n=100, anchors=20)
    full = method(Problem(problem.left, problem.right, []))
    everything = shortlist(problem, full, 10)
    assert not np.isin(everything.left, problem.anchors[:, 0]).any()
    assert not np.isin(everything.right, problem.anchors[:, 1]).any()
    rejected = [[everything.left[0], everything.right[0]]]
    fewer = shortlist(replace(problem, rejected=np.array(rejected)), full, 10)
    assert len(fewer) == len(everything) - 1
    assert (fewer.left[0], fewer.right[0]) != tuple(rejected[0])
