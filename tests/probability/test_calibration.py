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
from kedge.probability.calibration import Calibrator, Estimate, calibrate, fit_folds
from kedge.probability.candidates import Shortlist, margins, scale_of, shortlist, signals
from kedge.probability.folds import Fold
from kedge.types import Problem


def judged(problem: Problem, method: Any, test: Any) -> tuple[Calibrator, Shortlist, Any, Any]:
    """The calibrator, the shortlist as it sees it, for each candidate whether it is true, and its account paired."""
    calibrator = calibrate(problem, method, Config())
    if calibrator.is_mirrored(problem):
        pairs, test = shortlist(problem.mirrored(), method(problem).mirrored(), 10), test[:, ::-1]
    else:
        pairs = shortlist(problem, method(problem), 10)
    partner = np.full(pairs.n_left, -1)
    partner[test[:, 0]] = test[:, 1]
    return calibrator, pairs, partner[pairs.left] == pairs.right, partner[pairs.left] >= 0


def estimate(calibrator: Calibrator, problem: Problem, pairs: Shortlist, **known: Any) -> Estimate:
    """The probabilities, the problem in the calibrator's order."""
    return calibrator.estimate(problem.mirrored() if calibrator.is_mirrored(problem) else problem, pairs, **known)


def leads(pairs: Shortlist) -> Any:
    """The rows of each left account's best candidate."""
    return pairs.rank == 1


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.01, 0.9), (40.0, -300.0)])
def test_probabilities_come_true_whatever_the_unit_of_the_scores(seed: int, scale: float, shift: float) -> None:
    problem, method, test = planted(seed, scale=scale, shift=shift)
    calibrator, pairs, true, _ = judged(problem, method, test)
    p = estimate(calibrator, problem, pairs).probability
    best = leads(pairs)
    assert calibration_error(p[best], true[best]) < 0.06
    assert calibration_error(p, true) < 0.02
    assert 0.3 < true[best].mean() < 0.95  # the problem is neither hopeless nor trivial


@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_accounts_without_counterpart_lower_the_probabilities(share: float) -> None:
    problem, method, test = planted(5, n=3000, share=share, anchors=400, strength=4)
    calibrator, pairs, true, _ = judged(problem, method, test)
    found = estimate(calibrator, problem, pairs)
    left = len(test) / (problem.left.n - len(problem.anchors))
    assert found.share[0] == pytest.approx(left, abs=0.12)
    best = leads(pairs)
    p = found.probability
    assert calibration_error(p[best], true[best]) < 0.08
    if share < 1:  # without it they would be badly wrong
        given = p[best] / found.left[pairs.left[best]]
        assert calibration_error(np.clip(given, 0, 1), true[best]) > 2 * calibration_error(p[best], true[best])


def test_a_share_that_the_user_knows_is_used() -> None:
    problem, method, test = planted(5, n=1500, share=0.6, anchors=300, strength=3)
    calibrator, pairs, _, _ = judged(problem, method, test)
    shares, sums = [], []
    for known in (0.0, 0.2, 0.5, 0.8, 1.0):
        found = estimate(calibrator, problem, pairs, known=(known, known))
        shares.append(found.share[0])
        sums.append(found.probability.sum())
    np.testing.assert_allclose(shares, [0.0, 0.2, 0.5, 0.8, 1.0], atol=0.06)
    assert (np.diff(sums) > 0).all()
    wide = estimate(calibrator, problem, pairs, known=(0.1, 0.9)).share[0]
    assert wide == pytest.approx(estimate(calibrator, problem, pairs).share[0], abs=0.1), "data decide within a range"


def test_probabilities_of_an_account_sum_to_at_most_one_seen_from_both_sides() -> None:
    problem, method, test = planted(1, share=0.7)
    calibrator, pairs, _, _ = judged(problem, method, test)
    found = estimate(calibrator, problem, pairs)
    assert found.probability.min() >= 0
    for own, has in ((pairs.left, found.left), (pairs.right, found.right)):
        total = np.bincount(own, found.probability, minlength=len(has))
        assert total.max() <= 1 + 1e-9
        assert (total <= has + 1e-9).all()
        assert has.max() <= 1


def test_a_leaders_probability_rises_with_its_score() -> None:
    problem, method, test = planted(2, share=0.7)
    calibrator, pairs, _, _ = judged(problem, method, test)
    before = estimate(calibrator, problem, pairs).probability
    rng = np.random.default_rng(0)
    first = np.flatnonzero(leads(pairs))
    for row in rng.choice(first, 25, replace=False):
        score = pairs.score.copy()
        score[row] += 0.3
        raised = estimate(calibrator, problem, replace(pairs, score=score)).probability
        assert raised[row] >= before[row] - 1e-9


def test_another_seed_has_the_same_folds_and_probabilities() -> None:
    problem, method, _ = planted(4, n=600, anchors=120)
    one, two = (calibrate(problem, method, Config(seed=seed)) for seed in (0, 7))
    np.testing.assert_array_equal(one.is_right.weights, two.is_right.weights)
    np.testing.assert_array_equal(one.predicted, two.predicted)


def test_each_validation_anchor_is_shown_once() -> None:
    problem, method, _ = planted(4, n=600, anchors=120)
    calibrator = calibrate(problem, method, Config())
    assert calibrator.validated == 120, "each was validation in one repeat or another"
    assert len(calibrator.predicted) + calibrator.without_candidates == calibrator.validated
    assert (calibrator.predicted <= calibrator.predicted_given_counterpart).all()


@pytest.mark.parametrize("anchors", [0, 1, 2, 4, 6])
def test_few_anchors_are_noted_and_never_give_certainty(anchors: int) -> None:
    problem, method, test = planted(anchors=anchors)
    calibrator, pairs, _, _ = judged(problem, method, test)
    p = estimate(calibrator, problem, pairs).probability
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
    problem, validation = Problem(left, right, partner[:80]).hold_out(np.arange(40))
    calibrator = fit_folds([Fold(problem, SparseAlignment(flat), validation)])
    p = calibrator.estimate(problem, shortlist(problem, SparseAlignment(flat), 5)).probability
    assert np.isfinite(p).all()
    assert p.max() < 0.5


@pytest.mark.parametrize("strength", [None, 30])
def test_one_class_only(strength: int | None) -> None:
    """All validation anchors wrong, or all right: no division by zero, no certainty."""
    problem, method, test = planted(3, n=400, anchors=60, strength=strength)
    calibrator, pairs, true, _ = judged(problem, method, test)
    best = leads(pairs)
    p = estimate(calibrator, problem, pairs).probability[best]
    assert abs(p.mean() - true[best].mean()) < 0.08
    assert p.max() < 1


def test_without_candidates_there_are_no_probabilities() -> None:
    left, right = networks(50, 50)
    pairs = np.column_stack([np.arange(20), np.arange(20)])
    nothing = SparseAlignment(csr_array((50, 50), dtype=np.float32))
    problem = Problem(left, right, pairs)
    calibrator = calibrate(problem, lambda p: nothing, Config())
    assert len(calibrator.estimate(problem, shortlist(problem, nothing, 10)).probability) == 0
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
        found = estimate(calibrator, problem, pairs).probability
        p = np.clip(found[paired], 1e-9, 1 - 1e-9)
        losses.append(-np.where(true[paired], np.log(p), np.log1p(-p)).mean())
        assert calibration_error(found[leads(pairs)], true[leads(pairs)]) < 0.06
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
        p = estimate(calibrator, problem, pairs).probability
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
