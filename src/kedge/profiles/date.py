"""Dates in any usual form: the days between the two."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.profiles.values import Column, Kind, Values, as_texts, by_bins, is_text, number_values, one_hot, share_of
from kedge.types import FloatArray, IntArray

_ISO: Final = re.compile(r"(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?:[T ].*)?")
_DAY_FIRST: Final = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ,].*)?")
_NAMED: Final = re.compile(
    r"(?:[a-z]{3,9},? )?(?:(\d{1,2})\.? )?([a-z]{3,9})\.? (?:(\d{1,2}),? )?.*?\b((?:19|20)\d{2})\b.*", re.I
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = (0.0, 1.0, 7.0, 31.0, 366.0)


def day_of(text: str, month_first: bool = False) -> int | None:
    """The day that a text names, counted from the year 1; None where it names none."""
    text = text.strip()
    try:
        if found := _ISO.fullmatch(text):
            return date(int(found[1]), int(found[2]), int(found[3] or 1)).toordinal()
        if found := _DAY_FIRST.fullmatch(text):
            day, month = int(found[1]), int(found[2])
            day, month = (month, day) if (month > 12 or month_first) and day <= 12 else (day, month)
            return date(int(found[3]), month, day).toordinal()
        if (found := _NAMED.fullmatch(text)) and found[2][:3].casefold() in _MONTHS:
            day = int(found[1] or found[3] or 1)
            return date(int(found[4]), _MONTHS.index(found[2][:3].casefold()) + 1, day).toordinal()
    except ValueError:  # no such day
        return None
    return None


def _recognises(_name: str, sample: pa.Array) -> bool:
    if pa.types.is_temporal(sample.type):
        return True
    return is_text(sample) and share_of(sample, lambda text: day_of(text) is not None) >= 0.9


def _days(column: Column) -> list[int | None]:
    if pa.types.is_temporal(column.type):
        column = pc.strftime(column.cast(pa.timestamp("s"), safe=False), "%Y-%m-%d")
    texts = as_texts(column)
    # 03/04/2020 is of March or of April: a column that has a 13th month has its months first.
    split = [found for text in texts if text and (found := _DAY_FIRST.fullmatch(text.strip()))]
    month_first = any(int(found[2]) > 12 for found in split) and not any(int(found[1]) > 12 for found in split)
    return [None if text is None else day_of(text, month_first) for text in texts]


def prepare(left: Column, right: Column) -> tuple[Values, Values]:
    """Days, one feature for each."""
    days = (_days(left), _days(right))
    codes = number_values(*days)
    features = one_hot(*codes)
    numbers = [np.array([[np.nan if day is None else day] for day in side], np.float64).reshape(-1, 1) for side in days]
    return Values(codes[0], features[0], numbers[0]), Values(codes[1], features[1], numbers[1])


def similarity(left: Values, right: Values, pairs: IntArray) -> FloatArray:
    """Less the more days lie between: 1 on the same day, then by day, week, month and year, [m]."""
    apart = np.abs(left.numbers[pairs[:, 0], 0] - right.numbers[pairs[:, 1], 0])
    return np.asarray(1 - np.searchsorted(_DAYS, apart) / len(_DAYS), np.float32)


KIND = Kind(
    "date",
    "days between: the same day, within a day, a week, a month, a year",
    _recognises,
    prepare,
    similarity,
    (0.1, 0.3, 0.5, 0.7),
    (0.3, 0.1, 0.1, 0.1, 0.1, 0.3),
    shared=by_bins,
)
