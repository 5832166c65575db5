"""Read a text table (CSV, TSV, space-separated, packed or not) into Arrow columns of exact strings."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv

from kedge.config import ReadConfig
from kedge.ingest.columns import Columns
from kedge.ingest.diagnose import first_fault
from kedge.ingest.dialect import COMMENTS, Dialect, sniff
from kedge.ingest.sources import Source, inspect

__all__ = ["read_columns"]

_BLOCK: Final = 1 << 22  # a line longer than this cannot be an edge


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
            raise first_fault(source, dialect, str(error)) from None
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
