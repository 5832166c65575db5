"""From validation anchors to probabilities: a probability of 0.8 means that 8 of 10 such pairs are right.

The method runs without some of the training anchors, and its scores of them show what a score is worth.

    P(u, v) = P(v | u has a counterpart) · P(u has a counterpart)      (model.py)

times (n + 1) / (n + 2) for n validation anchors: Laplace's rule of succession, so that few of them never give
certainty, and none leaves every probability under 0.5. These runs have fewer anchors than the final one, so the figures
are, if anything, too low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import brentq

from kedge.config import Config
from kedge.probability.candidates import Scale, Shortlist, scale_of, shortlist, signals
from kedge.probability.model import (
    PRIOR,
    Counterpart,
    Map,
    correct_leaders,
    estimate_counterpart,
    fit_weights,
    isotonic_map,
    leaders,
    log_loss,
    logits,
    platt_map,
    probabilities,
)
from kedge.probability.pair_rule import PairRule, fit_pair_rule
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem, Suspects, as_pairs

_TEMPERATURES: Final = (0.02, 0.1, 0.5)  # in spreads of the scores; validation anchors choose
_ENOUGH: Final = 1200  # validation anchors at which another fold no longer pays; unmeasured
_FEW: Final = 5  # validation anchors below which probabilities are a guess; unmeasured
_SOME: Final = 30  # and below which they are rough; unmeasured
_ISOTONIC_FROM: Final = 1000  # below this a free-form map follows the noise; unmeasured


@dataclass(frozen=True)
class Fold:
    """A problem without its validation anchors, the method's alignment of it, and these anchors."""

    problem: Problem
    alignment: Alignment
    validation: IntArray

    def in_one_order(self) -> Fold:
        """The same with the smaller network first, whichever is called left.

        Nearly each of its accounts has a counterpart, so that little depends on the share that has to be estimated.
        """
        if self.problem.exchanged:
            return self
        return Fold(self.problem.mirrored(), self.alignment.mirrored(), self.validation[:, ::-1])

    def without(self, suspects: Suspects) -> Fold:
        """The same without suspected validation anchors: a wrong one is no error of the method."""
        mine = suspects if self.problem.sides[0] == "left" else suspects.mirrored()
        return replace(self, validation=mine.kept(self.validation, self.problem.right.n))


@dataclass(frozen=True)
class Calibrator:
    """Turns shortlisted scores into probabilities.

    `predicted`, `correct`: probability and truth of the best candidate of each validation account that has any, by
    models that were not fitted on it; `without_candidates` counts those that have none. Thresholds and reliability
    plots are made of them. Validation accounts have a counterpart, so `predicted_given_counterpart` is the one to
    compare with `correct`. `one_order`: it was fitted with the networks in one order, so that exchanging them mirrors
    every probability; calibrators of earlier versions took the networks as they were given. `unlisted` is the chance
    that a right account which is none of its candidates' counterpart has one all the same.
    """

    scale: Scale
    theta: FloatArray
    counterpart: Counterpart
    rule: PairRule
    validated: int
    knots: Map = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    predicted: FloatArray = field(default_factory=lambda: np.empty(0))
    predicted_given_counterpart: FloatArray = field(default_factory=lambda: np.empty(0))
    correct: BoolArray = field(default_factory=lambda: np.empty(0, bool))
    without_candidates: int = 0
    notes: tuple[str, ...] = ()
    one_order: bool = False
    unlisted: float = 0.0

    def is_mirrored(self, problem: Problem) -> bool:
        """Whether its left accounts are those of the right network."""
        return self.one_order and not problem.exchanged

    @property
    def ceiling(self) -> float:
        """The largest probability that this many validation anchors can support."""
        return (self.validated + 1) / (self.validated + 2)

    def has_counterpart(self, pairs: Shortlist) -> FloatArray:
        """P(counterpart) of every left account, [n_left]."""
        return self.counterpart.probability(best_logits(self._logits(pairs), pairs))

    def right_has_counterpart(self, pairs: Shortlist, probability: FloatArray) -> FloatArray:
        """P(counterpart) of every right account, [n_right], from the `probability` of its candidates."""
        listed = np.minimum(np.bincount(pairs.right, probability, minlength=pairs.n_right), 1.0)
        return np.asarray(listed + (1 - listed) * self.unlisted)

    def probability(self, pairs: Shortlist) -> FloatArray:
        """P(u and v are the same person) of each candidate, [m]; an account's sum to P(counterpart) at most."""
        z = self._logits(pairs)
        p = probabilities(z, pairs.left, pairs.n_left)
        given_counterpart = self.ceiling * correct_leaders(p, self.knots, pairs.left, pairs.n_left)
        return given_counterpart * self.counterpart.probability(best_logits(z, pairs))[pairs.left]

    def _logits(self, pairs: Shortlist) -> FloatArray:
        return logits(self.theta, signals(pairs, self.scale))

    def predicts_link(self, problem: Problem, alignment: Alignment, pairs: IntArray) -> BoolArray:
        """Yes or no for any pairs, by the rule that is best when half of the pairs are true (the paper's protocol)."""
        if self.is_mirrored(problem):
            return self.rule.predicts_link(problem.mirrored(), alignment.mirrored(), as_pairs(pairs)[:, ::-1])
        return self.rule.predicts_link(problem, alignment, pairs)


def hold_outs(
    problem: Problem, share: float, seed: int, folds: int = 1, given: int | None = None
) -> list[tuple[Problem, IntArray]]:
    """`folds` disjoint draws of a share of the anchors: the problem without them, and them.

    given: only the first so many anchors are drawn from. The others were confirmed by a reviewer, who saw them because
    they were hard: they are no fair sample of the rest.
    """
    anchors = problem.anchors[:given]
    if len(anchors) == 0 or share <= 0:
        return []
    order = np.random.default_rng(seed).permutation(len(anchors))
    # The smallest problem has one anchor left, unless there is but one.
    count = int(np.clip(round(share * len(anchors)), 1, max(len(anchors) - 1, 1)))
    starts = range(0, min(folds * count, len(anchors)), count)
    return [problem.hold_out(np.sort(order[start : start + count])) for start in starts]


def calibrate(
    problem: Problem, align: Callable[[Problem], Alignment], config: Config, given: int | None = None, hops: int = 0
) -> Calibrator:
    """Run `align` without validation anchors and fit; `given` as in `hold_outs`, `hops` as in `fit_folds`."""
    return calibrate_on(run_folds(problem, align, config, given), config, hops)


def run_folds(
    problem: Problem, align: Callable[[Problem], Alignment], config: Config, given: int | None = None
) -> list[Fold]:
    """Run `align` without validation anchors, with the networks in one order; `given` as in `hold_outs`.

    Each fold is one more run of the method. `decide.folds` of 0: one where a share `decide.holdout` of the anchors is
    1,200 or more, up to 1 / share below.
    """
    share = config.decide.holdout
    count = count_folds(len(problem.anchors[:given]), share, config.decide.folds)
    drawn = hold_outs(problem, share, config.seed, count, given)
    return [Fold(fewer, align(fewer), validation).in_one_order() for fewer, validation in drawn]


def calibrate_on(folds: Sequence[Fold], config: Config, hops: int = 0, suspects: Suspects | None = None) -> Calibrator:
    """Fit on folds that `run_folds` made, without suspected anchors; `hops` as in `fit_folds`."""
    kept = folds if suspects is None else [fold.without(suspects) for fold in folds]
    return replace(fit_folds(kept, config.candidates, config.seed, hops), one_order=True)


def count_folds(anchors: int, share: float, folds: int) -> int:
    """How many runs without a share of so many anchors calibration takes; `folds` as in `decide.folds`."""
    most = max(1, int(1 / share)) if share > 0 else 1
    return min(most, folds or -(-_ENOUGH // max(1, round(share * anchors))))


def fit_folds(folds: Sequence[Fold], candidates: int = 10, seed: int = 0, hops: int = 0) -> Calibrator:
    """The calibrator from several runs, pooled; `hops` of reach in the rule for single pairs."""
    seen = [(f.problem, f.alignment, f.validation) for f in folds]
    rule = fit_pair_rule(seen, np.random.default_rng([seed, 1]), hops)
    lists = [shortlist(f.problem, f.alignment, candidates) for f in folds]
    validated = sum(len(f.validation) for f in folds)
    scale = scale_of(lists)
    fitted = [_fit_at(folds, lists, replace(scale, temperature=t), seed) for t in _TEMPERATURES]
    best = min(fitted, key=lambda one: one.loss)
    tops = [_best_of(pairs, best) for pairs in lists]
    unpaired = [_best_of(pairs.without(f.validation), best) for pairs, f in zip(lists, folds, strict=True)]
    counterpart = estimate_counterpart(
        np.concatenate([[], *(x[f.validation[:, 0]] for x, f in zip(tops, folds, strict=True))]),
        np.concatenate([[], *(x[f.validation[:, 0]] for x, f in zip(unpaired, folds, strict=True))]),
        # Of one run: others have the same accounts again. Validation accounts all have a counterpart: they are no
        # sample of the free ones.
        np.concatenate([[], *(_free(x, f) for x, f in zip(tops[:1], folds, strict=False))]),
        min([1.0, *(pairs.free_right / max(pairs.free_left, 1) for pairs in lists)]),
    )
    calibrator = Calibrator(best.scale, best.theta, counterpart, rule, validated, best.knots)
    predicted = calibrator.ceiling * best.predicted
    return replace(
        calibrator,
        unlisted=_fit_unlisted(calibrator, folds, lists),
        predicted=predicted * counterpart.probability(best.logits),
        predicted_given_counterpart=predicted,
        correct=best.correct,
        without_candidates=validated - len(predicted),
        notes=_notes(validated, best),
    )


def _fit_unlisted(calibrator: Calibrator, folds: Sequence[Fold], lists: Sequence[Shortlist]) -> float:
    """The `unlisted` with which right validation accounts, given a counterpart, are right as often as predicted."""
    best: list[FloatArray] = [np.empty(0)]
    listed: list[FloatArray] = [np.empty(0)]
    correct = 0
    for fold, pairs in zip(folds, lists, strict=True):
        p = calibrator.probability(pairs)
        lead = leaders(p, pairs.right, pairs.n_right)
        partner = np.full(pairs.n_right, -1)
        partner[fold.validation[:, 1]] = fold.validation[:, 0]
        lead = lead[partner[pairs.right[lead]] >= 0]
        best.append(p[lead])
        total = np.bincount(pairs.right, p, minlength=pairs.n_right).astype(np.float64)
        listed.append(total[pairs.right[lead]])
        correct += int((partner[pairs.right[lead]] == pairs.left[lead]).sum())
    p, known = np.concatenate(best), np.minimum(np.concatenate(listed), 1.0)

    def too_high(unlisted: float) -> float:
        return float((p / np.maximum(known + (1 - known) * unlisted, 1e-9)).sum()) - correct

    if len(p) == 0 or too_high(0.0) <= 0:
        return 0.0
    return 1.0 if too_high(1.0) >= 0 else float(brentq(too_high, 0.0, 1.0))


@dataclass(frozen=True)
class _Fitted:
    """The model at one temperature, its cross-validated loss, and for each validation account with candidates its best
    one: predicted probability, whether it is correct, and its logit."""

    scale: Scale
    theta: FloatArray
    knots: Map
    loss: float
    predicted: FloatArray
    correct: BoolArray
    logits: FloatArray


def _free(x: FloatArray, fold: Fold) -> FloatArray:
    """x of the left accounts without a known partner."""
    return np.delete(x, np.concatenate([fold.problem.anchors[:, 0], fold.validation[:, 0]]))


def _best_of(pairs: Shortlist, fitted: _Fitted) -> FloatArray:
    return best_logits(logits(fitted.theta, signals(pairs, fitted.scale)), pairs)


def best_logits(z: FloatArray, pairs: Shortlist) -> FloatArray:
    """The logit of the best candidate of every left account, [n_left]; that of the worst where it has none."""
    best = np.full(pairs.n_left, z.min() if len(z) else 0.0)
    np.maximum.at(best, pairs.left, z)
    return best


class _Examples(NamedTuple):
    """The candidates of n validation accounts: signals [m, 6], the account of each, below n, and 1 where it is true."""

    columns: FloatArray
    account: IntArray
    true: FloatArray
    n: int


def _examples(folds: Sequence[Fold], lists: Sequence[Shortlist], scale: Scale) -> _Examples | None:
    """The examples of all folds, pooled; None without any."""
    parts, n = [], 0
    for fold, pairs in zip(folds, lists, strict=True):
        partner = np.full(pairs.n_left, -1)
        partner[fold.validation[:, 0]] = fold.validation[:, 1]
        rows = np.flatnonzero(partner[pairs.left] >= 0)
        _, account = np.unique(pairs.left[rows], return_inverse=True)
        true = (partner[pairs.left[rows]] == pairs.right[rows]).astype(np.float64)
        parts.append((signals(pairs, scale)[rows], account + n, true))
        n += int(account.max()) + 1 if len(account) else 0
    if n == 0:
        return None
    columns, owner, truth = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _Examples(columns, owner, truth, n)


def _fit_at(folds: Sequence[Fold], lists: Sequence[Shortlist], scale: Scale, seed: int) -> _Fitted:
    """Fit at the temperature of the scale; the map is the one with the smaller cross-validated loss."""
    examples = _examples(folds, lists, scale)
    if examples is None:
        none = np.empty(0)
        return _Fitted(scale, PRIOR, (none, none), np.inf, none, np.empty(0, bool), none)
    columns, account, true, n = examples
    validated = _cross_validate(examples, seed)
    losses = [float(log_loss(p, account, true, n).sum()) for p in validated]
    free_form = n >= _ISOTONIC_FROM and losses[1] < losses[0]
    theta = fit_weights(columns, account, true, n)
    z = logits(theta, columns)
    p = probabilities(z, account, n)
    lead = leaders(p, account, n)
    knots = (isotonic_map if free_form else platt_map)(p[lead], true[lead])
    predicted = validated[free_form]
    first = leaders(predicted, account, n)
    return _Fitted(scale, theta, knots, losses[free_form], predicted[first], true[first] > 0, z[first])


def _cross_validate(examples: _Examples, seed: int) -> tuple[FloatArray, FloatArray]:
    """Probabilities by Platt's and by the isotonic map, each from a fit without that fifth of the accounts, [m]."""
    columns, account, true, n = examples
    fifth = (np.random.default_rng([seed, 2]).permutation(n) % 5)[account]
    platt, isotonic = np.empty(len(account)), np.empty(len(account))
    for k in range(min(5, n)):
        out = fifth == k
        theta = fit_weights(columns[~out], account[~out], true[~out], n)
        p = probabilities(logits(theta, columns), account, n)
        lead = leaders(p, account, n)
        seen = lead[~out[lead]]
        for result, make in ((platt, platt_map), (isotonic, isotonic_map)):
            result[out] = correct_leaders(p, make(p[seen], true[seen]), account, n)[out]
    return platt, isotonic


def _notes(validated: int, best: _Fitted) -> tuple[str, ...]:
    if validated == 0:
        return ("no anchor could be held out: probabilities are a guess and stay under 0.5",)
    if validated < _FEW:
        few = "anchors are" if validated > 1 else "anchor is"
        return (f"{validated} validation {few} too few to estimate probabilities; they are a guess",)
    if len(best.predicted) == 0:
        return ("no validation anchor had any candidate: probabilities are a guess",)
    notes = []
    if validated < _SOME:
        notes.append(f"probabilities rest on {validated} validation anchors only; take them as rough")
    if not best.correct.any():
        notes.append("the best candidate was wrong for every validation anchor: expect no usable match")
    return tuple(notes)
