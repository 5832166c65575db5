"""Rows of JSON: one object or array per line, or one document that is a list of them.

A list of links inside an object (`{"nodes": ..., "links": [...]}`, as D3 and NetworkX write it) is read as rows too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from kedge.errors import KedgeError
from kedge.ingest.columns import BadRows
from kedge.ingest.delimited import whole_lines
from kedge.ingest.named import are_timestamps
from kedge.ingest.sources import Source, UserFile, inspect
from kedge.ingest.tables import Growing, Rows, TableReader

_LONGEST_LINE: Final = 1 << 20
_SAMPLE: Final = 200  # rows whose keys are the columns
_LINKS: Final = ("links", "edges")


class _Row(NamedTuple):
    """A row, and its line; a fault instead of the row where it cannot be read."""

    line: int
    value: Any
    fault: str = ""


def _recognises(file: UserFile) -> bool:
    if file.size > file.limit:
        return False
    source = inspect(file)
    text = source.sample.lstrip()
    if not text.startswith(("{", "[")):
        return False
    first = _parse(text.splitlines()[0])
    if not first.fault:
        return True
    # A document whose first value goes on in the next line: an id may begin with a bracket, but not like this.
    inner = text[1:].lstrip()
    return text.startswith("{") and inner.startswith('"') if text[0] == "{" else inner.startswith(("{", "[", '"'))


def _names(file: UserFile) -> list[str]:
    rows = _rows(file)
    sample = [row.value for _, row in zip(range(_SAMPLE), rows, strict=False) if not row.fault]
    if not sample:
        first = next(_rows(file), None)
        problem = "holds no rows" if first is None else f"is no JSON that can be read as rows: {first.fault}"
        raise KedgeError(
            problem,
            file=file.path,
            line=None if first is None else first.line,
            remedy='write one object per line: {"source": "a", "target": "b"}',
        )
    if isinstance(sample[0], dict):
        return list(dict.fromkeys(str(key) for row in sample if isinstance(row, dict) for key in row))
    width = max(len(row) for row in sample if isinstance(row, list))
    return [_name(sample, place) for place in range(width)]


def _name(sample: Sequence[Any], place: int) -> str:
    """What a column of arrays is called: its number from 1, or weight for the third one if it holds numbers."""
    cells = [row[place] for row in sample if isinstance(row, list) and len(row) > place]
    numbers = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)
    return "weight" if place == 2 and numbers and not are_timestamps(list(map(str, cells))) else str(place + 1)


def _read(file: UserFile, names: Sequence[str], skip: bool) -> Rows:
    every = _names(file)
    places = [every.index(name) for name in names]
    found, lines, bad = Growing(file, names), [], BadRows()
    arrays: bool | None = None
    for row in _rows(file):
        fault = row.fault
        if not fault and arrays is None:
            arrays = isinstance(row.value, list)
        if not fault and isinstance(row.value, list) != arrays:
            fault = "an object among arrays" if arrays else "an array among objects"
        cells: list[Any] = []
        if not fault and arrays:
            cells = [row.value[place] if place < len(row.value) else None for place in places]
        elif not fault:
            cells = [row.value.get(name) for name in names]
        nested = next((name for name, cell in zip(names, cells, strict=False) if isinstance(cell, dict)), None)
        if nested is not None:
            fault = f"{nested!r} is an object, not a value"
        if fault:
            if not skip:
                raise KedgeError(
                    fault, file=file.path, line=row.line, remedy="mend the line, or skip such rows: --skip-bad-rows"
                )
            bad.add(partial(int, row.line), fault)
            continue
        found.add(cells)
        lines.append(row.line)
    places_of = np.asarray(lines, np.int64)
    return Rows(found.table(), lambda row: int(places_of[row]), bad)


def _rows(file: UserFile) -> Iterator[_Row]:
    """The rows with their lines, from 1: those of each line, or those of the one document."""
    source = inspect(file)
    first = _parse(next((line for line in source.sample.splitlines() if line.strip()), ""))
    return _lines(source) if _is_row(first.value) or _looks_like_lines(source) else _document(source)


def _is_row(value: Any) -> bool:
    """Whether a value is one row, and not a list of rows."""
    if isinstance(value, dict):
        return not any(isinstance(value.get(key), list) for key in _LINKS)
    return isinstance(value, list) and bool(value) and not any(isinstance(cell, dict | list) for cell in value)


def _looks_like_lines(source: Source) -> bool:
    """Whether the first line cannot be read and a later one can: lines of which the first is damaged."""
    lines = [line for line in source.sample.splitlines() if line.strip()][:10]
    return (
        len(lines) > 1
        and any(
            _is_row(row.value) for row in map(_parse, lines[1:]) if not row.fault and isinstance(row.value, dict | list)
        )
        and lines[0].strip() not in ("[", "{")
    )


def _lines(source: Source) -> Iterator[_Row]:
    with source.stream() as stream:
        lines = (line for block in whole_lines(stream) for line in block.splitlines())
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            if len(raw) > _LONGEST_LINE:
                yield _Row(number, None, f"a line of more than {_LONGEST_LINE >> 20} MB")
                continue
            try:
                row = _parse(raw.decode())
            except UnicodeDecodeError:
                yield _Row(number, None, "is not valid UTF-8")
                continue
            fault = row.fault or ("" if _is_row(row.value) else "neither an object nor an array of values")
            yield _Row(number, row.value, fault)


def _document(source: Source) -> Iterator[_Row]:
    with source.stream() as stream:
        raw = b"".join(whole_lines(stream))
    try:
        row = _parse(raw.decode())
    except UnicodeDecodeError:
        row = _Row(1, None, "is not valid UTF-8")
    value = row.value
    if isinstance(value, dict):
        value = next((value[key] for key in _LINKS if isinstance(value.get(key), list)), None)
    if row.fault or not isinstance(value, list):
        yield _Row(1, None, row.fault or "an object without a list of links or edges")
        return
    for number, item in enumerate(value, 1):
        fault = "" if _is_row(item) else "neither an object nor an array of values"
        yield _Row(number, item, fault)


def _parse(text: str) -> _Row:
    """One value of JSON, or what is wrong with it."""
    try:
        return _Row(1, json.loads(text, parse_constant=_refuse_constant))
    except RecursionError:
        return _Row(1, None, "is nested too deeply")
    except ValueError as error:  # of JSON, or a number with thousands of digits
        reason = str(error).partition(":")[0]
        return _Row(1, None, f"is not valid JSON ({reason})")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


JSON_LINES: Final = TableReader(_recognises, _names, _read)
