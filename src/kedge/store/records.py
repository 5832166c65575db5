"""Frozen dataclasses as JSON and back, by their type hints: fitted models without pickle."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """A dataclass of numbers, texts, arrays, tuples and further dataclasses as values of JSON."""
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return {
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "values": [_number(v) for v in value.ravel().tolist()],
        }
    if isinstance(value, tuple | list):
        return [to_plain(part) for part in value]
    if isinstance(value, np.generic):
        return _number(value.item())
    return _number(value)


def _number(value: Any) -> Any:
    """JSON has no infinities and no NaN: they are written as text."""
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def from_plain(kind: type[T], plain: Any) -> T:
    """The dataclass `kind` from what `to_plain` made of it."""
    return typing.cast(T, _read(kind, plain))


def _read(kind: Any, plain: Any) -> Any:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return kind(**{name: _read(hints[name], part) for name, part in plain.items()})
    if isinstance(plain, dict):
        values = [float(v) if isinstance(v, str) else v for v in plain["values"]]
        return np.array(values, np.dtype(plain["dtype"])).reshape(plain["shape"])
    if isinstance(plain, list):
        inner = typing.get_args(kind) or (Any, ...)  # tuple[int, str] or tuple[int, ...]
        kinds = inner[:1] * len(plain) if inner[-1] is Ellipsis else inner
        return tuple(_read(part_kind, part) for part_kind, part in zip(kinds, plain, strict=True))
    return float(plain) if kind is float else plain
