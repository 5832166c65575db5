"""Objects that users hand over, made fit for the readers: ids of several types, and paths that are none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from kedge.errors import KedgeError


def as_source(source: Any) -> Any:
    """What a reader can take: a path as it is, and a pandas frame whose columns hold values of several types (an
    integer above a text) with these as text. Ids are text in kedge, so 7 and "7" are the same account."""
    if isinstance(source, os.PathLike):
        return Path(source)
    if type(source).__module__.partition(".")[0] != "pandas" or not hasattr(source, "columns"):
        return source
    made = None
    for place, (name, kind) in enumerate(zip(source.columns, source.dtypes, strict=True)):
        values = list(source.iloc[:, place]) if str(kind) == "object" else []
        if any(isinstance(value, str) for value in values) and any(isinstance(value, Real) for value in values):
            made = source.copy(deep=False) if made is None else made
            made.isetitem(place, [_as_text(value, str(name)) for value in values])
    return source if made is None else made


def _as_text(value: Any, column: str) -> Any:
    """A whole number as text, None for what is missing; text and other values as they are."""
    if isinstance(value, Integral):
        return str(value)
    if isinstance(value, Real):
        if value != value:  # NaN stands for no value
            return None
        raise KedgeError(f"column {column!r} has text and the decimal number {value!r}", remedy="make all of it text")
    return value


def as_path(place: Any, argument: str) -> Path:
    """A path, or one line of error that names the argument."""
    if not isinstance(place, str | os.PathLike):
        raise KedgeError(f"{argument}= is {type(place).__name__}, not a path", remedy="give a path as text")
    if not str(place):
        raise KedgeError(f"{argument}= is empty", remedy="give a path")
    return Path(place)


def as_settings(settings: Any) -> dict[str, Any]:
    """Settings by their names, or one line of error where they are no mapping."""
    if settings is not None and not isinstance(settings, Mapping):
        raise KedgeError(
            f"settings= is {type(settings).__name__}, not a dictionary", remedy='write e.g. settings={"candidates": 3}'
        )
    return dict(settings or {})


def two_sides(both: Any, left: Any, right: Any, what: str, each: str) -> tuple[Any, Any]:
    """What was given for the two networks: as one pair, or by two arguments."""
    if both is None:
        return as_source(left), as_source(right)
    if left is not None or right is not None:
        raise KedgeError(f"{what}= together with left_{each}= or right_{each}=", remedy="give one or the other")
    if not isinstance(both, tuple | list) or len(both) != 2:
        raise KedgeError(f"{what}= is not a pair", remedy=f"give {what}=(left, right)")
    return as_source(both[0]), as_source(both[1])


def one_id(name: Any) -> str:
    """An id as kedge has it: text; a whole number becomes its digits, as in the networks."""
    if isinstance(name, str):
        return name
    if isinstance(name, Real) and not isinstance(name, Integral):
        raise KedgeError(f"id {name!r} is a decimal number", remedy="give ids as text or whole numbers")
    return str(name)
