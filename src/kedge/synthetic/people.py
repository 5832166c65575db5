"""Planted profiles: persons with names, handles, cities and bios, and what two networks show of each.

A person has a name from a pool in which some names are frequent, so that strangers share them; a city, often that of a
friend; and interests. Each network shows the person through its own noise: typing errors, nicknames, swapped parts,
digits, moves, other words, missing fields. `DIFFICULTIES` has how much of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from kedge.synthetic.pair import Planted
from kedge.types import IntArray, KedgeError, Network

Rng = np.random.Generator


@dataclass(frozen=True)
class Difficulty:
    """Shares of accounts: `missing` of each field, typing errors, nicknames, swapped parts, digits added, moved, and of
    handles and words that are chosen anew on each side. `names`: distinct names per person."""

    missing: float
    typo: float
    nickname: float
    swapped: float
    digits: float
    moved: float
    new_handle: float
    new_words: float
    names: float


DIFFICULTIES: Final[Mapping[str, Difficulty]] = {
    "easy": Difficulty(0.05, 0.03, 0.05, 0.03, 0.1, 0.05, 0.15, 0.3, 1.0),
    "medium": Difficulty(0.2, 0.08, 0.2, 0.1, 0.3, 0.2, 0.5, 0.6, 0.3),
    "hard": Difficulty(0.45, 0.15, 0.35, 0.2, 0.5, 0.4, 0.85, 0.85, 0.1),
}
_FIRST: Final[Mapping[str, str]] = dict(
    pair.split(":")
    for pair in (
        "alexander:alex alexandra:sasha andrew:andy anna:anya anthony:tony benjamin:ben catherine:kate "
        "charles:charlie christina:tina christopher:chris daniel:dan david:dave deborah:debbie edward:ted "
        "elizabeth:liz emily:em francis:frank frederick:fred gabriel:gabe giovanni:gianni gregory:greg henry:harry "
        "ignacio:nacho isabella:bella jacob:jake james:jim jennifer:jenny jessica:jess john:jack jonathan:jon "
        "joseph:joe joshua:josh katarzyna:kasia kenneth:ken kimberly:kim lawrence:larry leonard:leo łukasz:lukas "
        "małgorzata:gosia margaret:maggie maria:mia matthew:matt michael:mike mohammed:mo nicholas:nick "
        "nikolai:kolya olivia:liv patricia:pat patrick:paddy peter:pete philip:phil rebecca:becky richard:rick "
        "robert:bob ronald:ron samuel:sam sebastian:seb sofía:sofi stephen:steve susanna:sue theodore:theo "
        "thomas:tom timothy:tim valentina:vale victoria:vicky vincent:vince walter:walt william:bill "
        "yekaterina:katya zachary:zac amélie:amy björn:bear chloé:clo dmitri:dima françois:fanfan jürgen:jogi "
        "li:lily mei:may nuria:nu priya:pri ravi:rav siobhán:shiv yuki:yu zeynep:zey "
    ).split()
)
_ONSETS: Final = "b br c ch d dr f fr g gr h j k kl l m n p pr r s sch st t tr v w z".split()
_VOWELS: Final = "a e i o u ai ei ou ö ü é".split()
_ENDS: Final = "n r s t l ck mann sen son ski ez ova ini berg stein field wood ton ř ák".split()
_TOPICS: Final = 60
_WORDS: Final = 40  # of each topic
_TOWNS: Final = 300
_STYLES: Final = 8  # of handles
_COMMON: Final = "I love and the of my all about with from for by lover fan of old new best views own".split()


def plant_profiles(made: Planted, difficulty: str, seed: int) -> tuple[pa.Table, pa.Table]:
    """Tables of id, handle, name, city and bio for the accounts of a planted pair, rows in a random order."""
    if difficulty not in DIFFICULTIES:
        raise KedgeError(f"no difficulty {difficulty!r}", remedy=f"choose one of: {', '.join(DIFFICULTIES)}")
    how, rng = DIFFICULTIES[difficulty], np.random.default_rng([seed, 20])
    persons = [np.arange(made.left.n), np.full(made.right.n, -1)]
    persons[1][made.anchors[:, 1]] = made.anchors[:, 0]
    alone = persons[1] < 0
    persons[1][alone] = made.left.n + np.arange(int(alone.sum()))
    count = made.left.n + int(alone.sum())
    first, last = _names(count, how, rng)
    city = _cities((made.left, made.right), (persons[0], persons[1]), count, rng)
    topics = rng.integers(_TOPICS, size=(count, 2))
    vocabulary = _Vocabulary(
        tuple(_make_word(rng).capitalize() for _ in range(_TOWNS)),
        tuple(_make_word(rng) for _ in range(_TOPICS * _WORDS)),
    )
    styles, numbers = rng.integers(_STYLES, size=count).tolist(), rng.integers(100, size=count).tolist()
    people = [
        _Person(first[p], last[p], styles[p], numbers[p], int(city[p]), topics[p], _pick_words(topics[p], rng))
        for p in range(count)
    ]
    tables = []
    for side, network in enumerate((made.left, made.right)):
        rows = [_shown(people[p], vocabulary, how, rng) for p in persons[side].tolist()]
        order = rng.permutation(network.n)
        columns = {
            name: pa.array([rows[i][place] for i in order], pa.large_string()) for place, name in enumerate(_FIELDS)
        }
        tables.append(pa.table({"id": network.ids.take(pa.array(order)), **columns}))
    return tables[0], tables[1]


class _Vocabulary(NamedTuple):
    towns: tuple[str, ...]
    words: tuple[str, ...]


class _Person(NamedTuple):
    """A person, and the style and number of the handle, and the words, that were chosen first."""

    first: str
    last: str
    style: int
    number: int
    city: int
    topics: IntArray
    words: list[int]


_FIELDS: Final = ("handle", "name", "city", "bio")


def _make_word(rng: Rng) -> str:
    syllables = rng.integers(1, 3)
    return "".join(str(rng.choice(_ONSETS)) + str(rng.choice(_VOWELS)) for _ in range(syllables)) + str(
        rng.choice(_ENDS)
    )


def _skewed(size: int, count: int, rng: Rng) -> IntArray:
    """Numbers below `size`, a few of them far more frequent than the others (Zipf's law)."""
    weight = 1 / (np.arange(size) + 3.0)
    return np.asarray(rng.choice(size, size=count, p=weight / weight.sum()))


def _names(count: int, how: Difficulty, rng: Rng) -> tuple[list[str], list[str]]:
    """First and last name of each person, from a pool of `how.names` times as many whole names."""
    firsts = list(_FIRST)
    lasts = [_make_word(rng) for _ in range(max(50, count // 20))]
    pool = max(int(how.names * count), 10)
    one, other = _skewed(len(firsts), pool, rng), rng.integers(len(lasts), size=pool)
    whole = rng.integers(pool, size=count)
    return [firsts[one[i]] for i in whole], [lasts[other[i]] for i in whole]


def _cities(networks: tuple[Network, Network], persons: tuple[IntArray, IntArray], count: int, rng: Rng) -> IntArray:
    """The city of each person: one of `_TOWNS`, or half the time that of a friend."""
    city = _skewed(_TOWNS, count, rng)
    for network, person in zip(networks, persons, strict=True):
        A = network.adjacency
        for v in np.flatnonzero((rng.random(network.n) < 0.5) & (network.degrees > 0)).tolist():
            city[person[v]] = city[person[A.indices[rng.integers(A.indptr[v], A.indptr[v + 1])]]]
    return city


def _pick_words(topics: IntArray, rng: Rng) -> list[int]:
    """Six words of a person's topics, frequent ones more often."""
    topic = topics[rng.integers(len(topics), size=6)]
    return [int(t) * _WORDS + int(w) for t, w in zip(topic, _skewed(_WORDS, 6, rng), strict=True)]


def _handle(first: str, last: str, style: int, number: int) -> str:
    """A handle in one of `_STYLES` styles."""
    return (
        f"{first}.{last}",
        f"{first}{last}",
        f"{first[0]}{last}",
        f"{last}_{first}",
        f"{first}{number:02d}",
        f"{last}{number:02d}",
        f"{first}_{last[0]}{number:02d}",
        f"the{_FIRST.get(first, first)}{number}",
    )[style]


def _shown(person: _Person, vocabulary: _Vocabulary, how: Difficulty, rng: Rng) -> tuple[str | None, ...]:
    """Handle, name, city and bio of one account of a person."""
    first, last, style, number, city, topics, chosen = person
    chance = rng.random(8)
    called = _FIRST.get(first, first) if chance[0] < how.nickname else first
    if chance[1] < how.new_handle:
        style, number = int(rng.integers(_STYLES)), int(rng.integers(100))
    handle = _handle(called if chance[2] < 0.5 else first, last, style, number)
    handle += str(rng.integers(10, 2000)) if chance[3] < how.digits / 2 else ""
    name = f"{last.title()} {called.title()}" if chance[4] < how.swapped else f"{called.title()} {last.title()}"
    town = vocabulary.towns[int(_skewed(_TOWNS, 1, rng)[0]) if chance[5] < how.moved else city]
    anew = zip(_pick_words(topics, rng), chosen, rng.random(len(chosen)) < how.new_words, strict=True)
    words = [vocabulary.words[new if other else old] for new, old, other in anew]
    bio = " ".join(f"{word} {_COMMON[i]}" for word, i in zip(words, rng.integers(len(_COMMON), size=6), strict=True))
    handle = _mistyped(handle, rng) if chance[6] < how.typo else handle
    name = _mistyped(name, rng) if chance[7] < how.typo else name
    missing = rng.random(len(_FIELDS)) < how.missing
    return tuple(None if lost else value for value, lost in zip((handle, name, town, bio), missing, strict=True))


def _mistyped(text: str, rng: Rng) -> str:
    """One letter dropped, doubled or exchanged with the next."""
    place = int(rng.integers(max(len(text) - 1, 1)))
    before, letter, after = text[:place], text[place : place + 1], text[place + 1 :]
    changed = (before + after, before + letter + letter + after, before + after[:1] + letter + after[1:])
    return changed[int(rng.integers(3))] or text
