"""Free text: rare words in common."""

from __future__ import annotations

import pyarrow as pa

from kedge.profiles.values import (
    Column,
    Kind,
    Values,
    as_texts,
    cosine,
    fold_all,
    is_text,
    number_values,
    weigh_terms,
)


def _recognises(_name: str, sample: pa.Array) -> bool:
    if not is_text(sample):
        return False
    lengths = [len(text.split()) for text in as_texts(sample) if text]
    return bool(lengths) and sum(lengths) >= 4 * len(lengths)


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Words as features, and one number for each distinct text."""
    folded = [fold_all(left), fold_all(right)]
    codes = number_values(*folded)
    features = weigh_terms(*([(text or "").split() for text in side] for side in folded))
    return Values(codes[0], features[0]), Values(codes[1], features[1])


KIND = Kind(
    "text",
    "free text: words in common, rare ones count more",
    _recognises,
    prepare,
    cosine,
    (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8),
    (0.25, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.1),
)
