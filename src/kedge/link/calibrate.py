"""From held-out anchors to probabilities: 0.8 is to mean that 8 of 10 such pairs are right.

Some training anchors are hidden, the method runs without them, and what it says of them shows how far to trust it.

    P(u, v) = P(v | u has a counterpart) · P(u has a counterpart)      (softmax.py, counterpart.py)

times (n + 1) / (n + 2) for n hidden anchors: Laplace's rule of succession, so that few of them never make kedge
sure, and none leaves every probability under 0.5. The run with hidden anchors has fewer anchors than the final one,
so its figures are, if anything, too careful.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kedge.alignment import Alignment
from kedge.link.counterpart import Counterpart, estimate_counterpart
from kedge.link.pair_rule import PairRule, fit_pair_rule
from kedge.link.shortlist import Shortlist, shortlist
from kedge.link.signals import Scale, scale_of, signals
from kedge.link.softmax import (
    PRIOR,
    Map,
    correct_leaders,
    fit_weights,
    isotonic_map,
    leaders,
    log_loss,
    logits,
    platt_map,
    probabilities,
)
from kedge.types import FloatArray, IntArray, Problem, as_pairs

__all__ = ["Calibrator", "Fold", "calibrate", "count_folds", "fit", "fit_folds", "hold_out", "hold_outs"]

_TEMPERATURES: Final = (0.02, 0.1, 0.5)
_ENOUGH: Final = 1200  # held-out anchors at which another fold no longer pays
_FEW: Final = 5
_SOME: Final = 30
_ISOTONIC_FROM: Final = 1000  # below this a free-form map follows the noise


@dataclass(frozen=True)
class Fold:
    """A problem with anchors hidden, what the method made of it, and the hidden pairs."""

    problem: Problem
    alignment: Alignment
    validation: IntArray


@dataclass(frozen=True)
class Calibrator:
    """Turns shortlisted scores into probabilities.

    `said`, `right`: probability and truth of the best candidate of each held-out account that had any, from models that
    had not seen it; `missing` counts those that had none. They feed thresholds and reliability plots. Held-out accounts
    have a counterpart, so `said_given` (given a counterpart) is the one to compare with `right`.
    """

    scale: Scale
    theta: FloatArray
    counterpart: Counterpart
    rule: PairRule
    validated: int
    knots: Map = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    said: FloatArray = field(default_factory=lambda: np.empty(0))
    said_given: FloatArray = field(default_factory=lambda: np.empty(0))
    right: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))
    missing: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ceiling(self) -> float:
        """The largest probability that this many held-out anchors can support."""
        return (self.validated + 1) / (self.validated + 2)

    def given_counterpart(self, pairs: Shortlist) -> FloatArray:
        """P(v | u has a counterpart) of each candidate, [m]; an account's sum to at most 1."""
        return self._given(self._logits(pairs), pairs)

    def has_counterpart(self, pairs: Shortlist) -> FloatArray:
        """P(counterpart) of every left account, [n_left]."""
        return self.counterpart.probability(best_logits(self._logits(pairs), pairs))

    def probability(self, pairs: Shortlist) -> FloatArray:
        """P(u and v are the same person) of each candidate, [m]; an account's sum to P(counterpart) at most."""
        z = self._logits(pairs)
        return self._given(z, pairs) * self.counterpart.probability(best_logits(z, pairs))[pairs.left]

    def _logits(self, pairs: Shortlist) -> FloatArray:
        return logits(self.theta, signals(pairs, self.scale))

    def _given(self, z: FloatArray, pairs: Shortlist) -> FloatArray:
        p = probabilities(z, pairs.left, pairs.n_left)
        return self.ceiling * correct_leaders(p, self.knots, pairs.left, pairs.n_left)

    def says_link(self, problem: Problem, alignment: Alignment, pairs: IntArray) -> NDArray[np.bool_]:
        """Yes or no for any pairs, by the rule that is best when half of the pairs are true (the paper's protocol)."""
        return self.rule.says_link(problem, alignment, pairs)


def hold_outs(
    problem: Problem, share: float, seed: int, folds: int = 1, given: int | None = None
) -> list[tuple[Problem, IntArray]]:
    """`folds` disjoint draws of a share of the anchors: the problem without them, and them.

    given: only the first so many anchors are drawn from. Those that a reviewer confirmed stand behind them; they were
    asked about because they were hard, so they would say nothing true about the rest.
    """
    anchors = problem.anchors[:given]
    if len(anchors) == 0 or share <= 0:
        return []
    order = np.random.default_rng(seed).permutation(len(anchors))
    # The smallest problem keeps one anchor to work with, unless there is but one.
    count = int(np.clip(round(share * len(anchors)), 1, max(len(anchors) - 1, 1)))
    result = []
    for start in range(0, min(folds * count, len(anchors)), count):
        chosen = order[start : start + count]
        kept = np.setdiff1d(np.arange(len(problem.anchors)), chosen)
        result.append((replace(problem, anchors=problem.anchors[kept]), anchors[np.sort(chosen)]))
    return result


def hold_out(problem: Problem, share: float, seed: int) -> tuple[Problem, IntArray]:
    """The problem with fewer anchors, and the hidden pairs."""
    drawn = hold_outs(problem, share, seed)
    return drawn[0] if drawn else (problem, as_pairs([]))


def calibrate(
    problem: Problem,
    method: Callable[[Problem, int], Alignment],
    *,
    share: float = 0.2,
    folds: int = 0,
    candidates: int = 10,
    seed: int = 0,
    given: int | None = None,
    hops: int = 0,
) -> Calibrator:
    """Hide anchors, run `method(problem, seed)` without them, fit; `folds = 0` takes as many as it takes to see enough.

    Each fold is one more run of the method: one where a share of the anchors is 1,200 or more, up to 1 / share below.
    """
    count = count_folds(len(problem.anchors[:given]), share, folds)
    made = [Fold(p, method(p, seed), hidden) for p, hidden in hold_outs(problem, share, seed, count, given)]
    return fit_folds(made, candidates=candidates, seed=seed, hops=hops)


def count_folds(anchors: int, share: float, folds: int) -> int:
    """How many runs without a share of so many anchors calibration takes; `folds` as in `calibrate`."""
    most = max(1, int(1 / share)) if share > 0 else 1
    return min(most, folds or -(-_ENOUGH // max(1, round(share * anchors))))


def fit(
    alignment: Alignment, validation: IntArray, problem: Problem, *, candidates: int = 10, seed: int = 0
) -> Calibrator:
    """The calibrator from one run: `problem` is the one without the `validation` pairs."""
    return fit_folds([Fold(problem, alignment, as_pairs(validation))], candidates=candidates, seed=seed)


def fit_folds(folds: Sequence[Fold], *, candidates: int = 10, seed: int = 0, hops: int = 0) -> Calibrator:
    """The calibrator from several runs, pooled; `hops`: how far the rule for single pairs looks (reach.py)."""
    seen = [(f.problem, f.alignment, f.validation) for f in folds]
    rule = fit_pair_rule(seen, np.random.default_rng([seed, 1]), hops)
    lists = [shortlist(f.problem, f.alignment, candidates) for f in folds]
    validated = sum(len(f.validation) for f in folds)
    scale = scale_of(lists)
    fitted = [_fit_at(folds, lists, replace(scale, temperature=t), seed) for t in _TEMPERATURES]
    best = min(fitted, key=lambda one: one.loss)
    tops = [_best_of(pairs, best) for pairs in lists]
    alone = [_best_of(pairs.without(f.validation), best) for pairs, f in zip(lists, folds, strict=True)]
    counterpart = estimate_counterpart(
        np.concatenate([[], *(x[f.validation[:, 0]] for x, f in zip(tops, folds, strict=True))]),
        np.concatenate([[], *(x[f.validation[:, 0]] for x, f in zip(alone, folds, strict=True))]),
        # Of one run: others show the same accounts again. The hidden ones all have a counterpart, so they say nothing.
        np.concatenate([[], *(_free(x, f) for x, f in zip(tops[:1], folds, strict=False))]),
        min([1.0, *(pairs.free_right / max(pairs.free_left, 1) for pairs in lists)]),
    )
    calibrator = Calibrator(best.scale, best.theta, counterpart, rule, validated, best.knots)
    said = calibrator.ceiling * best.said
    return replace(
        calibrator,
        said=said * counterpart.probability(best.best),
        said_given=said,
        right=best.right,
        missing=validated - len(said),
        notes=_notes(validated, best),
    )


@dataclass(frozen=True)
class _Fitted:
    scale: Scale
    theta: FloatArray
    knots: Map
    loss: float
    said: FloatArray
    right: NDArray[np.bool_]
    best: FloatArray


def _free(x: FloatArray, fold: Fold) -> FloatArray:
    """x of the left accounts of which no partner is known, hidden or not."""
    return np.delete(x, np.concatenate([fold.problem.anchors[:, 0], fold.validation[:, 0]]))


def _best_of(pairs: Shortlist, fitted: _Fitted) -> FloatArray:
    return best_logits(logits(fitted.theta, signals(pairs, fitted.scale)), pairs)


def best_logits(z: FloatArray, pairs: Shortlist) -> FloatArray:
    """The logit of the best candidate of every left account, [n_left]; that of the worst where it has none."""
    best = np.full(pairs.n_left, z.min() if len(z) else 0.0)
    np.maximum.at(best, pairs.left, z)
    return best


def _fit_at(folds: Sequence[Fold], lists: Sequence[Shortlist], scale: Scale, seed: int) -> _Fitted:
    """Fit at one temperature, and judge the fit by five-fold cross-validation over the held-out accounts."""
    parts, accounts = [], 0
    for fold, pairs in zip(folds, lists, strict=True):
        partner = np.full(pairs.n_left, -1)
        partner[fold.validation[:, 0]] = fold.validation[:, 1]
        rows = np.flatnonzero(partner[pairs.left] >= 0)
        _, owner = np.unique(pairs.left[rows], return_inverse=True)
        true = (partner[pairs.left[rows]] == pairs.right[rows]).astype(np.float64)
        parts.append((signals(pairs, scale)[rows], owner + accounts, true))
        accounts += int(owner.max()) + 1 if len(owner) else 0
    if accounts == 0:
        none = np.empty(0)
        return _Fitted(scale, PRIOR, (none, none), np.inf, none, np.empty(0, bool), none)
    columns, owner, true = (np.concatenate(c) for c in zip(*parts, strict=True))
    # Every other account judges a model that has not seen it; the number of an account without rows does no harm.
    turn = np.random.default_rng([seed, 2]).permutation(accounts) % 5
    platt, isotonic = np.empty(len(owner)), np.empty(len(owner))
    for k in range(min(5, accounts)):
        out = turn[owner] == k
        p = probabilities(
            logits(fit_weights(columns[~out], owner[~out], true[~out], accounts), columns), owner, accounts
        )
        lead = leaders(p, owner, accounts)
        seen = lead[~out[lead]]
        for result, make in ((platt, platt_map), (isotonic, isotonic_map)):
            result[out] = correct_leaders(p, make(p[seen], true[seen]), owner, accounts)[out]
    losses = [float(log_loss(said, owner, true, accounts).sum()) for said in (platt, isotonic)]
    free_form = accounts >= _ISOTONIC_FROM and losses[1] < losses[0]
    theta = fit_weights(columns, owner, true, accounts)
    z = logits(theta, columns)
    p = probabilities(z, owner, accounts)
    lead = leaders(p, owner, accounts)
    knots = (isotonic_map if free_form else platt_map)(p[lead], true[lead])
    said = isotonic if free_form else platt
    first = leaders(said, owner, accounts)
    return _Fitted(scale, theta, knots, losses[free_form], said[first], true[first] > 0, z[first])


def _notes(validated: int, best: _Fitted) -> tuple[str, ...]:
    notes = []
    if validated == 0:
        notes.append("no anchor could be held out: probabilities are a guess and stay under 0.5")
    elif validated < _FEW:
        notes.append(f"{validated} held-out anchor{'s are' if validated > 1 else ' is'} too few to estimate "
                     "probabilities; they are a guess")  # fmt: skip
    elif validated < _SOME:
        notes.append(f"probabilities rest on {validated} held-out anchors only; take them as rough")
    if validated >= _FEW and len(best.said) == 0:
        notes = ["no held-out account had any candidate: probabilities are a guess"]
    elif validated >= _FEW and not best.right.any():
        notes.append("the best candidate was wrong for every held-out anchor: expect no usable match")
    return tuple(notes)
