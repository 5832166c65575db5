"""What every kind of field makes of its two columns, and the record of a kind.

A column becomes `Values`: which accounts have a value, a number for each distinct value (equal numbers are equal
values, on both sides), what a search can find, and what the similarity needs. Missing is missing, never different.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.types import BoolArray, FloatArray, IntArray

LONGEST: Final = 20_000  # characters of a value that are compared: a value of many megabytes must not cost minutes
_SEPARATORS: Final = re.compile(r"[\W_]+")


def _no_features() -> csr_array:
    return csr_array(np.empty((0, 0), np.float32))


@dataclass(frozen=True)
class Values:
    """One column: `codes` [n], -1 where it is missing; `features` [n, d], rows of length 1, for search; what else a
    kind compares: `numbers` [n, k] or `texts` [n]. What a kind does not need is empty."""

    codes: IntArray
    features: csr_array = field(default_factory=_no_features)
    numbers: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    texts: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    @property
    def filled(self) -> BoolArray:
        """Which accounts have a value, [n]."""
        return np.asarray(self.codes >= 0)


Column: TypeAlias = pa.Array
Similarity: TypeAlias = Callable[[Values, Values, IntArray], FloatArray]


def by_features(left: Values, right: Values, largest: int) -> tuple[csr_array, csr_array]:
    """What a search can find, 1 for each feature that an account has, [n, d]; nothing where a kind has no features."""
    del largest
    made = []
    for side in (left, right):
        found = side.features if side.features.shape[0] else csr_array((len(side.codes), 0), dtype=np.float32)
        made.append(csr_array((np.ones(found.nnz, np.float32), found.indices, found.indptr), shape=found.shape))
    return made[0], made[1]


def by_bins(left: Values, right: Values, largest: int) -> tuple[csr_array, csr_array]:
    """Bins of about half as many accounts as a hyperedge may have, by the order of the numbers of both sides."""
    numbers = [side.numbers[:, 0] for side in (left, right)]
    pool = np.sort(np.concatenate(numbers)[np.concatenate([left.filled, right.filled])])
    most = max(int(left.filled.sum()), int(right.filled.sum()), 1)
    count = max(-(-2 * most // largest), 1)
    codes = [
        np.where(side.filled, np.searchsorted(pool, own, "left") * count // max(len(pool), 1), -1)
        for side, own in zip((left, right), numbers, strict=True)
    ]
    return one_hot(codes[0], codes[1])


@dataclass(frozen=True)
class Kind:
    """A kind of field and its comparison.

    `recognises` looks at a sample of filled values; `prepare` takes both columns; `similarity` is in [0, 1] for pairs
    [m, 2] that both have a value. `edges` divide it into levels, and equal values are one more level above;
    `same` is the share of each level that is assumed among pairs of the same person before anchors are looked at.
    `near`: whether candidates are the nearest by the cosine of `numbers`; else they are found by `features`, if any.
    `shared`: what accounts of one network have in common, [n, k] of each side, for hyperedges of so many at most.
    """

    name: str
    about: str
    recognises: Callable[[str, pa.Array], bool]
    prepare: Callable[[Column, Column], tuple[Values, Values]]
    similarity: Similarity
    edges: tuple[float, ...]
    same: tuple[float, ...]
    near: bool = False
    extra: str = ""  # optional dependencies that it needs
    shared: Callable[[Values, Values, int], tuple[csr_array, csr_array]] = by_features


def equality(_left: Values, _right: Values, pairs: IntArray) -> FloatArray:
    """Nothing between equal and different."""
    return np.zeros(len(pairs), np.float32)


def cosine(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """The cosine of the two accounts' features, [m]."""
    result = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), 1 << 18):  # blocks bound the memory
        block = pairs[start : start + (1 << 18)]
        product = left.features[block[:, 0]].multiply(right.features[block[:, 1]])
        result[start : start + len(block)] = np.asarray(product.sum(axis=1)).ravel()
    return result


def as_texts(column: Column) -> list[str | None]:
    """The values as text, cut where they are too long to compare; None where missing."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [None if value is None else " ".join(map(str, value))[:LONGEST] for value in column.to_pylist()]
    cut = pc.utf8_slice_codeunits(column.cast(pa.large_string()), 0, LONGEST)
    found: list[str | None] = cut.to_pylist()
    return found


def fold(text: str) -> str:
    """Lower case without accents, words separated by single spaces."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in plain if not unicodedata.combining(character))
    return _SEPARATORS.sub(" ", text.casefold()).strip()


def fold_all(column: Column) -> list[str | None]:
    """The values folded; None where missing, or where nothing but signs is left (then the value as it is)."""
    return [None if text is None else fold(text) or text.strip() for text in as_texts(column)]


def number_values(left: Sequence[Any], right: Sequence[Any]) -> tuple[IntArray, IntArray]:
    """A number for each distinct value of both sides, -1 for None."""
    seen: dict[Any, int] = {}
    sides = [[-1 if value is None else seen.setdefault(value, len(seen)) for value in side] for side in (left, right)]
    return np.asarray(sides[0], np.int64), np.asarray(sides[1], np.int64)


def one_hot(left: IntArray, right: IntArray) -> tuple[csr_array, csr_array]:
    """One feature for each distinct value, [n, d]."""
    width = int(max(left.max(initial=-1), right.max(initial=-1))) + 1
    made = []
    for codes in (left, right):
        rows = np.flatnonzero(codes >= 0)
        made.append(csr_array((np.ones(len(rows), np.float32), (rows, codes[rows])), shape=(len(codes), width)))
    return made[0], made[1]


def weigh_terms(left: Iterable[Sequence[str]], right: Iterable[Sequence[str]]) -> tuple[csr_array, csr_array]:
    """Bags of terms as rows of length 1, each term weighed by its rarity: log((n + 1) / accounts that have it)."""
    seen: dict[str, int] = {}
    sides: list[tuple[IntArray, IntArray]] = []
    for bags in (left, right):
        places: list[int] = []
        ends = [0]
        for bag in bags:
            places += [seen.setdefault(term, len(seen)) for term in sorted(set(bag))]
            ends.append(len(places))
        sides.append((np.asarray(places, np.int64), np.asarray(ends, np.int64)))
    width, n = max(len(seen), 1), sum(len(ends) - 1 for _, ends in sides)
    count = sum(np.bincount(places, minlength=width) for places, _ in sides)
    rarity = np.log((n + 1) / np.maximum(count, 1)).astype(np.float32)
    made = []
    for terms, bounds in sides:
        matrix = csr_array((rarity[terms], terms, bounds), shape=(len(bounds) - 1, width))
        matrix.sort_indices()
        length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        rows = np.repeat(np.arange(len(length)), np.diff(matrix.indptr))
        matrix.data /= np.maximum(length, 1e-9)[rows].astype(np.float32)
        made.append(matrix)
    return made[0], made[1]


def share_of(sample: pa.Array, matches: Callable[[str], bool]) -> float:
    """The share of a sample whose text has a form."""
    texts = [text for text in as_texts(sample) if text]
    return sum(map(matches, texts)) / len(texts) if texts else 0.0


def is_text(column: pa.Array) -> bool:
    """Whether the values are text."""
    return any(test(column.type) for test in (pa.types.is_string, pa.types.is_large_string))


def is_list(column: pa.Array) -> bool:
    """Whether each value is a list."""
    kind = column.type
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))
