"""The queue of pairs to review: a run, the log of decisions, and what follows from both for each pair."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import numpy as np
import pyarrow.compute as pc

from kedge.answers import VERDICTS, Entry, Pair
from kedge.review.data import ReviewData
from kedge.review.progress import Reviewed, agreements, reviewer_counts, towards_target
from kedge.review.requests import Filters
from kedge.review.responses import Progress, Warning
from kedge.store.decisions import DecisionLog
from kedge.types import DECISIONS, BoolArray, IntArray

_VERDICTS: Final[tuple[str | None, ...]] = (None, *VERDICTS, "disputed")
_CODES: Final = {word: code for code, word in enumerate(_VERDICTS)}
_RECENT: Final = 4096  # pairs whose ids are remembered after they were shown


class ReviewQueue:
    """For each place of the queue what was decided; one entry of the log changes one place."""

    def __init__(self, data: ReviewData, log: DecisionLog) -> None:
        self.data = data
        self.log = log
        rows = data.queue
        self.left, self.right = data.matches.left[rows], data.matches.right[rows]
        self.probability = data.matches.probability[rows].astype(np.float64)
        self.decision = data.matches.decision[rows]
        self._place = np.full(data.problem.left.n, -1)
        self._place[self.left] = np.arange(len(rows))
        self._verdict = np.zeros(len(rows), np.int8)
        self._mine: dict[str, BoolArray] = {}
        self._confirmed = (np.zeros(data.problem.left.n, np.int32), np.zeros(data.problem.right.n, np.int32))
        self._accounts: dict[Pair, tuple[int, int]] = {}  # of decided pairs
        self._recent: OrderedDict[Pair, tuple[int, int]] = OrderedDict()  # of pairs that were shown
        self._verdicts: dict[Pair, str | None] = {}
        self._seen = 0
        self.sync()

    def sync(self) -> None:
        """Read what this or another process has decided since; refuses if the run was replaced meanwhile."""
        self.data.refuse_replaced()
        self.log.refresh()
        entries = self.log.state.entries[self._seen :]
        self._seen += len(entries)
        decided = dict.fromkeys(entry.pair for entry in entries if entry.pair not in self._accounts)
        self._accounts.update((pair, self._recent[pair]) for pair in decided if pair in self._recent)
        unknown = [pair for pair in decided if pair not in self._accounts]
        if unknown:
            lefts = self.data.problem.left.find([u for u, _ in unknown]).tolist()
            rights = self.data.problem.right.find([v for _, v in unknown]).tolist()
            self._accounts.update(zip(unknown, zip(lefts, rights, strict=True), strict=True))
        for entry in entries:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        state = self.log.state
        left, right = self._accounts[entry.pair]
        if left < 0 or right < 0:
            return  # decided about other data; listed in the history, of no use to this queue
        before, now = self._verdicts.get(entry.pair), state.verdict(entry.pair)
        self._verdicts[entry.pair] = now
        step = (now == "yes") - (before == "yes")
        self._confirmed[0][left] += step
        self._confirmed[1][right] += step
        place = int(self._place[left])
        if place >= 0 and self.right[place] == right:
            self._verdict[place] = _CODES[now]
            mine = self._mine.setdefault(entry.reviewer, np.zeros(len(self.left), bool))
            mine[place] = state.current(entry.reviewer, entry.pair) is not None

    def accounts(self, pair: Pair) -> tuple[int, int] | None:
        """The account numbers of a decided pair; None where this run has no such account."""
        found = self._accounts.get(pair)
        return None if found is None or min(found) < 0 else found

    def pair(self, left: int, right: int) -> Pair:
        """The users' ids of a pair."""
        ids = self.data.problem.left.name(left), self.data.problem.right.name(right)
        # A decision on it need not be looked up by its ids; but someone may look at any number of pairs.
        self._recent[ids] = (left, right)
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return ids

    def mine(self, reviewer: str) -> BoolArray:
        """Which places of the queue a reviewer has decided."""
        return self._mine.get(reviewer, np.zeros(len(self.left), bool))

    def _elsewhere(self) -> BoolArray:
        """Places whose left or right account is confirmed with another partner: resolved without a question."""
        if self.data.audit:  # each pair of the sample is asked
            return np.zeros(len(self.left), bool)
        confirmed = (self._confirmed[0][self.left] > 0) | (self._confirmed[1][self.right] > 0)
        return np.asarray(confirmed & (self._verdict == 0))

    def _besides(self, yes: BoolArray) -> int:
        """Confirmed pairs in no place of the queue, without those that are anchors of this run already."""
        accounts = (self._accounts[pair] for pair, verdict in self._verdicts.items() if verdict == "yes")
        return sum(bool(self.data.partner[0][left] < 0) for left, _ in accounts) - int(yes.sum())

    def select(self, reviewer: str, filters: Filters) -> IntArray:
        """The places of the queue that pass the filters, in its order."""
        mine = self.mine(reviewer)
        decided = self._verdict > 0
        by_status = {
            "open": ~decided & ~self._elsewhere(),
            "second": decided & ~mine,
            "decided": decided,
            "unsure": self._verdict == _CODES["unsure"],
            "disputed": self._verdict == _CODES["disputed"],
            "all": np.ones(len(decided), bool),
        }
        chosen = by_status[filters.status]
        if filters.decision is not None:
            chosen = chosen & (self.decision == DECISIONS.index(filters.decision))
        if filters.least > 0 or filters.most < 1:
            chosen = chosen & (self.probability >= filters.least) & (self.probability <= filters.most)
        if filters.text:
            problem = self.data.problem
            hits = [np.asarray(pc.match_substring(n.ids, filters.text)) for n in (problem.left, problem.right)]
            chosen = chosen & (hits[0][self.left] | hits[1][self.right])
        return np.flatnonzero(chosen)

    def next_pair(self, reviewer: str, filters: Filters, after: int | None = None) -> tuple[int, int] | None:
        """The most informative pair that passes; after a left account: the next one behind its place (a skip)."""
        places = self.select(reviewer, filters)
        if after is not None and 0 <= after < len(self._place) and self._place[after] >= 0:
            behind = places[places > self._place[after]]
            places = behind if len(behind) else places
        return (int(self.left[places[0]]), int(self.right[places[0]])) if len(places) else None

    def is_asked(self, left: int, right: int) -> bool:
        """Whether a pair may be answered: in an audit, only if it is in the sample."""
        place = int(self._place[left])
        return not self.data.audit or (place >= 0 and int(self.right[place]) == right)

    def is_blind(self, reviewer: str, left: int, right: int) -> bool:
        """Whether an audit conceals what kedge decided of a pair: until the reviewer has answered it."""
        return self.data.audit and self.log.state.current(reviewer, self.pair(left, right)) is None

    def verdict(self, left: int, right: int) -> str | None:
        """The verdict of all reviewers together on a pair."""
        return self._verdicts.get(self.pair(left, right))

    def verdict_at(self, place: int) -> str | None:
        """The same by its place in the queue."""
        return _VERDICTS[int(self._verdict[place])]

    def progress(self, reviewer: str, target: float | None = None) -> Progress:
        """How far the review has come."""
        yes, no = (self._verdict == _CODES[word] for word in ("yes", "no"))
        open_ = (self._verdict == 0) & ~self._elsewhere()
        # A pair whose account went to another partner is as good as rejected.
        no = no | self._elsewhere()
        wanted = self.data.config.decide.precision if target is None else target
        matches = self.decision == DECISIONS.index("match")
        towards = towards_target(self.probability, matches, Reviewed(yes, no, open_), wanted, self._besides(yes))
        unsure = int((self._verdict == _CODES["unsure"]).sum())
        return {
            **towards,
            "unsure": unsure,
            "mine": int(self.mine(reviewer).sum()),
            "entries": len(self.log.state.entries),
            "head": self.log.head,
            "reviewers": reviewer_counts(self.log.state),
            "agreement": agreements(self.log.state),
        }

    def warnings(self, left: int, right: int) -> list[Warning]:
        """Why a yes would contradict what is known: an account that has another partner already."""
        found: list[Warning] = []
        problem, state, pair = self.data.problem, self.log.state, self.pair(left, right)
        for side, (number, other) in enumerate(((left, right), (right, left))):
            name = ("left", "right")[side]
            network, far = (problem.left, problem.right) if side == 0 else (problem.right, problem.left)
            known = int(self.data.partner[side][number])
            if known >= 0 and known != other:
                found.append({"side": name, "id": network.name(number), "partner": far.name(known), "by": "anchor"})
            for partner in sorted(state.partners(side, pair[side]) - {pair[1 - side]}):
                both = (pair[0], partner) if side == 0 else (partner, pair[1])
                who = ", ".join(entry.reviewer for entry in state.standing(both) if entry.action == "yes")
                found.append({"side": name, "id": pair[side], "partner": partner, "by": who})
        return found
