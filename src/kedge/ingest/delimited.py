"""Read a text table (CSV, TSV, space-separated, packed or not) into Arrow columns of exact strings.

Arrow reads it; a file that Arrow refuses is read again line by line, to name the line and the fault.
"""

from __future__ import annotations

import io
import math
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.columns import Columns
from kedge.ingest.dialect import COMMENTS, Dialect, sniff
from kedge.ingest.sources import Source, inspect

_BLOCK: Final = 1 << 22  # a line longer than this cannot be an edge
_LONGEST_LINE: Final = 1 << 20


def read_columns(path: Any, config: ReadConfig, weights_wanted: bool = True) -> Columns:
    """The id columns of a text file; any fault is named with its line."""
    source = inspect(path)
    dialect = sniff(source, config, weights_wanted)
    try:
        table = _parse(source, dialect)
    except pa.ArrowInvalid:
        # Runs of spaces, or comments that look like rows, may begin after the rows that were looked at.
        dialect = replace(dialect, cleaned=True)
        try:
            table = _parse(source, dialect)
        except pa.ArrowInvalid as error:
            raise _first_fault(source, dialect, str(error)) from None
    notes = list(dialect.notes)
    if source.encoding != "utf-8":
        notes.append(f"read as {source.encoding.upper()}")
    return Columns(
        table.column("first"),
        table.column("second"),
        table.column("weight") if dialect.weight is not None else None,
        str(source.path),
        lambda row: _line_of_row(source, dialect, row),
        tuple(notes),
        header=dialect.header is not None,
        comments=True,
    )


def _parse(source: Source, dialect: Dialect) -> pa.Table:
    names = [f"column{i}" for i in range(dialect.columns)]
    wanted = {dialect.first: "first", dialect.second: "second"}
    if dialect.weight is not None:
        wanted[dialect.weight] = "weight"
    for place, name in wanted.items():
        names[place] = name

    def judge(row: Any) -> str:
        return "skip" if row.text.startswith(COMMENTS) else "error"

    stream = source.open()
    if dialect.cleaned:
        stream = pa.PythonFile(io.BufferedReader(_Cleaned(source.stream(), dialect.delimiter), _BLOCK), mode="r")
    with stream:
        return arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(column_names=names, skip_rows=dialect.skip, block_size=_BLOCK),
            arrow_csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=False if dialect.delimiter == " " else '"',
                invalid_row_handler=judge,
            ),
            arrow_csv.ConvertOptions(
                column_types={"first": pa.string(), "second": pa.string(), "weight": pa.float64()},
                include_columns=list(wanted.values()),
                null_values=[],  # an empty weight is a fault, not a missing value
                strings_can_be_null=False,
            ),
        )


class _Cleaned(io.RawIOBase):
    """Blanks comment lines, so that line numbers stay; in space-separated files makes runs of spaces one."""

    def __init__(self, raw: io.RawIOBase, delimiter: str) -> None:
        self._lines = io.BufferedReader(raw, 1 << 20)
        self._single = delimiter == " "
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            lines = self._lines.readlines(1 << 20)
            self._left = b"".join(
                b"\n" if line[:1] in (b"#", b"%") else b" ".join(line.split()) + b"\n" if self._single else line
                for line in lines
            )
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        self._lines.close()
        super().close()


def _line_of_row(source: Source, dialect: Dialect, row: int) -> int | None:
    """The line, from 1, of a row of data; walks the file, so it is for errors only."""
    seen = -1
    with io.TextIOWrapper(io.BufferedReader(source.stream()), encoding="utf-8", errors="replace", newline=None) as text:
        for number, line in enumerate(text):
            if number < dialect.skip or not line.strip("\n"):
                continue
            # Exactly the rows that Arrow keeps: a comment with as many columns as an edge counts as one.
            if line.startswith(COMMENTS) and (dialect.cleaned or len(line.split(dialect.delimiter)) != dialect.columns):
                continue
            seen += 1
            if seen == row:
                return number + 1
    return None


def _first_fault(source: Source, dialect: Dialect, reason: str) -> KedgeError:
    """The first line that cannot be read, with its remedy, found line by line; `reason` is Arrow's message."""
    number = 0
    with source.stream() as stream:
        rest = b""
        while block := stream.read(1 << 20):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                number += 1
                if number > dialect.skip and (error := _judge(line, number, source, dialect)):
                    return error
            if len(rest) > _LONGEST_LINE:
                return _judge(rest, number + 1, source, dialect) or _unknown(source, reason)
    if rest and (error := _judge(rest, number + 1, source, dialect)):
        return error
    return _unknown(source, reason)


def _unknown(source: Source, reason: str) -> KedgeError:
    first = reason.splitlines()[0] if reason else "unreadable"
    return KedgeError(
        f"cannot be read as a table ({first})", file=source.path, remedy="write one edge or pair per line"
    )


def _judge(raw: bytes, number: int, source: Source, dialect: Dialect) -> KedgeError | None:
    def error(problem: str, remedy: str) -> KedgeError:
        return KedgeError(problem, file=source.path, line=number, remedy=remedy)

    if len(raw) > _LONGEST_LINE:
        return error(f"a line of more than {_LONGEST_LINE >> 20} MB", "write one edge or pair per line")
    try:
        line = raw.decode().rstrip("\r")
    except UnicodeDecodeError:
        return error("is not valid UTF-8", "save the file as UTF-8")
    if not line or line.startswith(COMMENTS):
        return None
    if dialect.delimiter != " " and line.count('"') % 2:
        return error("a quoted field does not end on its line", "remove the line break or the stray quote")
    fields = line.split() if dialect.delimiter == " " else _split(line, dialect.delimiter)
    if len(fields) != dialect.columns:
        return error(
            f"has {len(fields)} columns where the rows before have {dialect.columns}",
            "give every row the same columns, or state the delimiter with --set read.delimiter=...",
        )
    if dialect.weight is not None:
        text = fields[dialect.weight]
        try:
            weight = float(text)
        except ValueError:
            return error(f"weight {text!r} is not a number", "mend it, or ignore weights with --set read.weights=no")
        if not math.isfinite(weight):
            return error(f"weight {text!r} is not finite", "mend it, or ignore weights with --set read.weights=no")
    return None


def _split(line: str, delimiter: str) -> list[str]:
    """Fields of a line in which a field may be quoted."""
    if '"' not in line:
        return line.split(delimiter)
    fields, field, quoted = [], "", False
    for character in line:
        if character == '"':
            quoted = not quoted
        elif character == delimiter and not quoted:
            fields.append(field)
            field = ""
        else:
            field += character
    return [*fields, field]
