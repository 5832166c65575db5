"""What the next match learns from decisions: confirmed pairs become anchors, rejected ones are ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.answers.replay import Pair, Resolved
from kedge.types import IntArray, Problem, as_pairs


@dataclass(frozen=True)
class Learned:
    """How many decisions were used, and notes on those that were not."""

    confirmed: int
    rejected: int
    notes: tuple[str, ...]


def learn(problem: Problem, resolved: Resolved) -> tuple[Problem, Learned]:
    """The problem with reviewers' decisions in it. The anchors that the user gave win over decisions against them."""
    confirmed, unknown = _found(problem, resolved.confirmed)
    rejected, unknown_rejected = _found(problem, resolved.rejected)
    given = {(int(u), int(v)) for u, v in problem.anchors}
    fresh = np.array([(u, v) not in given for u, v in confirmed.tolist()], bool)
    against = fresh & (
        np.isin(confirmed[:, 0], problem.anchors[:, 0]) | np.isin(confirmed[:, 1], problem.anchors[:, 1])
    )
    added = _in_order(confirmed[fresh & ~against])
    overruled = np.array([(u, v) in given for u, v in rejected.tolist()], bool)
    ruled_out = _in_order(rejected[~overruled])
    notes = [f"{len(added):,} confirmed pairs are anchors now, {len(ruled_out):,} rejected pairs are ruled out"]
    ignored = {
        "confirmed or rejected pairs name an account that is in neither network": unknown + unknown_rejected,
        "confirmed pairs are ignored: they contradict a given anchor": int(against.sum()),
        "rejected pairs are ignored: they are among the given anchors": int(overruled.sum()),
        "accounts were confirmed with several partners; none of these pairs is used": len(resolved.contradictions),
        "pairs on which reviewers disagree are ignored": len(resolved.disputed),
    }
    notes += [f"decisions: {count:,} {words}" for words, count in ignored.items() if count]
    learned = Learned(len(added), len(ruled_out), tuple(notes))
    return replace(problem, anchors=np.concatenate([problem.anchors, added]), rejected=ruled_out), learned


def _in_order(pairs: IntArray) -> IntArray:
    """The pairs by their numbers, in an order that stays when the sides are exchanged: names carry no meaning."""
    return pairs[np.lexsort((pairs.min(axis=1, initial=np.iinfo(np.int64).max), pairs.sum(axis=1)))]


def _found(problem: Problem, pairs: Sequence[Pair]) -> tuple[IntArray, int]:
    """The pairs as accounts, and how many name an account that is not there."""
    columns = [problem.left.find([u for u, _ in pairs]), problem.right.find([v for _, v in pairs])]
    accounts = as_pairs(np.column_stack(columns))
    known = (accounts >= 0).all(axis=1)
    return accounts[known], int((~known).sum())
