"""Runs of a method without some anchors: which ones each run lacks, and what they are used for.

Most of them show what a score is worth. The others are decoys: their partners are removed from the other network too,
so they have no counterpart for certain (target-decoy search, Elias and Gygi, 2007). Every anchor is used several times:
which ones are together in a run is drawn anew, so that little depends on the draw, and the draw does not depend on the
seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kedge.config import DecideConfig
from kedge.linalg import without_entries
from kedge.probability.candidates import Shortlist, shortlist
from kedge.types import Alignment, IntArray, Network, Problem, Suspects

_ENOUGH: Final = 1200  # anchors that the runs lack, all together, at which another one no longer pays; unmeasured
_REPEATS: Final = 3  # how often each anchor is used at most (docs/decisions/0037)
_ROLES: Final = np.array([0, 0, 0, 1, 2])  # of five anchors: validation, left decoy, right decoy (docs/decisions/0037)
_NONE: Final = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class Fold:
    """A problem without some anchors, the method's alignment of it, and these anchors.

    `validation` are those whose accounts are both there. Of `decoys[0]` the right accounts were removed, so that the
    left ones have no counterpart; of `decoys[1]` the left ones were.
    """

    problem: Problem
    alignment: Alignment
    validation: IntArray
    decoys: tuple[IntArray, IntArray] = (_NONE, _NONE)

    def mirrored(self) -> Fold:
        """The same with left and right exchanged."""
        left, right = (pairs[:, ::-1] for pairs in self.decoys)
        return Fold(self.problem.mirrored(), self.alignment.mirrored(), self.validation[:, ::-1], (right, left))

    def without(self, suspects: Suspects) -> Fold:
        """The same without suspected anchors: a wrong one is no error of the method, and its account no decoy."""
        mine = suspects if self.problem.sides[0] == "left" else suspects.mirrored()
        validation, left, right = (mine.kept(one, self.problem.right.n) for one in (self.validation, *self.decoys))
        return replace(self, validation=validation, decoys=(left, right))

    def shortlist(self, candidates: int) -> Shortlist:
        """The candidates of its accounts, without those that were removed."""
        removed = (self.decoys[1][:, 0], self.decoys[0][:, 1])
        return shortlist(self.problem, self.alignment, candidates, removed)


def draw_folds(problem: Problem, share: float, runs: int, given: int | None = None) -> list[tuple[IntArray, IntArray]]:
    """For each run the rows of the anchors that it lacks, and the role of each: 0 validation, 1 left decoy, 2 right.

    Parts of a random order of the anchors, then of another. The draw hangs on how many there are and on nothing else,
    so that another seed has the same. given: only the first so many anchors are drawn from. The others were confirmed
    by a reviewer, who saw them because they were hard: they are no fair sample of the rest.
    """
    count = len(problem.anchors[:given])
    if count == 0 or share <= 0:
        return []
    parts = max(1, min(round(1 / share), count))
    kind = np.random.default_rng(19).permutation(count) % len(_ROLES)
    drawn: list[tuple[IntArray, IntArray]] = []
    for repeat in range(-(-runs // parts)):
        order = np.random.default_rng([19, repeat]).permutation(count)
        role = _ROLES[(kind[order] + 2 * repeat) % len(_ROLES)]  # of three uses at least one is validation, one decoy
        drawn += [(order[part::parts], role[part::parts]) for part in range(parts)]
    # The smallest problem has one anchor left, unless there is but one.
    return drawn[:runs] if count > 1 else [(np.zeros(1, np.int64), np.zeros(1, np.int64))]


def count_folds(anchors: int, share: float, folds: int) -> int:
    """How many runs without a share of so many anchors calibration takes; `folds` as in `decide.folds`."""
    parts = max(1, round(1 / share)) if share > 0 else 1
    return folds or min(_REPEATS * parts, -(-_ENOUGH // max(1, round(share * anchors))))


def run_folds(
    problem: Problem,
    align: Callable[[Problem], Alignment],
    settings: DecideConfig,
    given: int | None = None,
    removes: bool = True,
) -> list[Fold]:
    """`align` without some anchors, as often as it takes; `given` as in `draw_folds`.

    The smaller network comes first, whichever is called left: nearly each of its accounts has a counterpart. removes:
    the decoys' partners lose their edges before the method runs. Otherwise they are only taken off the lists, for
    methods that would have to train vectors anew.
    """
    runs = count_folds(len(problem.anchors[:given]), settings.holdout, settings.folds)
    folds = []
    for rows, role in draw_folds(problem, settings.holdout, runs, given):
        kinds = (0, 1, 2) if problem.exchanged else (0, 2, 1)  # the same anchors, whichever network is called left
        validation, left, right = (problem.anchors[np.sort(rows[role == kind])] for kind in kinds)
        fewer, _ = problem.hold_out(np.sort(rows))
        if removes:
            fewer = replace(fewer, left=_without(fewer.left, right[:, 0]), right=_without(fewer.right, left[:, 1]))
        fold = Fold(fewer, align(fewer), validation, (left, right))
        folds.append(fold if problem.exchanged else fold.mirrored())
    return folds


def _without(network: Network, accounts: IntArray) -> Network:
    """The network without the edges of these accounts."""
    if len(accounts) == 0:
        return network
    return Network(without_entries(network.adjacency, accounts, accounts), network.ids)


def used_once(folds: Sequence[Fold]) -> int:
    """How many of the folds there are before an anchor is used again."""
    seen: set[int] = set()
    for count, fold in enumerate(folds):
        own = {int(left) for pairs in (fold.validation, *fold.decoys) for left in pairs[:, 0]}
        if own & seen:
            return count
        seen |= own
    return len(folds)
