"""Profiles in: a table with a column of ids and any other columns, to one row for each account of a network.

No message shows a value: profiles are personal data, so faults are named by their line or column.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from kedge.config import ReadConfig
from kedge.errors import KedgeError, did_you_mean
from kedge.ingest import frames
from kedge.ingest.alike import find_alike
from kedge.ingest.columns import BadRows
from kedge.ingest.delimited import whole_lines
from kedge.ingest.read import PARQUET, TABLES, TEXT, format_of, misnamed
from kedge.ingest.sources import Source, UserFile, inspect, refuse_bomb, take_file
from kedge.types import IntArray, Network, Profiles

_BLOCK: Final = 1 << 24  # bytes that Arrow parses at a time, and
_LONGEST_ROW: Final = 1 << 29  # where a row is longer than that
_DELIMITERS: Final = ("\t", ",", ";", "|")
_MISSING: Final = ("", "NA", "N/A", "NULL", "null", "NaN", "nan", "None", "\\N")  # what stands for no value
_LATITUDE: Final = ("lat", "latitude")
_LONGITUDE: Final = ("lon", "lng", "long", "longitude")


@dataclass(frozen=True)
class ProfileReport:
    """What was read: rows, those of accounts that the network does not have, rows that name an account again."""

    rows: int
    unknown: int
    repeated: int
    without: int  # accounts that have no row
    read: tuple[str, ...] = ()  # what the reader noted

    def notes(self, side: str, accounts: int) -> tuple[str, ...]:
        """One line for each thing that the user should know."""
        lines = [f"{side} profiles: {note}" for note in self.read]
        if self.unknown:
            lines.append(
                f"{side} profiles: {self.unknown:,} of {self.rows:,} rows are of accounts in no edge or anchor"
            )
        if self.repeated:
            lines.append(
                f"{side} profiles: {self.repeated:,} rows name an account again: the first value of each field counts"
            )
        if self.without:
            lines.append(f"{side} profiles: {self.without:,} of {accounts:,} accounts have no row")
        return tuple(lines)


def read_profiles(
    source: Any, network: Network, config: ReadConfig | None = None, ids: str = ""
) -> tuple[Profiles, ProfileReport]:
    """The profiles of a network from a path or a frame; `ids` names the column of ids, the first one by default."""
    config = config or ReadConfig()
    file = None
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        source = take_file(source, config)
    bad = BadRows()
    notes: tuple[str, ...] = ()
    if isinstance(source, UserFile):
        file = str(source.path)
        table, notes = read_table(source, config, bad), misnamed(source, format_of(source))
    else:
        table = _as_table(source)
    table = clean_table(table, ids, file, bad if config.bad_rows == "skip" else None)
    profiles, report = _of_network(table, network, file)
    return profiles, replace(report, read=(*notes, *bad.note(), *report.read))


def read_table(file: UserFile, config: ReadConfig, bad: BadRows | None = None) -> pa.Table:
    """All columns of a file; those of a text file as text, with null for what stands for no value.

    Rows that cannot be read are counted in `bad`, where the configuration has them skipped.
    """
    kind = format_of(file)
    if kind is PARQUET:
        return _read_parquet(file)
    if kind in TABLES:
        rows = TABLES[kind].read(file, TABLES[kind].names(file), config.bad_rows == "skip")
        if bad is not None:
            bad.merge(rows.bad)
        return rows.table
    if kind is not TEXT:
        raise KedgeError(f"is {kind.name}, which has no table of profiles", file=file.path, remedy="give a table")
    return _read_text(file, config, BadRows() if bad is None else bad)


def _as_table(source: Any) -> pa.Table:
    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        try:
            return frames.as_table(source)
        except KedgeError:  # the message may have a value in it
            raise KedgeError("a frame with values of several types in a column", remedy="make them text") from None
    raise KedgeError(
        f"profiles cannot be read from {type(source).__name__}", remedy="give a path or a frame with a column of ids"
    )


def _read_parquet(file: UserFile) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        source = str(file.path) if file.content is None else pa.BufferReader(file.content)
        with pq.ParquetFile(source, page_checksum_verification=True) as opened:
            frames.refuse_claims(opened.metadata, file)
            batches, taken = [], 0
            for batch in opened.iter_batches():  # no more is unpacked than the limit allows
                taken += batch.nbytes
                refuse_bomb(file, taken)
                batches.append(batch)
            return pa.Table.from_batches(batches, opened.schema_arrow)
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise KedgeError(f"cannot be read as Parquet ({reason})", file=file.path, remedy="write it again") from None


def _read_text(file: UserFile, config: ReadConfig, bad: BadRows) -> pa.Table:
    """All columns as text; the first line names them."""
    source = inspect(file)
    first, delimiter = first_line(source, config)
    if "\ufffd" in first:  # what stands for bytes that are none of this encoding
        raise KedgeError("is not valid UTF-8", file=file.path, line=1, remedy="save it as UTF-8")
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    _refuse_names(names, str(file.path))
    skipped = bad if config.bad_rows == "skip" else None
    try:
        return _parse(source, delimiter, names, _BLOCK, skipped)
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise _fault(source, delimiter, names, str(error)) from None
    try:
        return _parse(source, delimiter, names, _LONGEST_ROW, skipped)
    except pa.ArrowInvalid as error:
        raise _fault(source, delimiter, names, str(error)) from None


def first_line(source: Source, config: ReadConfig) -> tuple[str, str]:
    """The line that names the columns, and the delimiter."""
    first = re.split("\r\n|\r|\n", source.sample, maxsplit=1)[0]
    delimiter = {"auto": "", "\\t": "\t", "tab": "\t"}.get(config.delimiter, config.delimiter)
    return first, delimiter or max(_DELIMITERS, key=first.count)


def _refuse_names(names: list[str], file: str | None) -> None:
    if len(names) < 2:
        raise KedgeError("has one column", file=file, line=1, remedy="give ids and at least one other column")
    if len(set(names)) < len(names) or "" in names:
        problem = "two columns of one name" if "" not in names else "a column without a name"
        raise KedgeError(problem, file=file, line=1, remedy="name every column in the first line, each differently")


def _parse(source: Source, delimiter: str, names: list[str], block: int, skipped: BadRows | None) -> pa.Table:
    def skip(row: arrow_csv.InvalidRow) -> str:
        if skipped is None:
            return "error"
        line = row.number  # of records, which are lines unless a value has a line break in it
        skipped.add(lambda: line, f"{row.actual_columns} columns where the first line names {row.expected_columns}")
        return "skip"

    with pa.PythonFile(io.BufferedReader(source.stream()), mode="r") as stream:
        table = arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(
                column_names=names,
                skip_rows=1,
                block_size=min(block, max(source.file.size, 1024)),
                use_threads=skipped is None,
            ),
            arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=None if skipped is None else skip
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=True, null_values=_MISSING
            ),
        )
    source.file.refuse_beyond(table.nbytes, "takes")
    return table


def _fault(source: Source, delimiter: str, names: list[str], reason: str) -> KedgeError:
    """The line that cannot be read, without what it has in it."""
    with source.stream() as stream:
        lines = (line for block in whole_lines(stream) for line in block.splitlines())
        for number, line in enumerate(lines, 1):
            try:
                text = line.decode()
            except UnicodeDecodeError:
                return KedgeError("is not valid UTF-8", file=source.path, line=number, remedy="save it as UTF-8")
            if '"' not in text and text and text.count(delimiter) + 1 != len(names):
                return KedgeError(
                    f"has {text.count(delimiter) + 1} columns where the first line names {len(names)}",
                    file=source.path,
                    line=number,
                    remedy="quote values that contain the delimiter",
                )
    found = re.search(r"Expected (\d+) columns, got (\d+)", reason)
    problem = f"a row of {found[2]} columns where the first line names {found[1]}" if found else "cannot be read"
    return KedgeError(problem, file=source.path, remedy="write a table with quoted values, in UTF-8")


def clean_table(table: pa.Table, ids: str, file: str | None, skipped: BadRows | None = None) -> pa.Table:
    """The table with its ids first, as text; what stands for no value is null; latitude and longitude are one place.

    Rows without an id are refused, or counted in `skipped`.
    """
    names = table.column_names
    _refuse_names(names, file)
    if ids and ids not in names:
        raise KedgeError(f"no column {ids!r}", file=file, remedy=did_you_mean(ids, names, "name the column of ids"))
    key = ids or names[0]
    if skipped is not None and table.column(key).null_count:
        for row in np.flatnonzero(np.asarray(pc.is_null(table.column(key)))).tolist():
            skipped.add(lambda: None, f"row {row + 1} has no id")
        table = table.filter(pc.is_valid(table.column(key)))
    if table.num_rows == 0:
        raise KedgeError("holds no rows", file=file, remedy="give one row for each account")
    columns = {name: _values(table.column(name), name, file) for name in names if name != key}
    lower = {name.casefold(): name for name in columns}
    latitude, longitude = (next((lower[n] for n in known if n in lower), "") for known in (_LATITUDE, _LONGITUDE))
    if latitude and longitude:
        one, other = (columns.pop(name).cast(pa.large_string()) for name in (latitude, longitude))
        columns["place"] = pc.binary_join_element_wise(one, other, pa.scalar(",", pa.large_string()))
    accounts = table.column(key)
    if accounts.null_count:
        row = pc.index(pc.is_null(accounts), True).as_py()
        raise KedgeError(f"row {row + 1} has no id", file=file, remedy="give every row an id")
    try:
        texts = pc.utf8_trim_whitespace(accounts.cast(pa.large_string()))
    except pa.ArrowException:
        raise KedgeError(f"column {key!r} cannot be read as ids", file=file, remedy="make it text") from None
    return pa.table({key: texts, **columns})


def _values(column: pa.ChunkedArray, name: str, file: str | None) -> pa.ChunkedArray:
    try:
        return _plain(column, name, file)
    except pa.ArrowException:
        raise KedgeError(f"column {name!r} cannot be read as text", file=file, remedy="make it UTF-8 text") from None


def _plain(column: pa.ChunkedArray, name: str, file: str | None) -> pa.ChunkedArray:
    """The column without dictionaries, bytes or spaces around text; what stands for no value is null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_struct(column.type) or pa.types.is_map(column.type):
        raise KedgeError(f"column {name!r} holds {column.type}", file=file, remedy="give one value per cell")
    if pa.types.is_boolean(column.type) or pa.types.is_string_view(column.type) or pa.types.is_binary(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_string())
        column.validate(full=True)  # a column of text may hold bytes that are none
        text = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.is_in(text, value_set=pa.array(_MISSING, pa.large_string())), None, text)
    return column


def _of_network(table: pa.Table, network: Network, file: str | None) -> tuple[Profiles, ProfileReport]:
    """One row for each account; several rows of one are joined, the first value of each field counts."""
    account = network.find(table.column(0))
    known = np.flatnonzero(account >= 0)
    alike = find_alike([table.column(0).combine_chunks()], [network], account >= 0)
    if len(known) == 0:
        near = "" if alike is None else f", but {alike.rows:,} of {len(account):,} are if {alike.ignored}"
        raise KedgeError(
            f"no row is of an account of this network{near}",
            file=file,
            remedy="is the first column the ids? are the sides swapped?" if alike is None else "write ids alike",
        )
    columns = {}
    for name in table.column_names[1:]:
        column = table.column(name)
        rows = np.full(network.n, -1, np.int64)
        filled = known[np.asarray(column.is_valid())[known]]
        rows[account[filled[::-1]]] = filled[::-1]  # the first row of an account is written last
        columns[name] = column.combine_chunks().take(_places(rows))
    distinct = len(np.unique(account[known]))
    report = ProfileReport(
        rows=table.num_rows,
        unknown=table.num_rows - len(known),
        repeated=len(known) - distinct,
        without=network.n - distinct,
        read=()
        if alike is None
        else (f"{alike.rows:,} of {len(account):,} rows match if {alike.ignored}, and {len(known):,} as they are",),
    )
    return Profiles(pa.table(columns)), report


def _places(rows: IntArray) -> pa.Array:
    return pa.array(rows, mask=rows < 0)
