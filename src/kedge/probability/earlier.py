"""Probabilities of runs that earlier versions calibrated: their candidates keep them (docs/decisions/0029).

Earlier versions looked at each account from one side only,

    P(u, v) = P(v | u has a counterpart) · P(u has a counterpart | the logit of u's best candidate)

with a one-dimensional map of the leader and a step-wise one of the logit. `kedge match` calibrates anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kedge.probability.calibration import Estimate
from kedge.probability.candidates import Scale, Shortlist, signals
from kedge.probability.choice import logits, probabilities
from kedge.probability.leaders import leader_rows
from kedge.probability.pair_rule import PairRule, predicts_link
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem


@dataclass(frozen=True)
class EarlierCounterpart:
    """P(counterpart) between knots: `at` a logit the `level`; `share` is the mean, `limit` the largest possible."""

    at: FloatArray
    level: FloatArray
    share: float
    limit: float


@dataclass(frozen=True)
class EarlierCalibrator:
    """As `Calibrator`, of an earlier version; `one_order`: fitted with the smaller network first. `unlisted` is the
    chance that a right account which is none of its candidates' counterpart has one all the same."""

    scale: Scale
    theta: FloatArray
    counterpart: EarlierCounterpart
    rule: PairRule
    validated: int
    knots: tuple[FloatArray, FloatArray] = field(default_factory=lambda: (np.empty(0), np.empty(0)))
    predicted: FloatArray = field(default_factory=lambda: np.empty(0))
    predicted_given_counterpart: FloatArray = field(default_factory=lambda: np.empty(0))
    correct: BoolArray = field(default_factory=lambda: np.empty(0, bool))
    without_candidates: int = 0
    notes: tuple[str, ...] = ()
    one_order: bool = False
    unlisted: float = 0.0

    @property
    def misfit(self) -> None:
        """Earlier versions did not compare with chance."""
        return None

    def is_mirrored(self, problem: Problem) -> bool:
        """Whether its left accounts are those of the right network."""
        return self.one_order and not problem.exchanged

    def estimate(
        self, _problem: Problem, pairs: Shortlist, _known: tuple[float, float] | None = None, _side: int = 0
    ) -> Estimate:
        """The probabilities of all candidates and accounts; a share that the user knows changes nothing."""
        z = logits(self.theta, signals(pairs, self.scale))
        best = np.full(pairs.n_left, z.min() if len(z) else 0.0)
        np.maximum.at(best, pairs.left, z)
        left = np.interp(best, self.counterpart.at, self.counterpart.level)
        ceiling = (self.validated + 1) / (self.validated + 2)
        given = ceiling * self._correct_leaders(probabilities(z, pairs.left, pairs.n_left), pairs)
        p = given * left[pairs.left]
        listed = np.minimum(np.bincount(pairs.right, p, minlength=pairs.n_right), 1.0)
        right = listed + (1 - listed) * self.unlisted
        return Estimate(
            np.asarray(p), np.asarray(left), np.asarray(right), (self.counterpart.share, float(right.mean()))
        )

    def _correct_leaders(self, p: FloatArray, pairs: Shortlist) -> FloatArray:
        """Each account's leader goes through the map; the others share what it leaves as before."""
        predicted, observed = self.knots
        if len(predicted) == 0 or len(p) == 0:
            return p
        row = leader_rows(p, pairs.left, pairs.n_left)
        rows = row[row >= 0]
        new = np.interp(p[rows], predicted, observed)
        keep, cap = np.ones(pairs.n_left), np.ones(pairs.n_left)
        keep[pairs.left[rows]] = (1 - new) / np.maximum(1 - p[rows], 1e-12)
        cap[pairs.left[rows]] = new
        result = np.minimum(p * keep[pairs.left], cap[pairs.left])
        result[rows] = new
        return np.asarray(result)

    def predicts_link(self, problem: Problem, alignment: Alignment, pairs: IntArray) -> BoolArray:
        """As `Calibrator.predicts_link`."""
        return predicts_link(self.rule, problem, alignment, pairs, self.is_mirrored(problem))
