"""Places by latitude and longitude: the distance between the two."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pyarrow as pa

from kedge.profiles.values import Column, Kind, Values, as_texts, number_values, one_hot, share_of
from kedge.types import FloatArray, IntArray

_PAIR: Final = re.compile(r"[\[(]?\s*(-?\d{1,2}(?:\.\d+)?)\s*[,; ]\s*(-?\d{1,3}(?:\.\d+)?)\s*[\])]?")
_EARTH: Final = 6371.0  # kilometres
_KILOMETRES: Final = (1.0, 10.0, 50.0, 250.0)
_CELL: Final = 0.1  # degrees of a cell that a search looks in: about 10 km


def _coordinates(text: str | None) -> tuple[float, float] | None:
    found = None if text is None else _PAIR.fullmatch(text.strip())
    if found is None:
        return None
    latitude, longitude = float(found[1]), float(found[2])
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _recognises(_name: str, sample: pa.Array) -> bool:
    """Two decimal numbers within the bounds of the globe."""
    return share_of(sample, lambda text: "." in text and _coordinates(text) is not None) >= 0.95


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Radians, and one feature for each cell."""
    places = [[_coordinates(text) for text in as_texts(side)] for side in (left, right)]
    codes = number_values(*places)
    cells = number_values(
        *([None if p is None else (round(p[0] / _CELL), round(p[1] / _CELL)) for p in side] for side in places)
    )
    features = one_hot(*cells)
    nothing = (np.nan, np.nan)
    numbers = [np.radians(np.array([p or nothing for p in side], np.float64).reshape(-1, 2)) for side in places]
    return Values(codes[0], features[0], numbers[0]), Values(codes[1], features[1], numbers[1])


def kilometres(one: FloatArray, other: FloatArray) -> FloatArray:
    """The distance on the globe between points in radians, [m] from [m, 2]."""
    apart = np.sin((one - other) / 2) ** 2
    square = apart[:, 0] + np.cos(one[:, 0]) * np.cos(other[:, 0]) * apart[:, 1]
    return np.asarray(2 * _EARTH * np.arcsin(np.sqrt(np.clip(square, 0, 1))))


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """Less the farther: 1 within a kilometre, then by 10, 50 and 250, [m]."""
    apart = kilometres(left.numbers[pairs[:, 0]], right.numbers[pairs[:, 1]])
    return np.asarray(1 - np.searchsorted(_KILOMETRES, apart) / len(_KILOMETRES), np.float32)


KIND = Kind(
    "place",
    "latitude and longitude: within 1, 10, 50, 250 km",
    _recognises,
    prepare,
    similarity,
    (0.1, 0.4, 0.6, 0.9),
    (0.3, 0.1, 0.1, 0.1, 0.1, 0.3),
)
