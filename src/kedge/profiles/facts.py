"""What each field of two profiles is: its kind, how often it is filled, and how it separates persons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow.compute as pc

from kedge.config import ProfileConfig
from kedge.profiles.compare import Prepared, prepare_fields
from kedge.profiles.values import LONGEST, is_text
from kedge.types import IntArray, Profiles

_RANDOM: Final = 20_000  # random pairs that chance is measured on
_FEWEST: Final = 10  # anchors from which "equal on all of them" means something; unmeasured
_UNIQUE: Final = 0.99  # share of values that no other account has


@dataclass(frozen=True)
class FieldFacts:
    """One compared field. `distinct` counts the values of both sides; `agreement` is the mean similarity of anchors
    that both have a value, equal ones 1, and `chance` that of random pairs; None without such pairs."""

    name: str
    right: str
    kind: str
    filled_left: float
    filled_right: float
    distinct: int
    agreement: float | None
    chance: float | None
    answer: bool  # equal on all anchors, and nearly every value is of one account


def describe_fields(
    left: Profiles, right: Profiles, anchors: IntArray, config: ProfileConfig, seed: int = 0
) -> tuple[FieldFacts, ...]:
    """The facts of each compared field."""
    prepared = prepare_fields(left, right, config)
    if prepared is None:
        return ()
    rng = np.random.default_rng(seed)
    random = np.column_stack([rng.integers(side.n, size=_RANDOM) for side in (left, right)])
    return tuple(_describe(prepared, place, anchors, random) for place in range(len(prepared.fields)))


def _describe(prepared: Prepared, place: int, anchors: IntArray, random: IntArray) -> FieldFacts:
    field, (left, right) = prepared.fields[place], prepared.values[place]
    agreement, equal = _agreement(prepared, place, anchors)
    codes = [side.codes[side.filled] for side in (left, right)]
    unique = all(len(np.unique(side)) >= _UNIQUE * len(side) for side in codes)
    return FieldFacts(
        name=field.name,
        right=field.right,
        kind=field.kind.name,
        filled_left=float(left.filled.mean()),
        filled_right=float(right.filled.mean()),
        distinct=len(np.unique(np.concatenate(codes))),
        agreement=agreement,
        chance=_agreement(prepared, place, random)[0],
        answer=unique and equal >= _FEWEST and agreement == 1.0,
    )


def _agreement(prepared: Prepared, place: int, pairs: IntArray) -> tuple[float | None, int]:
    """The mean similarity of the pairs that both have a value, and how many of them are equal."""
    field, (left, right) = prepared.fields[place], prepared.values[place]
    pairs = pairs[left.filled[pairs[:, 0]] & right.filled[pairs[:, 1]]]
    if len(pairs) == 0:
        return None, 0
    equal = left.codes[pairs[:, 0]] == right.codes[pairs[:, 1]]
    found = np.ones(len(pairs))
    if not equal.all():
        found[~equal] = np.minimum(field.kind.similarity(left, right, pairs[~equal]), 1.0)
    return float(found.mean()), int(equal.sum())


def field_warnings(
    left: Profiles, right: Profiles, facts: tuple[FieldFacts, ...], config: ProfileConfig
) -> Iterator[str]:
    """One line for each thing about the fields that the user should know; none shows a value."""
    compared = {fact.name for fact in facts} | {fact.right for fact in facts}
    if not facts:
        yield "no field is compared: the profiles have no filled column of the same name; --compare joins others"
    for side, own, other in (("left", left, right), ("right", right, left)):
        single = [name for name in own.names if name not in other.names and name not in compared]
        if single and not config.fields:
            yield f"{side} profiles: no counterpart on the other side, so not compared: {', '.join(single)}"
    for name in left.names:
        if name in right.names and name not in compared and not config.fields:
            side = "right" if left.column(name).null_count < left.n else "left"
            yield f"the field {name!r} is empty in the {side} profiles: it is not compared"
    for fact in facts:
        if fact.distinct == 1:
            yield f"the field {fact.name!r} has one value throughout: it is worth nothing"
        if fact.answer:
            yield (
                f"the field {fact.name!r} is equal on all anchors and nearly every value is of one account: is it the "
                "answer itself? leave it out with --set profiles.fields if it is not known of the other accounts"
            )
    long = {name for own in (left, right) for name in own.names if name in compared and _is_long(own, name)}
    if long:
        yield f"values of more than {LONGEST:,} characters are compared by their beginning: {', '.join(sorted(long))}"


def _is_long(profiles: Profiles, name: str) -> bool:
    column = profiles.column(name)
    return is_text(column) and (pc.max(pc.utf8_length(column)).as_py() or 0) > LONGEST
