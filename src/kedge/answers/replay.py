"""What reviewers decided, by replay of an append-only log: current verdicts, contradictions, what is resolved, and how
far reviewers agree.

An entry is a verdict (yes, no, unsure) of one reviewer on one pair, the undoing of an earlier entry, or a purge: the
record that the words of earlier entries were forgotten. Pairs are named by the users' own ids, so decisions outlive a
run whose accounts were numbered differently.

The chain of hashes does not hold the words themselves but their seal, SHA-256 over a random salt and the words. Without
salt and words the seal reveals nothing about them, yet every hash stays as it was: a person can be forgotten, and who
wrote the head down can still verify the log.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final, TypeAlias

VERDICTS: Final = ("yes", "no", "unsure")
UNDO: Final = "undo"
PURGE: Final = "purge"
AUDIT_PREFIX: Final = "audit:"  # how the `run` of an answer begins that was asked by an audit
Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """One row of the log.

    `undoes` is the number of the entry that an undo takes back, else None. `left`, `right` and `note` are the words; a
    forgotten entry has none and no salt. A purge has the numbers of the entries it forgot as its note. A draft has no
    number, time and place in the chain yet.
    """

    seq: int = 0
    time: str = ""
    reviewer: str = ""
    action: str = ""
    left: str = ""
    right: str = ""
    note: str = ""
    undoes: int | None = None
    run: str = ""
    key: str = ""
    salt: str = ""
    seal: str = ""
    previous: str = ""
    hash: str = ""

    @property
    def forgotten(self) -> bool:
        """Whether its words were purged."""
        return not self.salt

    @property
    def forgets(self) -> frozenset[int]:
        """The entries that a purge has forgotten."""
        return frozenset(json.loads(self.note)) if self.action == PURGE and self.note else frozenset()

    @property
    def is_audit(self) -> bool:
        """Whether an audit asked for it: such answers are of a random sample and are kept apart from all others."""
        return self.run.startswith(AUDIT_PREFIX)

    @property
    def pair(self) -> Pair:
        """The pair by the users' ids."""
        return self.left, self.right

    def expected_seal(self) -> str:
        """SHA-256 over the salt and the words."""
        return _digest([self.salt, self.left, self.right, self.note])

    def expected_hash(self) -> str:
        """SHA-256 over the previous row's hash, the seal of the words and all other content of this row."""
        content = [self.previous, self.seq, self.time, self.reviewer, self.action, self.seal]
        return _digest([*content, self.undoes, self.run, self.key])

    def is_sound(self, seq: int, previous: str) -> bool:
        """Whether number, chain, content and seal fit; a forgotten entry has no words left."""
        chained = self.seq == seq and self.previous == previous and self.hash == self.expected_hash()
        if self.forgotten:
            return chained and not (self.left or self.right or self.note)
        return chained and self.seal == self.expected_seal()

    def sealed(self, salt: str, previous: str) -> Entry:
        """The same entry as a link of the chain."""
        entry = replace(self, salt=salt, previous=previous)
        entry = replace(entry, seal=entry.expected_seal())
        return replace(entry, hash=entry.expected_hash())


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class Contradiction:
    """An account that was confirmed with several partners, on one side."""

    side: str
    account: str
    partners: tuple[str, ...]


@dataclass(frozen=True)
class Resolved:
    """What the reviewers agree on, as pairs in the order of their ids, and what is in dispute."""

    confirmed: tuple[Pair, ...]
    rejected: tuple[Pair, ...]
    disputed: tuple[Pair, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def digest(self) -> str:
        """A hash of what the next match would learn: equal exactly if confirmed and rejected pairs are."""
        return _digest([self.confirmed, self.rejected])

    def __bool__(self) -> bool:
        return bool(self.confirmed or self.rejected)

    def joined(self, other: Resolved) -> Resolved:
        """What both have; a pair that one confirms and the other rejects is in dispute."""
        yes, no = ({*getattr(self, name), *getattr(other, name)} for name in ("confirmed", "rejected"))
        disputed = {*self.disputed, *other.disputed, *(yes & no)}
        counts = [Counter(pair[side] for pair in yes - disputed) for side in (0, 1)]
        twice = {pair for pair in yes if counts[0][pair[0]] > 1 or counts[1][pair[1]] > 1}
        return Resolved(
            confirmed=tuple(sorted(yes - disputed - twice)),
            rejected=tuple(sorted(no - disputed)),
            disputed=tuple(sorted(disputed)),
            contradictions=(*self.contradictions, *other.contradictions),
        )


@dataclass
class State:
    """The replayed log; `add` takes the next entry, so a server need not replay from the start.

    `audit`: whether the answers of the audit count, or all others; `entries` are those of both kinds.
    """

    audit: bool = False
    entries: list[Entry] = field(default_factory=list)
    undone: dict[int, int] = field(default_factory=dict)
    by_key: dict[str, Entry] = field(default_factory=dict)
    _stacks: dict[tuple[str, Pair], list[Entry]] = field(default_factory=lambda: defaultdict(list))
    _of_reviewer: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    _reviewers: dict[Pair, set[str]] = field(default_factory=lambda: defaultdict(set))
    _yes: tuple[dict[str, set[str]], dict[str, set[str]]] = field(default_factory=lambda: ({}, {}))

    def add(self, entry: Entry) -> None:
        """Take one more entry into account."""
        self.entries.append(entry)
        self.by_key[entry.key] = entry
        if entry.undoes is not None:
            self.undone[entry.undoes] = entry.seq
        if entry.forgotten or entry.action == PURGE or entry.is_audit != self.audit:
            return  # an undo is about the same pair as what it undoes, so both are forgotten together
        if entry.undoes is not None:
            target = self.entries[entry.undoes - 1]
            self._stacks[target.reviewer, target.pair].remove(target)
            self._of_reviewer[target.reviewer].remove(target)
        else:
            self._stacks[entry.reviewer, entry.pair].append(entry)
            self._of_reviewer[entry.reviewer].append(entry)
            self._reviewers[entry.pair].add(entry.reviewer)
        left, right = entry.pair
        for table, one, other in ((self._yes[0], left, right), (self._yes[1], right, left)):
            if self.verdict(entry.pair) == "yes":
                table.setdefault(one, set()).add(other)
            else:
                table.get(one, set()).discard(other)

    def current(self, reviewer: str, pair: Pair) -> Entry | None:
        """The reviewer's standing decision on a pair."""
        stack = self._stacks.get((reviewer, pair))
        return stack[-1] if stack else None

    def standing(self, pair: Pair) -> list[Entry]:
        """The standing decisions on a pair, one per reviewer, oldest first."""
        found = [self.current(reviewer, pair) for reviewer in self._reviewers.get(pair, ())]
        return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.seq)

    def verdict(self, pair: Pair) -> str | None:
        """The verdict of all reviewers together: yes, no, unsure, disputed (yes against no) or None.

        Unsure does not outweigh a reviewer who is sure.
        """
        given = {entry.action for entry in self.standing(pair)}
        if {"yes", "no"} <= given:
            return "disputed"
        return next((verdict for verdict in VERDICTS if verdict in given), None)

    def last(self, reviewer: str) -> Entry | None:
        """The newest decision of a reviewer that is not undone: what a plain undo takes back."""
        own = self._of_reviewer.get(reviewer)
        return own[-1] if own else None

    def pairs(self) -> list[Pair]:
        """Every pair that has a standing decision."""
        return [pair for pair in self._reviewers if self.standing(pair)]

    @property
    def reviewers(self) -> list[str]:
        """Everyone who ever decided, by name."""
        return sorted(self._of_reviewer)

    def partners(self, side: int, account: str) -> set[str]:
        """Whom an account is confirmed with; side 0 is left."""
        return set(self._yes[side].get(account, ()))

    def contradictions(self) -> list[Contradiction]:
        """Accounts confirmed with more than one partner."""
        return [
            Contradiction(name, account, tuple(sorted(partners)))
            for name, table in zip(("left", "right"), self._yes, strict=True)
            for account, partners in sorted(table.items())
            if len(partners) > 1
        ]

    def resolved(self) -> Resolved:
        """Confirmed and rejected pairs that the next match may rely on; contradictory ones are not among them."""
        verdicts = {pair: self.verdict(pair) for pair in self.pairs()}
        contradictions = tuple(self.contradictions())
        twice = {(found.side, found.account) for found in contradictions}
        confirmed = [
            pair
            for pair, verdict in verdicts.items()
            if verdict == "yes" and ("left", pair[0]) not in twice and ("right", pair[1]) not in twice
        ]
        chosen = {name: sorted(p for p, v in verdicts.items() if v == name) for name in ("no", "disputed")}
        return Resolved(tuple(sorted(confirmed)), tuple(chosen["no"]), tuple(chosen["disputed"]), contradictions)


def replay(entries: Iterable[Entry], audit: bool = False) -> State:
    """The state after all entries."""
    state = State(audit)
    for entry in entries:
        state.add(entry)
    return state


@dataclass(frozen=True)
class Agreement:
    """How two reviewers judged the pairs that both decided; Cohen's kappa is None where it is not defined."""

    first: str
    second: str
    both: int
    same: int
    kappa: float | None
    table: Mapping[str, Mapping[str, int]]


def agreement(state: State) -> list[Agreement]:
    """Cohen (1960): kappa = (observed - chance) / (1 - chance) for each two reviewers who share a pair.

    Chance is the agreement of two who keep their own shares of yes, no and unsure but decide blindly.
    """
    verdicts: dict[str, dict[Pair, str]] = defaultdict(dict)
    for pair in state.pairs():
        for entry in state.standing(pair):
            verdicts[entry.reviewer][pair] = entry.action
    couples = combinations(sorted(verdicts), 2)
    return [
        _compare(*couple, verdicts) for couple in couples if verdicts[couple[0]].keys() & verdicts[couple[1]].keys()
    ]


def _compare(first: str, second: str, verdicts: Mapping[str, Mapping[Pair, str]]) -> Agreement:
    shared = verdicts[first].keys() & verdicts[second].keys()
    cells = Counter((verdicts[first][pair], verdicts[second][pair]) for pair in shared)
    table = {a: {b: cells[a, b] for b in VERDICTS} for a in VERDICTS}
    same = sum(cells[v, v] for v in VERDICTS)
    shares = [(sum(table[v].values()), sum(table[a][v] for a in VERDICTS)) for v in VERDICTS]
    chance = sum(row * column for row, column in shares) / len(shared) ** 2
    kappa = None if chance >= 1 else (same / len(shared) - chance) / (1 - chance)
    return Agreement(first, second, len(shared), same, kappa, table)
