"""Categories: a city, a language, an employer; equal or not, upper and lower case and accents aside."""

from __future__ import annotations

import pyarrow as pa

from kedge.profiles.values import Column, Kind, Values, equality, fold_all, number_values, one_hot


def _recognises(_name: str, _sample: pa.Array) -> bool:
    return True  # what nothing else recognises


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """One number and one feature for each distinct value."""
    codes = number_values(fold_all(left), fold_all(right))
    features = one_hot(*codes)
    return Values(codes[0], features[0]), Values(codes[1], features[1])


KIND = Kind("category", "equal or not; a rare value counts more", _recognises, prepare, equality, (), (0.3, 0.7))
