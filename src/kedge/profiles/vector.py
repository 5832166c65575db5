"""Vectors, such as embeddings of pictures: the cosine of the two."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pyarrow as pa

from kedge.linalg import unit_rows
from kedge.profiles.values import Column, Kind, Values, as_texts, is_list, is_text, number_values, share_of
from kedge.types import FloatArray, IntArray, KedgeError

_FEWEST: Final = 3  # numbers of a vector: two are a place
_SIGNS: Final = re.compile(r"[\s,;]+")


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in _SIGNS.split(text.strip().strip("[]()").strip())]
    except ValueError:
        return None


def _recognises(_name: str, sample: pa.Array) -> bool:
    if is_list(sample):
        numeric = pa.types.is_floating(sample.type.value_type) or pa.types.is_integer(sample.type.value_type)
        return bool(numeric)
    return is_text(sample) and share_of(sample, lambda text: len(_numbers(text) or ()) >= _FEWEST) >= 0.95


def _rows(column: Column) -> list[list[float] | None]:
    if is_list(column):
        return [None if row is None else [float(x) for x in row if x is not None] for row in column.to_pylist()]
    return [_numbers(text) for text in as_texts(column)]


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Vectors of length 1; all of both sides have as many numbers."""
    rows = [_rows(side) for side in (left, right)]
    widths = {len(row) for side in rows for row in side if row is not None}
    if len(widths) > 1:
        raise KedgeError(
            f"vectors of unequal length: {min(widths)} and {max(widths)} numbers",
            remedy="give all accounts of both networks vectors of one length",
        )
    width = max(widths, default=1)
    codes = number_values(*([None if row is None or not any(row) else tuple(row) for row in side] for side in rows))
    vectors = [
        unit_rows(np.array([row or [0.0] * width for row in side], np.float32).reshape(-1, width)) for side in rows
    ]
    return Values(codes[0], numbers=vectors[0]), Values(codes[1], numbers=vectors[1])


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """The cosine, 0 where it is negative, [m]."""
    product = np.einsum("ij,ij->i", left.numbers[pairs[:, 0]], right.numbers[pairs[:, 1]])
    return np.asarray(np.clip(product, 0, 1), np.float32)


KIND = Kind(
    "vector",
    "an embedding: the cosine of the two",
    _recognises,
    prepare,
    similarity,
    (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98),
    (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    near=True,
)
