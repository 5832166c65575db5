"""Ids that would be accounts of a network if they were written as it writes them: counted, and never changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.types import BoolArray, Network

_INVISIBLE: Final = "[\u200b-\u200f\u2060\ufeff\u00ad]"


def _lower(ids: Any) -> Any:
    return pc.utf8_lower(ids)


def _whole(ids: Any) -> Any:
    return pc.replace_substring_regex(ids, r"^([0-9]+)\.0+$", r"\1")


def _without_zeros(ids: Any) -> Any:
    return pc.replace_substring_regex(ids, r"^0+([0-9])", r"\1")


def _without_at(ids: Any) -> Any:
    return pc.replace_substring_regex(ids, "^@", "")


def _visible(ids: Any) -> Any:
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(pc.utf8_normalize(ids, "NFC"), _INVISIBLE, ""))


def _unquoted(ids: Any) -> Any:
    return pc.utf8_trim(ids, "'\"`")


# What may differ between two programs that write the same ids, simple things first.
_FORMS: Final[tuple[tuple[str, Callable[[Any], Any]], ...]] = (
    ("case is ignored", _lower),
    ("a final .0 is ignored", _whole),
    ("leading zeros are ignored", _without_zeros),
    ("a leading @ is ignored", _without_at),
    ("quotes are ignored", _unquoted),
    ("invisible characters and Unicode forms are ignored", _visible),
    (
        "case, a final .0, leading zeros and a leading @ are ignored",
        lambda ids: _without_zeros(_whole(_without_at(_lower(_visible(ids))))),
    ),
)


class Alike(NamedTuple):
    """How many rows have accounts in all their networks if something is ignored, what that is, and an example of it:
    an id as listed and as in its network."""

    rows: int
    ignored: str
    listed: str
    known: str


def find_alike(ids: Sequence[pa.Array], networks: Sequence[Network], found: BoolArray) -> Alike | None:
    """What to ignore so that most rows (one id per network) are known; None where no more than those `found` are.

    A form counts only where it has one account for an id: what would join two accounts is no way to write one.
    """
    best: Alike | None = None
    for ignored, form in _FORMS:
        places = np.column_stack([_places(form, side, network) for side, network in zip(ids, networks, strict=True)])
        known = np.asarray((places >= 0).all(axis=1))
        count = int(known.sum())
        if count > (int(found.sum()) if best is None else best.rows):
            best = Alike(count, ignored, *_example(ids, networks, places, known & ~found))
    return best


def _places(form: Callable[[Any], Any], ids: pa.Array, network: Network) -> Any:
    """The account of each id under a form; -1 where there is none, or more than one."""
    written = form(network.ids.cast(pa.large_string())).dictionary_encode()
    codes = np.asarray(written.indices)
    account = np.full(len(written.dictionary), -1, np.int64)
    account[codes] = np.arange(len(codes))
    account[np.bincount(codes, minlength=len(account)) > 1] = -1
    place = np.asarray(pc.index_in(form(ids.cast(pa.large_string())), value_set=written.dictionary).fill_null(-1))
    exact = network.find(ids)
    return np.where(exact >= 0, exact, np.where(place >= 0, account[place], -1))


def _example(ids: Sequence[pa.Array], networks: Sequence[Network], places: Any, rows: BoolArray) -> tuple[str, str]:
    row = int(np.flatnonzero(rows)[0])
    pairs = [
        (str(side[row].as_py()), network.name(int(places[row, i])))
        for i, (side, network) in enumerate(zip(ids, networks, strict=True))
    ]
    return next(((listed, known) for listed, known in pairs if listed != known), pairs[0])
