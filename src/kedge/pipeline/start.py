"""Matching without any anchor: pairs whose profiles agree take the place of anchors, and are known to be doubtful.

They teach evidence and calibration as anchors would. They are no known pairs: each is scored by a run that did not have
it, like any other pair, and every probability is multiplied by the share of them that is expected to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import Progress
from kedge.linalg import SparseAlignment, without_entries
from kedge.probability import Calibrator
from kedge.profiles import find_start
from kedge.types import Alignment, IntArray, Problem, Support

_PARTS: Final = 2  # that the pairs are divided into; each is scored with the others; unmeasured


@dataclass(frozen=True)
class Started:
    """A problem whose first `count` anchors are assumed; a share `precision` of them is expected to be right. `note`
    is what the user should know of it."""

    problem: Problem
    count: int
    precision: float
    note: str

    def doubting(self, calibrator: Calibrator) -> Calibrator:
        """The calibrator with every probability lower by the assumed pairs that are wrong, and the share with a
        counterpart that of all accounts: nothing is known, so the assumed ones are among those in question."""
        return self._of_all(calibrator).with_anchors_right(self.precision, self.note)

    def _of_all(self, calibrator: Calibrator) -> Calibrator:
        """The share is estimated by how many accounts are as sure as an anchored one. The runs had the assumed pairs as
        anchors, so these were not counted among all: here they are, as sure as assumed ones are that a run lacked."""
        networks, assumed = (self.problem.left, self.problem.right), self.problem.anchors[: self.count]
        order = (1, 0) if calibrator.is_mirrored(self.problem) else (0, 1)
        made = []
        for of, side in zip(calibrator.moments, order, strict=True):
            if len(of.size) == 0:
                return calibrator
            active = np.log1p(networks[side].degrees[assumed[:, side]])
            stratum = np.abs(active[:, None] - of.active).argmin(axis=1)
            more = np.bincount(stratum, minlength=len(of.size))
            size = of.size + more
            share = (of.everyone * of.size + of.anchored * more) / size
            x = (of.active * of.size + np.bincount(stratum, active, minlength=len(of.size))) / size
            variance = np.vstack([share * (1 - share) / size, of.variance[1:]])
            centre = float(x @ size / size.sum())
            made.append(replace(of, everyone=share, variance=variance, size=size, active=x, centre=centre))
        return replace(calibrator, moments=(made[0], made[1]))

    def align(self, align: Callable[[Problem], Alignment]) -> Alignment:
        """Scores of all pairs, as if none were assumed: those of assumed pairs' accounts are from a run without them.

        The neighbours of an explanation are those of the run with all of them.
        """
        whole = align(self.problem)
        if self.count == 0:
            return whole
        if not isinstance(whole, SparseAlignment):
            raise TypeError("a method that reads profiles scores candidates alone")
        assumed = self.problem.anchors[: self.count]
        parts = [_without(whole, *assumed.T)]
        for rows in np.array_split(np.random.default_rng(43).permutation(self.count), min(_PARTS, self.count)):
            fewer, held = self.problem.hold_out(np.sort(rows))
            found = align(fewer)
            assert isinstance(found, SparseAlignment)
            parts.append(_of_accounts(_without(found, *fewer.anchors.T), held))
        scores, strengths = _joined([part.scores for part in parts]), _joined([part.strengths for part in parts])
        prior = _joined([None if part.support is None else part.support.prior for part in parts])
        support = None if whole.support is None else Support(whole.support.beliefs, prior)
        return SparseAlignment(whole.scores if scores is None else scores, strengths, whole.vectors, support)


def _joined(parts: Sequence[csr_array | None]) -> csr_array | None:
    """The sum of matrices that have no entry in common; None where any is missing."""
    given = [part for part in parts if part is not None]
    return csr_array(reduce(add, given)) if len(given) == len(parts) else None


def _without(alignment: SparseAlignment, left: IntArray, right: IntArray) -> SparseAlignment:
    """The same without these accounts, with what explains the others."""
    prior = None if alignment.support is None else alignment.support.prior
    support = None
    if alignment.support is not None:
        support = Support(alignment.support.beliefs, None if prior is None else without_entries(prior, left, right))
    return replace(alignment.without(left, right), support=support)


def _of_accounts(alignment: SparseAlignment, pairs: IntArray) -> SparseAlignment:
    """The candidates of these pairs' accounts alone."""

    def kept(matrix: csr_array) -> csr_array:
        # Scores may be 0, so places are compared and not values.
        entries = csr_array((np.arange(1, matrix.nnz + 1), matrix.indices, matrix.indptr), shape=matrix.shape)
        others = without_entries(entries, *pairs.T).data
        mine = np.setdiff1d(entries.data, others) - 1
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return csr_array((matrix.data[mine], (rows[mine], matrix.indices[mine])), shape=matrix.shape)

    strengths, support = alignment.strengths, alignment.support
    if support is not None and support.prior is not None:
        support = replace(support, prior=kept(support.prior))
    return SparseAlignment(kept(alignment.scores), None if strengths is None else kept(strengths), support=support)


def start(problem: Problem, config: Config, given: int | None, progress: Progress) -> Started | None:
    """Where no anchor was given but profiles were: the problem with the pairs to start from, if any are sure enough.
    None if that is not so. `given` as in `solve`."""
    if problem.profiles is None or len(problem.anchors[:given]):
        return None
    progress.stage("looking for pairs to start from")
    found = find_start(*problem.profiles, config.profiles)
    # What reviewers have answered is known better.
    taken = [np.isin(side, known) for side, known in zip(found.pairs.T, problem.anchors.T, strict=True)]
    pairs = found.pairs[~(taken[0] | taken[1] | problem.is_rejected(found.pairs))]
    if len(pairs) == 0:
        note = "no anchor was given, and profiles agree too little to start from; give some known pairs with --anchors"
        return Started(problem, 0, 1.0, note)
    note = (
        f"started from {len(pairs):,} pairs whose profiles agree; no anchor was given. About {found.precision:.1%} of "
        "them are right, and no probability is higher; `kedge audit` measures how many matches are right"
    )
    anchors = np.concatenate([pairs, problem.anchors])
    return Started(replace(problem, anchors=anchors), len(pairs), found.precision, note)
