"""From validation anchors to probabilities: a probability of 0.8 means that 8 of 10 such pairs are right.

The method runs without some of the anchors (folds.py). From the smaller network's side, then from the larger's,

    P(u's leader is right) = P(right | u has a counterpart) · P(u has a counterpart | what is seen of u)

with the two models of leaders.py and the share of counterpart.py; both times (n + 1) / (n + 2) for n validation
anchors: Laplace's rule of succession, so that few of them never give certainty; far less where they are found no better
than by chance (chance.py). The other candidates of an account divide what its leader leaves, as the choice of choice.py
does. A pair has the mean of what its two accounts predict, in log-odds, and no account's probabilities sum to more than
1. A side weighs as much as its share: where nearly all have a counterpart, little depends on how alike decoys and
accounts without one are.

These runs have fewer anchors than the final one, so the figures are, if anything, too low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from kedge.config import Config
from kedge.probability import chance
from kedge.probability.candidates import Scale, Shortlist, scale_of, signals
from kedge.probability.choice import PRIOR, examples, fit_weights, logits, pool, probabilities
from kedge.probability.counterpart import Moments, Seen, Share, count_moments, estimate_share
from kedge.probability.folds import Fold, run_folds, used_once
from kedge.probability.leaders import (
    COLUMNS,
    Leaders,
    Logistic,
    clustering,
    find_leaders,
    fit_leaders,
    log_odds,
    sigmoid,
)
from kedge.probability.pair_rule import PairRule, fit_pair_rule, predicts_link
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem, Suspects

_TEMPERATURES: Final = (0.02, 0.1, 0.5)  # in spreads of the scores; validation anchors choose
_FEW: Final = 5  # validation anchors below which probabilities are a guess; unmeasured
_SOME: Final = 30  # and below which they are rough; unmeasured
_SAMPLE: Final = 100_000  # accounts without a known partner that the share is estimated from, of each run


@dataclass(frozen=True)
class Estimate:
    """P(same person) of each candidate, [m], and P(counterpart) of every left and every right account; `share` is the
    mean of either over the accounts without a known partner."""

    probability: FloatArray
    left: FloatArray
    right: FloatArray
    share: tuple[float, float]


@dataclass(frozen=True)
class Calibrator:
    """Turns shortlisted scores into probabilities. It was fitted with the smaller network first, whichever is called
    left, so that exchanging them mirrors every probability.

    `is_right` is the model of a leader being right, `counterpart` of an account having one; `listed` the log-ratios of
    having a candidate and of having none, [2, 2], for either side. `predicted`, `correct`: probability and truth of the
    best candidate of each validation account that has any, by models that were not fitted on it; `without_candidates`
    counts those that have none. Reliability plots are made of them. Validation accounts have a counterpart, so
    `predicted_given_counterpart` is the one to compare with `correct`. `by_chance` is how many validation anchors a
    random ranking would have first. `anchors_right` is the share of the anchors that is
    expected to be right: below 1 where no one gave them.
    """

    scale: Scale
    theta: FloatArray
    is_right: Logistic
    counterpart: Logistic
    listed: FloatArray
    moments: tuple[Moments, Moments]
    rule: PairRule
    validated: int
    predicted: FloatArray = field(default_factory=lambda: np.empty(0))
    predicted_given_counterpart: FloatArray = field(default_factory=lambda: np.empty(0))
    correct: BoolArray = field(default_factory=lambda: np.empty(0, bool))
    without_candidates: int = 0
    notes: tuple[str, ...] = ()
    by_chance: float | None = None
    anchors_right: float = 1.0

    def is_mirrored(self, problem: Problem) -> bool:
        """Whether its left accounts are those of the right network."""
        return not problem.exchanged

    @property
    def ceiling(self) -> float:
        """The largest probability that this many validation anchors can support."""
        return self.anchors_right * chance.ceiling(int(self.correct.sum()), self.validated, self.by_chance)

    def with_anchors_right(self, share: float, note: str) -> Calibrator:
        """The same where a share of the anchors is expected to be right."""
        given, notes = self.predicted_given_counterpart * share, (note, *self.notes)
        predicted = self.predicted * share
        return replace(self, anchors_right=share, predicted=predicted, predicted_given_counterpart=given, notes=notes)

    @property
    def misfit(self) -> str | None:
        """One sentence where validation anchors are found no better than by chance."""
        return chance.misfit(int(self.correct.sum()), self.validated, self.by_chance)

    def estimate(
        self, problem: Problem, pairs: Shortlist, known: tuple[float, float] | None = None, side: int = 0
    ) -> Estimate:
        """The probabilities of all candidates and accounts; `known` is the user's range of the share for one side."""
        share = estimate_share(self.moments, (pairs.free_left, pairs.free_right), known, side)
        values = signals(pairs, self.scale)
        chosen = _choose(self.theta, values, pairs)
        found = find_leaders(problem, pairs, values, chosen)
        sides, has = [], []
        for own, at in ((pairs.left, 0), (pairs.right, 1)):
            leaders = found[at]
            here = self._has_counterpart(at, leaders, share)
            right = self.ceiling * sigmoid(self.is_right.log_odds(leaders.columns))
            sides.append(log_odds(_divide(chosen[at], own, leaders.row, right * here)))
            has.append(here)
        weight = share.mean / share.mean.sum()
        p = sigmoid(weight[0] * sides[0] + weight[1] * sides[1])
        total = [
            np.bincount(own, p, minlength=n) for own, n in ((pairs.left, pairs.n_left), (pairs.right, pairs.n_right))
        ]
        p = p / np.maximum(1.0, np.maximum(total[0][pairs.left], total[1][pairs.right]))
        left, right = (
            np.minimum(np.maximum(here, np.bincount(own, p, minlength=len(here))), 1.0)
            for here, own in zip(has, (pairs.left, pairs.right), strict=True)
        )
        return Estimate(p, left, right, (float(share.mean[0]), float(share.mean[1])))

    def _has_counterpart(self, side: int, leaders: Leaders, share: Share) -> FloatArray:
        """P(counterpart) of every account of a side, before its candidates' probabilities are compared."""
        ratio = np.full(len(leaders.row), self.listed[side, 1])
        at = leaders.listed
        ratio[at] = self.counterpart.log_odds(leaders.columns[at]) + self.listed[side, 0]
        return sigmoid(share.log_odds(side, leaders.active, self.moments[side].centre) + ratio)

    def predicts_link(self, problem: Problem, alignment: Alignment, pairs: IntArray) -> BoolArray:
        """Yes or no for any pairs, by the rule that is best when half of the pairs are true (the paper's protocol)."""
        return predicts_link(self.rule, problem, alignment, pairs, self.is_mirrored(problem))


def _choose(theta: FloatArray, values: FloatArray, pairs: Shortlist) -> tuple[FloatArray, FloatArray]:
    """The choice of choice.py among the candidates of each left account, and among those of each right account."""
    z = logits(theta, values)
    return probabilities(z, pairs.left, pairs.n_left), probabilities(z, pairs.right, pairs.n_right)


def _divide(chosen: FloatArray, own: IntArray, row: IntArray, p: FloatArray) -> FloatArray:
    """Each account's leader, in `row`, has probability p; the others share what it leaves, and none has more."""
    held = np.flatnonzero(row >= 0)
    rest, cap = np.ones(len(row)), np.ones(len(row))
    rest[held] = (1 - p[held]) / np.maximum(1 - chosen[row[held]], 1e-9)
    cap[held] = p[held]
    result = np.minimum(chosen * rest[own], cap[own])
    result[row[held]] = p[held]
    return np.asarray(result)


def calibrate(
    problem: Problem,
    align: Callable[[Problem], Alignment],
    config: Config,
    given: int | None = None,
    hops: int = 0,
    removes: bool = True,
) -> Calibrator:
    """Run `align` without some anchors and fit; `given` and `removes` as in `run_folds`, `hops` as in `fit_folds`."""
    return calibrate_on(run_folds(problem, align, config.decide, given, removes), config, hops)


def calibrate_on(folds: Sequence[Fold], config: Config, hops: int = 0, suspects: Suspects | None = None) -> Calibrator:
    """Fit on folds that `run_folds` made, without suspected anchors; `hops` as in `fit_folds`."""
    kept = folds if suspects is None else [fold.without(suspects) for fold in folds]
    return fit_folds(kept, config.candidates, config.seed, hops)


class _Kind(NamedTuple):
    """Accounts of one kind and one side, of all folds: what is seen of their leaders, whether they have one, their
    activity, the number of their anchor, and whether the leader is right."""

    columns: FloatArray
    listed: BoolArray
    active: FloatArray
    anchor: IntArray
    correct: BoolArray

    @property
    def number(self) -> int:
        """How many anchors these are: several runs show the same."""
        return len(np.unique(self.anchor))


def fit_folds(folds: Sequence[Fold], candidates: int = 10, seed: int = 0, hops: int = 0) -> Calibrator:
    """The calibrator from several runs, pooled; `hops` of reach in the rule for single pairs."""
    once = used_once(folds)
    seen = [(f.problem, f.alignment, f.validation) for f in folds[:once]]
    rule = fit_pair_rule(seen, np.random.default_rng([seed, 1]), hops)
    lists = [fold.shortlist(candidates) for fold in folds]
    scale, theta = _fit_choice(folds[:once], lists[:once])
    anchored, decoys, others = _kinds(folds, lists, scale, theta)
    right, is_right = _fit_right(anchored)
    counterpart, of_anchored, of_decoys = _fit_counterpart(anchored, decoys)
    clustered = _clustering(anchored, others)
    right, counterpart = right.moderated(clustered), counterpart.moderated(clustered)
    moments, listed = [], []
    for side in (0, 1):
        kinds = (anchored[side], decoys[side])
        scores = [_placed(kind, raw) for kind, raw in zip(kinds, (of_anchored[side], of_decoys[side]), strict=True)]
        free = others[side]
        everyone = _placed(free, counterpart.raw_log_odds(free.columns[free.listed]))
        with_partner, without = (
            Seen(score, kind.active, kind.number) for score, kind in zip(scores, kinds, strict=True)
        )
        moments.append(count_moments(with_partner, without, Seen(everyone, free.active, free.number)))
        none = [
            (1 + (~kind.listed).mean() * kind.number if len(kind.listed) else 1) / (2 + kind.number) for kind in kinds
        ]
        listed.append([np.log((1 - none[0]) / (1 - none[1])), np.log(none[0] / none[1])])
    validated = anchored[0].number
    calibrator = Calibrator(
        scale, theta, right, counterpart, np.array(listed), (moments[0], moments[1]), rule, validated
    )
    return _with_validation(calibrator, lists, anchored[0], is_right[0], of_anchored[0])


def _with_validation(
    calibrator: Calibrator, lists: Sequence[Shortlist], kind: _Kind, is_right: FloatArray, raw: FloatArray
) -> Calibrator:
    """With what is predicted of each validation anchor, once, seen from the smaller network."""
    _, first = np.unique(kind.anchor, return_index=True)
    shown = np.zeros(len(kind.anchor), bool)
    shown[first] = True
    shown &= kind.listed
    at = shown[kind.listed]
    by_chance = [len(first) / len(lists) / max(pairs.free_right, 1) for pairs in lists]
    calibrator = replace(calibrator, correct=kind.correct[shown], by_chance=float(sum(by_chance)))
    seen = kind.columns[shown]
    given = calibrator.ceiling * sigmoid(is_right[at] * calibrator.is_right.moderation(seen))
    has: FloatArray = np.ones(len(given))
    if len(given):
        share = estimate_share(calibrator.moments, (lists[0].free_left, lists[0].free_right))
        prior = share.log_odds(0, kind.active[shown], calibrator.moments[0].centre)
        ratio = calibrator.counterpart.trusted(raw[at]) * calibrator.counterpart.moderation(seen)
        has = sigmoid(prior + ratio + calibrator.listed[0, 0])
    return replace(
        calibrator,
        predicted=given * has,
        predicted_given_counterpart=given,
        without_candidates=calibrator.validated - len(given),
        notes=(*_notes(calibrator.validated, len(given)), *filter(None, (calibrator.misfit,))),
    )


def _fit_choice(folds: Sequence[Fold], lists: Sequence[Shortlist]) -> tuple[Scale, FloatArray]:
    """The scale with the temperature that predicts validation anchors best, and θ."""
    scale = scale_of(lists)
    best: tuple[float, Scale, FloatArray] = (np.inf, scale, PRIOR)
    for temperature in _TEMPERATURES:
        one = replace(scale, temperature=temperature)
        parts = [
            examples(pairs, signals(pairs, one), fold.validation) for pairs, fold in zip(lists, folds, strict=True)
        ]
        theta, loss = fit_weights(pool(parts))
        best = min(best, (loss, one, theta), key=lambda fit: fit[0])
    return best[1:]


def _kinds(
    folds: Sequence[Fold], lists: Sequence[Shortlist], scale: Scale, theta: FloatArray
) -> tuple[tuple[_Kind, _Kind], tuple[_Kind, _Kind], tuple[_Kind, _Kind]]:
    """For either side: validation accounts, decoys, accounts without a known partner; anchors by their left account."""
    parts: list[list[list[_Kind]]] = [[[], []] for _ in range(3)]
    for fold, pairs in zip(folds, lists, strict=True):
        values = signals(pairs, scale)
        leaders = find_leaders(fold.problem, pairs, values, _choose(theta, values, pairs))
        known = np.concatenate([fold.problem.anchors, fold.validation, *fold.decoys])
        for side, own in enumerate(leaders):
            other = (pairs.right, pairs.left)[side]
            free = np.delete(np.arange(len(own.row)), known[:, side])
            free = free[:: -(-len(free) // _SAMPLE) or 1]
            for kind, of in enumerate((fold.validation, fold.decoys[side])):
                row = own.row[of[:, side]]
                hit = (row >= 0) & (np.append(other, -1)[row] == of[:, 1 - side])
                parts[kind][side].append(_kind(own, of[:, side], of[:, 0], hit))
            parts[2][side].append(_kind(own, free, free, np.zeros(len(free), bool)))
    anchored, decoys, others = ((_pool(sides[0]), _pool(sides[1])) for sides in parts)
    return anchored, decoys, others


def _kind(leaders: Leaders, accounts: IntArray, anchor: IntArray, correct: BoolArray) -> _Kind:
    return _Kind(leaders.columns[accounts], leaders.row[accounts] >= 0, leaders.active[accounts], anchor, correct)


def _pool(kinds: Sequence[_Kind]) -> _Kind:
    none = _Kind(np.empty((0, COLUMNS)), np.empty(0, bool), np.empty(0), np.empty(0, np.int64), np.empty(0, bool))
    return _Kind(*(np.concatenate(part) for part in zip(none, *kinds, strict=True)))


def _placed(kind: _Kind, score: FloatArray) -> FloatArray:
    """The score of the accounts that have a candidate, -inf for the others."""
    result = np.full(len(kind.listed), -np.inf)
    result[kind.listed] = score
    return result


def _fit_right(anchored: tuple[_Kind, _Kind]) -> tuple[Logistic, list[FloatArray]]:
    """The model of a leader being right, and for either side what models predict that did not see the account."""
    columns, anchor = _stacked(anchored)
    true = np.concatenate([kind.correct[kind.listed] for kind in anchored]).astype(np.float64)
    # Two sides and several runs show the same anchors: together they count for as many as there are.
    weight = np.full(len(true), len(np.unique(anchor)) / max(len(true), 1))
    fitted = fit_leaders(columns, true, weight, anchor)
    return fitted.model, np.split(fitted.predicted, [int(anchored[0].listed.sum())])


def _fit_counterpart(
    anchored: tuple[_Kind, _Kind], decoys: tuple[_Kind, _Kind]
) -> tuple[Logistic, list[FloatArray], list[FloatArray]]:
    """The model of having a counterpart, both kinds weighing the same, and for either side of both kinds the log-ratios
    by models that did not see the account, before the map."""
    parts = [_stacked(kind) for kind in (anchored, decoys)]
    sizes = [len(columns) for columns, _ in parts]
    counts = [max(len(np.unique(anchor)), 1) for _, anchor in parts]
    both = 2 * counts[0] * counts[1] / sum(counts)
    weight = np.concatenate([np.full(size, both / max(size, 1)) for size in sizes])
    if min(sizes) == 0:
        weight = weight * 0  # one kind alone shows no difference
    columns, anchor = (np.concatenate(part) for part in zip(*parts, strict=True))
    fitted = fit_leaders(columns, np.repeat([1.0, 0.0], sizes), weight, anchor)
    ends = np.cumsum([kind.listed.sum() for kinds in (anchored, decoys) for kind in kinds])[:-1]
    split = np.split(fitted.raw, ends)
    return fitted.model, split[:2], split[2:]


def _clustering(anchored: tuple[_Kind, _Kind], others: tuple[_Kind, _Kind]) -> float:
    """How clustered anchors are, the mean of both sides."""
    sides = zip(anchored, others, strict=True)
    return float(np.mean([clustering(a.columns[a.listed], o.columns[o.listed]) for a, o in sides]))


def _stacked(kinds: tuple[_Kind, _Kind]) -> tuple[FloatArray, IntArray]:
    """What is seen of the leaders of both sides, and their anchors."""
    return (
        np.concatenate([kind.columns[kind.listed] for kind in kinds]),
        np.concatenate([kind.anchor[kind.listed] for kind in kinds]),
    )


def _notes(validated: int, listed: int) -> tuple[str, ...]:
    if validated == 0:
        return ("no anchor could be held out: probabilities are a guess and stay under 0.5",)
    if validated < _FEW:
        few = "anchors are" if validated > 1 else "anchor is"
        return (f"{validated} validation {few} too few to estimate probabilities; they are a guess",)
    if listed == 0:
        return ("no validation anchor had any candidate: probabilities are a guess",)
    if validated < _SOME:
        return (f"probabilities rest on {validated} validation anchors only; take them as rough",)
    return ()
