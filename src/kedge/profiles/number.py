"""Numbers: equal, or how few accounts lie between the two."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kedge.profiles.values import Column, Kind, Values, as_texts, by_bins, is_text, number_values, one_hot, share_of
from kedge.types import FloatArray, IntArray


def _is_number(text: str) -> bool:
    return _parsed(text) is not None


def _parsed(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and np.isfinite(value) else None


def _recognises(_name: str, sample: pa.Array) -> bool:
    kind = sample.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return True
    return is_text(sample) and share_of(sample, _is_number) >= 0.95


def parse(column: Column) -> NDArray[np.float64]:
    """The numbers, nan where there is none."""
    if is_text(column):
        found = [_parsed(text) for text in as_texts(column)]
        return np.array([np.nan if value is None else value for value in found], np.float64)
    values = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def ranked(values: tuple[FloatArray, FloatArray]) -> tuple[Values, Values]:
    """Values with the place of each number among all of both sides, from 0 to 1."""
    pool = np.sort(np.concatenate([side[~np.isnan(side)] for side in values]))
    lists = [[None if np.isnan(x) else x for x in side.tolist()] for side in values]
    codes = number_values(*lists)
    features = one_hot(*codes)

    def places(side: FloatArray) -> FloatArray:
        middle = (np.searchsorted(pool, side, "left") + np.searchsorted(pool, side, "right")) / 2
        return np.where(np.isnan(side), np.nan, middle / max(len(pool), 1))[:, None]

    made = [Values(codes[i], features[i], numbers=places(values[i])) for i in (0, 1)]
    return made[0], made[1]


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Numbers by their rank."""
    return ranked((parse(left), parse(right)))


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """1 less the share of all values that lie between the two, [m]."""
    return np.asarray(1 - np.abs(left.numbers[pairs[:, 0], 0] - right.numbers[pairs[:, 1], 0]), np.float32)


KIND = Kind(
    "number",
    "equal, or how few accounts lie between the two",
    _recognises,
    prepare,
    similarity,
    (0.5, 0.8, 0.9, 0.97, 0.99),
    (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.4),
    shared=by_bins,
)
