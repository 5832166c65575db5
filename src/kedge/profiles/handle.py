"""Handles and names: spelling, order of the parts and additions aside.

The similarity is the mean of two: of the letters in their order (the larger of Jaro-Winkler and of the ratio of the
sorted parts, by rapidfuzz), and of the rare groups of three letters that both have (cosine).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from kedge.profiles.values import (
    Column,
    Kind,
    Values,
    cosine,
    fold_all,
    is_text,
    number_values,
    share_of,
    weigh_terms,
)
from kedge.types import FloatArray, IntArray

_NAMES = ("name", "handle", "user", "login", "nick", "alias", "account")
_LONGEST_NAME = 64  # characters; unmeasured
_BLOCK = 1 << 18


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and len(text.split()) <= 5 and any(sign.isalpha() for sign in text)


def _recognises(name: str, sample: pa.Array) -> bool:
    """Short text, called a name or with hardly any value twice."""
    if not is_text(sample) or share_of(sample, _is_name) < 0.9:
        return False
    called = any(part in name.casefold() for part in _NAMES)
    return called or len(sample.unique()) > 0.8 * len(sample)


def grams(folded: str | None) -> list[str]:
    """The parts, and all groups of three letters of the whole with marked ends."""
    if folded is None:
        return []
    whole = f"^{folded.replace(' ', '')[:_LONGEST_NAME]}$"
    return [whole[i : i + 3] for i in range(len(whole) - 2)] + [f"={part}" for part in folded.split()[:8]]


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Folded names, their groups of letters, and one number for each distinct name without separators."""
    folded = [fold_all(left), fold_all(right)]
    codes = number_values(*([None if text is None else text.replace(" ", "") for text in side] for side in folded))
    features = weigh_terms(*(map(grams, side) for side in folded))
    texts = [np.array([(text or "")[:_LONGEST_NAME] for text in side], object) for side in folded]
    return Values(codes[0], features[0], texts=texts[0]), Values(codes[1], features[1], texts=texts[1])


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """The mean of the similarity of the spelling and of the cosine of rare groups of letters, [m]."""
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import JaroWinkler

    joined = [np.array([text.replace(" ", "") for text in side.texts], object) for side in (left, right)]
    ordered = [np.array([" ".join(sorted(text.split())) for text in side.texts], object) for side in (left, right)]
    spelling = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _BLOCK):
        u, v = pairs[start : start + _BLOCK].T
        whole = process.cpdist(
            joined[0][u].tolist(), joined[1][v].tolist(), scorer=JaroWinkler.normalized_similarity, dtype=np.float32
        )
        parts = process.cpdist(ordered[0][u].tolist(), ordered[1][v].tolist(), scorer=fuzz.ratio, dtype=np.float32)
        spelling[start : start + len(u)] = np.maximum(whole, parts / 100)
    return np.asarray(0.5 * spelling + 0.5 * np.minimum(cosine(left, right, pairs), 1.0))


def shared_parts(left: Values, right: Values, largest: int) -> tuple[csr_array, csr_array]:
    """The parts of the names, [n, d]: groups of letters join too many strangers."""
    del largest
    made = weigh_terms(*(map(str.split, side.texts.tolist()) for side in (left, right)))
    found = [csr_array((np.ones(one.nnz, np.float32), one.indices, one.indptr), shape=one.shape) for one in made]
    return found[0], found[1]


KIND = Kind(
    "handle",
    "names and handles: spelling, swapped parts and additions aside",
    _recognises,
    prepare,
    similarity,
    (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    (0.12, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.1, 0.3),
    extra="profiles",
    shared=shared_parts,
)
