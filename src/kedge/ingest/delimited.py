"""Read a text table (CSV, TSV, space-separated, packed or not) into Arrow columns of exact strings.

Arrow reads it; a file that Arrow refuses is read again line by line, to name the line and the fault.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.columns import BadRows, Columns
from kedge.ingest.dialect import COMMENTS, Dialect, sniff, split_words
from kedge.ingest.sources import Source, UserFile, inspect

_BLOCK: Final = 1 << 22  # a line longer than this cannot be an edge
_LONGEST_LINE: Final = 1 << 20


def read_columns(file: UserFile, config: ReadConfig, weights_wanted: bool = True) -> Columns:
    """The id columns of a text file; any fault is named with its line."""
    source = inspect(file)
    dialect = sniff(source, config, weights_wanted)
    skipped = None
    if config.bad_rows == "skip":
        # Lines are looked at one by one, so runs of spaces need no second reading.
        dialect = replace(dialect, single=dialect.delimiter == " ")
        skipped = _Skipped(dialect)
    try:
        table, comments = _parse(source, dialect, skipped)
    except pa.ArrowInvalid as first:
        # Runs of spaces may begin after the rows that were looked at.
        if dialect.delimiter != " " or dialect.single:
            raise _first_fault(source, dialect, str(first)) from None
        dialect = replace(dialect, single=True)
        try:
            table, comments = _parse(source, dialect)
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
        lambda row: _line_of_row(source, dialect, row, set() if skipped is None else skipped.lines),
        tuple(notes),
        header=dialect.header is not None,
        comments=comments,
        ends=dialect.ends,
        doubtful=dialect.doubtful,
        guessed=dialect.guessed,
        directed=dialect.directed,
        bad=BadRows() if skipped is None else skipped.bad,
    )


class _Skipped:
    """Which lines are blanked before Arrow sees them, since they cannot be read."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.bad = BadRows()
        self.lines: set[int] = set()

    def is_bad(self, raw: bytes, number: int) -> bool:
        """Whether the line of this number, from 1, is to be skipped; it is counted."""
        if number <= self._dialect.skip:
            return False
        fault = _judge(raw.rstrip(b"\r\n"), self._dialect)
        if fault is not None:
            self.lines.add(number)
            self.bad.add(lambda: number, fault[0])
        return fault is not None


def _parse(source: Source, dialect: Dialect, skipped: _Skipped | None = None) -> tuple[pa.Table, int]:
    """The table, and the number of comment lines."""
    names = [f"column{i}" for i in range(dialect.columns)]
    wanted = {dialect.first: "first", dialect.second: "second"}
    if dialect.weight is not None:
        wanted[dialect.weight] = "weight"
    for place, name in wanted.items():
        names[place] = name
    cleaned = _Cleaned(source.stream(), dialect.single, skipped)
    with pa.PythonFile(io.BufferedReader(cleaned, _BLOCK), mode="r") as stream:
        table = arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(column_names=names, skip_rows=dialect.skip, block_size=_BLOCK),
            arrow_csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=False if dialect.delimiter == " " else '"',
            ),
            arrow_csv.ConvertOptions(
                column_types={"first": pa.string(), "second": pa.string(), "weight": pa.float64()},
                include_columns=list(wanted.values()),
                null_values=[],  # an empty weight is a fault, not a missing value
                strings_can_be_null=False,
            ),
        )
    source.file.refuse_beyond(table.nbytes, "takes")
    return table, cleaned.comments


class _Cleaned(io.RawIOBase):
    """Blanks comment lines, so that line numbers stay, and counts them; `single` also makes runs of spaces one.

    Arrow must not see comments: a quote in one would make the rows after it part of it.
    """

    def __init__(self, raw: io.RawIOBase, single: bool, skipped: _Skipped | None) -> None:
        self._lines = whole_lines(raw)
        self._single = single
        self._skipped = skipped
        self._number = 0
        self._left = b""
        self._place = 0
        self._raw = raw
        self.comments = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._place == len(self._left):
            self._left, self._place = self._clean(next(self._lines, b"")), 0
        count = min(len(buffer), len(self._left) - self._place)
        buffer[:count] = self._left[self._place : self._place + count]
        self._place += count
        return count

    def _clean(self, block: bytes) -> bytes:
        if not self._single and self._skipped is None and not _may_have_comments(block):
            return block
        lines = block.splitlines(keepends=True)  # of bytes: at \n, \r and \r\n only
        is_comment = [line.startswith((b"#", b"%")) for line in lines]
        self.comments += sum(is_comment)
        if self._skipped is not None:
            for place, line in enumerate(lines):
                is_comment[place] |= self._skipped.is_bad(line, self._number + place + 1)
            self._number += len(lines)
        return b"".join(
            b"\n" if blank else b" ".join(line.split()) + b"\n" if self._single else line
            for line, blank in zip(lines, is_comment, strict=True)
        )

    def close(self) -> None:
        self._raw.close()
        super().close()


def _may_have_comments(block: bytes) -> bool:
    """Whether a line begins with a sign of comments; quick where the signs are nowhere, as in most files."""
    signs = [sign.encode() for sign in COMMENTS if sign.encode() in block]
    return any(block.startswith(sign) or b"\n" + sign in block or b"\r" + sign in block for sign in signs)


def whole_lines(raw: io.RawIOBase) -> Iterator[bytes]:
    """The stream in blocks that end where a line ends; only a line beyond any edge's length is cut."""
    rest = b""
    while block := raw.read(_BLOCK):
        rest += block
        # A \r at the very end may be half of a \r\n.
        end = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, -1)) + 1
        if end or len(rest) > _BLOCK:
            yield rest[: end or len(rest)]
            rest = rest[end:] if end else b""
    if rest:
        yield rest


def _line_of_row(source: Source, dialect: Dialect, row: int, skipped: set[int]) -> int | None:
    """The line, from 1, of a row of data; walks the file, so it is for errors only."""
    seen = -1
    with source.stream() as stream:
        lines = (line for block in whole_lines(stream) for line in block.splitlines())
        for number, line in enumerate(lines):
            # Exactly the rows that Arrow sees.
            if (
                number < dialect.skip
                or number + 1 in skipped
                or line.startswith((b"#", b"%"))
                or not (line.split() if dialect.single else line)
            ):
                continue
            seen += 1
            if seen == row:
                return number + 1
    return None


def _first_fault(source: Source, dialect: Dialect, reason: str) -> KedgeError:
    """The first line that cannot be read, with its remedy, found line by line; `reason` is Arrow's message."""
    with source.stream() as stream:
        lines = (line for block in whole_lines(stream) for line in block.splitlines())
        for number, line in enumerate(lines, 1):
            if number > dialect.skip and (fault := _judge(line, dialect)):
                remedy = f"{fault[1]}; or skip such rows: --skip-bad-rows"
                return KedgeError(fault[0], file=source.path, line=number, remedy=remedy)
    return _unknown(source, reason)


def _unknown(source: Source, reason: str) -> KedgeError:
    first = reason.splitlines()[0] if reason else "unreadable"
    return KedgeError(
        f"cannot be read as a table ({first})", file=source.path, remedy="write one edge or pair per line"
    )


def _judge(raw: bytes, dialect: Dialect) -> tuple[str, str] | None:
    """What is wrong with a line, and the remedy."""
    if len(raw) > _LONGEST_LINE:
        return (f"a line of more than {_LONGEST_LINE >> 20} MB", "write one edge or pair per line")
    try:
        line = raw.decode()
    except UnicodeDecodeError:
        return ("is not valid UTF-8", "save the file as UTF-8")
    if not line or line.startswith(COMMENTS):
        return None
    if dialect.delimiter != " " and line.count('"') % 2:
        return ("a quoted field does not end on its line", "remove the line break or the stray quote")
    fields = split_words(line) if dialect.delimiter == " " else _split(line, dialect.delimiter)
    if len(fields) != dialect.columns:
        return (
            f"has {len(fields)} columns where the rows before have {dialect.columns}",
            "give every row the same columns, or state the delimiter with --set read.delimiter=...",
        )
    if dialect.weight is not None:
        text = fields[dialect.weight]
        try:
            weight = math.nan if "_" in text else float(text)
        except ValueError:
            return (f"weight {text!r} is not a number", "mend it, or ignore weights with --set read.weights=no")
        if not math.isfinite(weight):
            return (f"weight {text!r} is not finite", "mend it, or ignore weights with --set read.weights=no")
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
