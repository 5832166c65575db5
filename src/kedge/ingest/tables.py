"""Files that hold tables: what a reader of one gives, and texts made of cells of any type."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kedge.errors import KedgeError
from kedge.ingest.columns import BadRows
from kedge.ingest.sources import UserFile

_ROWS: Final = 1 << 16  # rows from which a chunk is made


@dataclass(frozen=True)
class Rows:
    """A table, the line or number of each row in its file, and the rows that were skipped."""

    table: pa.Table
    line_of: Callable[[int], int | None] = lambda row: row + 1
    bad: BadRows = field(default_factory=BadRows)


class TableReader(NamedTuple):
    """How a kind of file is recognised, what its columns are called, and how some of them are read.

    `read` gets the file, the names of the wanted columns, and whether rows that cannot be read are skipped.
    """

    recognises: Callable[[UserFile], bool]
    names: Callable[[UserFile], list[str]]
    read: Callable[[UserFile, Sequence[str], bool], Rows]


class Growing:
    """Rows of cells, made a table in chunks: no more is held as Python objects than one chunk, and no more than the
    file's limit in all."""

    def __init__(self, file: UserFile, names: Sequence[str]) -> None:
        self._file, self._names = file, list(names)
        self._rows: list[Sequence[Any]] = []
        self._chunks: list[list[pa.Array]] = []
        self._bytes = 0

    def add(self, row: Sequence[Any]) -> None:
        """One more row."""
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            self._close_chunk()

    def _close_chunk(self) -> None:
        columns = [cells_to_array([row[i] for row in self._rows], self._file) for i in range(len(self._names))]
        self._bytes += sum(column.nbytes for column in columns)
        self._file.refuse_beyond(self._bytes, "takes")
        self._chunks.append(columns)
        self._rows = []

    def table(self) -> pa.Table:
        """All rows; a column whose chunks differ in type is text."""
        if self._rows or not self._chunks:
            self._close_chunk()
        columns = []
        for place in range(len(self._names)):
            chunks = [chunk[place] for chunk in self._chunks]
            kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
            kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
            columns.append(pa.chunked_array([_cast(chunk, kind) for chunk in chunks], kind))
        return pa.table(columns, names=self._names)


def _cast(chunk: pa.Array, kind: pa.DataType) -> pa.Array:
    if chunk.type == kind or not pa.types.is_nested(chunk.type):
        return chunk.cast(kind)
    return pa.array([None if cell is None else json.dumps(cell) for cell in chunk.to_pylist()], kind)


def cells_to_array(cells: Sequence[Any], file: UserFile) -> pa.Array:
    """One column: whole numbers, decimal ones, truth values, lists or texts where all cells are; else texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    try:
        if not kinds <= {str} and len(kinds) == 1 and kinds <= {int, float, bool, list}:
            try:
                return pa.array(cells)
            except (pa.ArrowException, OverflowError):  # integers beyond 64 bits, lists of several types
                pass
        return pa.array([_text(cell) for cell in cells], pa.large_string())
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can write
        raise KedgeError("holds text that is not valid Unicode", file=file.path, remedy="clean it") from None


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="strict")
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) else json.dumps(cell, ensure_ascii=False)
