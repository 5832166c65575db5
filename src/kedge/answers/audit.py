"""The sample of an audit: which assigned pairs are asked, drawn at random within strata of their probability.

    matches   pairs from `cut` on: those called a match when the sample was drawn, three quarters of the answers
    below     pairs from `low` up to `cut`: they show whether a lower threshold would do

Each pair has a random number of its own, a hash of the seed and of its two ids. A stratum's sample is its pairs with
the smallest numbers: a simple random sample without replacement. So the order of rows changes nothing, a larger sample
contains the smaller one, and a sample drawn anew from other decisions shares as many pairs as possible with the first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kedge.answers.replay import VERDICTS, Pair
from kedge.types import DECISIONS, FloatArray, IntArray, Matches

STRATA: Final = ("match", "below")
ANSWERS: Final = 40  # asked by default: of 40 right ones, the exact interval begins at 0.93
_BELOW: Final = 4  # every fourth answer is about a pair below the matches (docs/decisions/0038-audit.md)
_LOWEST: Final = 0.3  # a less probable pair is not asked: no plausible correction makes it a match
_SUREST: Final = 4  # times the answers: without any match, so many of the surest pairs stand in for the matches


@dataclass(frozen=True)
class Sample:
    """The sampled pairs by the users' ids, in the order of asking, and what the draw depended on.

    `probability` is that of the run without any audit, and so are `cut` and `low`. `sizes` are the pairs in each
    stratum, `assigned` a digest of all assigned pairs. `called`: whether any pair was called a match; if not, the
    surest pairs are in the first stratum. `answer`: what decisions use, one of `VERDICTS` or "" (none).
    """

    seed: int
    cut: float
    low: float
    called: bool
    sizes: tuple[int, ...]
    assigned: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    probability: tuple[float, ...]
    stratum: tuple[str, ...]
    answer: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs by their ids."""
        return list(zip(self.left, self.right, strict=True))

    def answered(self, verdicts: Mapping[Pair, str | None]) -> Sample:
        """The same sample with these answers; what is disputed counts as no answer."""
        words = (verdicts.get(pair) or "" for pair in self.pairs)
        return replace(self, answer=tuple(word if word in VERDICTS else "" for word in words))

    def without(self, side: int, name: str) -> Sample:
        """The same sample without the pairs of an account; 0 is left."""
        kept = [i for i, pair in enumerate(self.pairs) if pair[side] != name]
        return replace(
            self,
            left=tuple(self.left[i] for i in kept),
            right=tuple(self.right[i] for i in kept),
            probability=tuple(self.probability[i] for i in kept),
            stratum=tuple(self.stratum[i] for i in kept),
            answer=tuple(self.answer[i] for i in kept),
        )

    def rows(self, matches: Matches) -> IntArray:
        """The row of `matches` in which each pair is assigned; -1 where it is not assigned any more."""
        at = np.flatnonzero(matches.assigned)
        place = {pair: int(row) for pair, row in zip(_pairs(matches, at), at, strict=True)}
        return np.array([place.get(pair, -1) for pair in self.pairs], np.int64)

    def is_of(self, matches: Matches) -> bool:
        """Whether it was drawn from these assigned pairs."""
        return self.assigned == _digest(_pairs(matches, np.flatnonzero(matches.assigned)))

    def strata(self, probability: FloatArray) -> IntArray:
        """The place in `STRATA` of pairs by their probability without audit; -1: no part of the population."""
        return np.where(probability >= self.cut, 0, np.where(probability >= self.low, 1, -1))


def draw(matches: Matches, answers: int, seed: int, earlier: Sample | None = None) -> Sample:
    """A sample of at least so many assigned pairs, or of all of them; one drawn `earlier` is extended."""
    at = np.flatnonzero(matches.assigned)
    p = matches.probability[at].astype(np.float64)
    pairs = _pairs(matches, at)
    if earlier is None:
        called = bool((matches.decision == DECISIONS.index("match")).any())
        surest = np.sort(p)[::-1]
        cut = matches.threshold if called else float(surest[min(_SUREST * answers, len(p)) - 1]) if len(p) else 1.0
        low = min(_LOWEST, cut / 2)
    else:
        seed, called, cut, low = earlier.seed, earlier.called, earlier.cut, earlier.low
        answers = max(answers, len(earlier))
    members = [np.flatnonzero(inside) for inside in (p >= cut, (p < cut) & (p >= low))]
    keys = [_key(seed, pair) for pair in pairs]
    known = {} if earlier is None else dict(zip(earlier.pairs, earlier.answer, strict=True))
    place = {pair: i for i, pair in enumerate(known)}
    chosen: list[tuple[int, str]] = []
    for stratum, inside, count in zip(STRATA, members, _allocated(answers, members), strict=True):
        ordered = sorted(inside.tolist(), key=lambda i: (pairs[i] not in known, keys[i][:16]))
        chosen += [(i, stratum) for i in ordered[:count]]
    # Those asked first stay first: who works through a file finds the new pairs at its end.
    chosen.sort(key=lambda one: (place.get(pairs[one[0]], len(place)), keys[one[0]][16:]))
    return Sample(
        seed=seed,
        cut=float(cut),
        low=float(low),
        called=called,
        sizes=tuple(len(inside) for inside in members),
        assigned=_digest(pairs),
        left=tuple(pairs[i][0] for i, _ in chosen),
        right=tuple(pairs[i][1] for i, _ in chosen),
        probability=tuple(float(p[i]) for i, _ in chosen),
        stratum=tuple(stratum for _, stratum in chosen),
        answer=tuple(known.get(pairs[i], "") for i, _ in chosen),
    )


def audit_sentence(audit: Mapping[str, Any]) -> str:
    """What an audit shows (`decide.audited`), for people."""
    answered = f"{audit['yes'] + audit['no']:,} of {audit['asked']:,} pairs are answered"
    drawn = audit["drawn"]
    texts = [audit_estimate(one) for one in (drawn, audit) if one is not None and one["precision"] is not None]
    if len(texts) == 2 and any(drawn[name] != audit[name] for name in ("matches", "audited", "right")):
        text = f"Audit: {texts[0]}. Decided again with these answers: {texts[1]}."
    else:
        text = f"Audit: {texts[-1] if texts else 'no match is audited yet'}."
    unknown = "Matches less probable than any pair that was asked, of which the audit shows nothing"
    added, removed = audit.get("added", 0), audit.get("removed", 0)
    more = (
        (added, f"Matches besides, since the answer is yes: {added:,}."),
        (removed, f"Taken from the matches, since the answer is no: {removed:,}."),
        (audit["open"], f"{answered}."),
        (audit["unsure"], f"Unsure answers are not counted: {audit['unsure']:,}."),
        (audit["outside"], f"{unknown}: {audit['outside']:,}."),
        (
            audit["gone"],
            f"Pairs of the sample that are not assigned any more: {audit['gone']:,} (--redraw asks others).",
        ),
    )
    return " ".join([text, *(words for count, words in more if count)])


def audit_estimate(part: Mapping[str, Any]) -> str:
    """One estimate in words."""
    share = f"precision {part['precision']:.2f}"
    if part["census"]:
        return f"all {part['matches']:,} matches were audited and {part['right']:,} were right: {share}"
    weighted = ", strata weighted" if part["strata"] > 1 else ""
    bounds = f"{part['confidence']:.0%} interval {part['low']:.2f} to {part['high']:.2f}{weighted}"
    return f"of {part['audited']:,} audited matches {part['right']:,} were right: {share} ({bounds})"


def _allocated(answers: int, members: Sequence[IntArray]) -> tuple[int, int]:
    """How many of each stratum are asked; what one of them cannot fill goes to the other."""
    matches, below = (len(inside) for inside in members)
    low = min(below, max(answers // _BELOW, answers - matches))
    return min(matches, answers - low), low


def _pairs(matches: Matches, rows: IntArray) -> list[Pair]:
    left = matches.left_ids.take(pa.array(matches.left[rows])).to_pylist()
    return list(zip(left, matches.right_ids.take(pa.array(matches.right[rows])).to_pylist(), strict=True))


def _key(seed: int, pair: Pair) -> str:
    """The random number of a pair, twice: one decides whether it is asked, the other when. Sides do not matter."""
    words = "\0".join(str(len(name)) + ":" + name for name in sorted(pair))
    return hashlib.blake2b(f"{seed}\0{words}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _digest(pairs: list[Pair]) -> str:
    found = hashlib.sha256()
    for pair in sorted(sorted(pair) for pair in pairs):
        found.update(repr(pair).encode())
    return found.hexdigest()
