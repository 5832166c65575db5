"""Runs of a method without some anchors: which ones each run lacks, and what they are used for.

Anchors are split into parts. The first run of a part lacks its anchors and is for validation: it shows what a score is
worth. In the others two fifths of these anchors are decoys: their partners are removed from the other network too, so
they have no counterpart for certain (target-decoy search, Elias and Gygi, 2007). All runs of a part have the same
anchors, so a later one may start from what the first one has found: neither has seen the anchors that are held out
(docs/decisions/0049). The draw does not depend on the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from kedge.config import DecideConfig
from kedge.linalg import without_entries
from kedge.probability.candidates import Shortlist, shortlist
from kedge.types import Alignment, IntArray, Network, Problem, Suspects

_ENOUGH: Final = 1200  # anchors that the runs lack, all together, at which another one no longer pays; unmeasured
_REPEATS: Final = 3  # how often each anchor is used at most (docs/decisions/0037)
# Of five anchors of a part, in each of its runs: validation, left decoy, right decoy (docs/decisions/0049).
_ONCE: Final = ((0, 0, 0, 1, 2),)
_SEVERAL: Final = ((0, 0, 0, 0, 0), (1, 2, 0, 0, 0), (0, 0, 1, 2, 0))
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


class Part(NamedTuple):
    """The rows of the anchors that the runs of a part lack, [m], and the role of each in every run, [runs, m]: 0
    validation, 1 left decoy, 2 right decoy."""

    rows: IntArray
    roles: IntArray


def draw_parts(problem: Problem, share: float, runs: int, given: int | None = None) -> list[Part]:
    """Parts of a random order of the anchors, with about so many runs together.

    The draw hangs on how many there are and on nothing else, so that another seed has the same. given: only the first
    so many anchors are drawn from. The others were confirmed by a reviewer, who saw them because they were hard: they
    are no fair sample of the rest.
    """
    count = len(problem.anchors[:given])
    if count == 0 or share <= 0 or runs == 0:
        return []
    if count == 1:
        return [Part(np.zeros(1, np.int64), np.zeros((1, 1), np.int64))]
    parts = max(1, min(round(1 / share), count))
    repeats = _repeats(runs, parts)
    roles = np.array(_ONCE if repeats == 1 else _SEVERAL[:repeats])
    kind = np.random.default_rng(19).permutation(count) % roles.shape[1]
    order = np.random.default_rng([19, 0]).permutation(count)
    drawn = [order[part::parts] for part in range(min(parts, -(-runs // repeats)))]
    # The smallest problem has one anchor left.
    return [Part(rows[: count - 1], roles[:, kind[rows[: count - 1]]]) for rows in drawn]


def _repeats(runs: int, parts: int) -> int:
    """How many of the runs each part has: one for validation and one for decoys, unless there is but one."""
    return 1 if runs == 1 else min(_REPEATS, max(2, -(-runs // parts)))


def count_folds(anchors: int, share: float, folds: int) -> int:
    """How many runs without a share of so many anchors calibration takes; `folds` as in `decide.folds`."""
    parts = max(1, round(1 / share)) if share > 0 else 1
    return folds or min(_REPEATS * parts, -(-_ENOUGH // max(1, round(share * anchors))))


def count_parts(anchors: int, share: float, folds: int) -> int:
    """How many of these runs are the first one of a part, and start from nothing."""
    runs = count_folds(anchors, share, folds)
    return -(-runs // _repeats(runs, max(1, round(1 / share)) if share > 0 else 1))


def run_folds(
    problem: Problem,
    align: Callable[[Problem], Alignment],
    settings: DecideConfig,
    given: int | None = None,
    removes: bool = True,
    realign: Callable[[Problem, Alignment], Alignment] | None = None,
) -> list[Fold]:
    """`align` without some anchors, as often as it takes, the first run of every part first; `given` as in
    `draw_parts`.

    The smaller network comes first, whichever is called left: nearly each of its accounts has a counterpart. removes:
    the decoys' partners lose their edges before the method runs. Otherwise they are only taken off the lists, for
    methods that would have to train vectors anew, and one run is enough for a part. realign: what a method does for the
    later runs of a part, given the alignment of its first one; without, it runs again.
    """
    runs = count_folds(len(problem.anchors[:given]), settings.holdout, settings.folds)
    folds: list[tuple[int, Fold]] = []
    for part in draw_parts(problem, settings.holdout, runs, given):
        rows = np.sort(part.rows)
        fewer, _ = problem.hold_out(rows)
        first: Alignment | None = None
        for repeat, role in enumerate(part.roles[:, np.argsort(part.rows)]):
            kinds = (0, 1, 2) if problem.exchanged else (0, 2, 1)  # the same anchors, whichever network is called left
            validation, left, right = (problem.anchors[rows[role == kind]] for kind in kinds)
            here = fewer
            if removes:
                here = replace(fewer, left=_without(fewer.left, right[:, 0]), right=_without(fewer.right, left[:, 1]))
            if first is None:
                found = first = align(here)
            elif not removes:
                found = first
            else:
                found = align(here) if realign is None else realign(here, first)
            fold = Fold(here, found, validation, (left, right))
            folds.append((repeat, fold if problem.exchanged else fold.mirrored()))
    return [fold for _, fold in sorted(folds, key=lambda one: one[0])]


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
