"""Copies of networks, anchors and profiles with pseudonyms, and tables of pseudonyms turned back into ids.

Rows are sorted by their pseudonyms: a list in the order of names would give away part of them. No message has an id or
a value in it.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import frames
from kedge.ingest.columns import encode
from kedge.ingest.dialect import sniff
from kedge.ingest.formulas import guard, unguard
from kedge.ingest.named import choose_columns
from kedge.ingest.profiles import clean_table, first_line, read_table
from kedge.ingest.pseudonyms import doubt, pseudonyms
from kedge.ingest.read import PARQUET, TEXT, format_of, read_edges, read_pairs
from kedge.ingest.sources import UserFile, inspect, take_file
from kedge.types import IntArray

_ROWS: Final = 1 << 18  # written at a time: until then a pseudonym that occurs often is in memory once
_MAP: Final = ("id", "pseudonym")


@dataclass(frozen=True)
class Copy:
    """What a file becomes: its columns, how it is written, and the pseudonym of each of its ids."""

    name: str
    table: pa.Table
    delimiter: str | None  # None: Parquet
    compression: str | None
    ids: pa.Array
    pseudonyms: pa.Array
    fields: Mapping[str, str]  # hashed, each with its form
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def copy_pairs(path: Any, config: ReadConfig, key: bytes, *, anchors: bool) -> Copy:
    """A network or anchors: two columns of pseudonyms, and the weights of a network."""
    file = take_file(path, config)
    _refuse_format(file)
    read = read_pairs(file, config) if anchors else read_edges(file, config)
    if read.guessed and not (config.anchor_columns if anchors else config.columns):
        raise KedgeError(
            "which of its columns hold ids is not clear",
            file=file.path,
            remedy=f"name them with {'--anchor-columns' if anchors else '--columns'}, or give it with --profiles",
        )
    delimiter, compression, others = _layout(file, config, anchors)
    encoded = encode(read)
    ids, names, ranks = _hash_ids(encoded.ids, key, file)
    first, second = ranks[encoded.first], ranks[encoded.second]
    order = np.lexsort((second, first))
    ends = ("left", "right") if anchors else ("source", "target")
    shown = names.take(pc.sort_indices(names))
    columns: dict[str, Any] = {
        end: pa.DictionaryArray.from_arrays(pa.array(codes[order].astype(np.int32)), shown)
        for end, codes in zip(ends, (first, second), strict=True)
    }
    if read.weight is not None:
        columns["weight"] = read.weight.take(pa.array(order))
    return Copy(file.path.name, pa.table(columns), delimiter, compression, ids, names, {}, (), others, read.notes)


def _refuse_format(file: UserFile) -> None:
    """Copies are of the same format as what they are copies of: text or Parquet."""
    kind = format_of(file)
    if kind not in (PARQUET, TEXT):
        raise KedgeError(
            f"is {kind.name}: copies are made of text and Parquet", file=file.path, remedy="save it as CSV"
        )


def copy_profiles(
    path: Any, config: ReadConfig, ids: str, fields: Mapping[str, str], keep: Sequence[str], key: bytes
) -> Copy:
    """Profiles: pseudonyms of ids and of `fields` (name to form), `keep` as they are, and no other column."""
    file = take_file(path, config)
    _refuse_format(file)
    table = clean_table(read_table(file, config), ids, str(file.path))
    encoded = table.column(0).combine_chunks().dictionary_encode()
    known, names, ranks = _hash_ids(encoded.dictionary, key, file)
    codes = ranks[np.asarray(encoded.indices)]
    shown = names.take(pc.sort_indices(names))
    columns: dict[str, Any] = {
        table.column_names[0]: pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), shown)
    }
    notes = []
    for name in table.column_names[1:]:
        if name in fields:
            values = _as_text(table.column(name), name, file).dictionary_encode()
            distinct = values.dictionary.to_pylist()
            hashed = pa.array(pseudonyms(distinct, fields[name], key), pa.string())
            columns[name] = hashed.take(values.indices).dictionary_encode()
            notes += [note for note in (doubt(distinct, fields[name], name),) if note]
        elif name in keep:
            columns[name] = table.column(name)
    source = None if frames.is_parquet(file) else inspect(file)
    return Copy(
        file.path.name,
        pa.table(columns).take(
            pa.array(np.argsort(codes, kind="stable"))
        ),  # of two rows of an account the first counts
        None if source is None else first_line(source, config)[1],
        None if source is None else source.compression,
        known,
        names,
        {name: form for name, form in fields.items() if name in columns},
        tuple(name for name in keep if name in columns),
        tuple(name for name in table.column_names if name not in columns),
        tuple(notes),
    )


def _hash_ids(ids: pa.Array, key: bytes, file: UserFile) -> tuple[pa.Array, pa.Array, IntArray]:
    """The ids without a guard against formulas, their pseudonyms, and the rank of each pseudonym."""
    plain = unguard(ids)
    if len(pc.unique(plain)) < len(plain):
        raise KedgeError(
            "two ids differ in an apostrophe at their beginning alone",
            file=file.path,
            remedy="write one of them otherwise",
        )
    names = pa.array(pseudonyms(plain.to_pylist(), "id", key), pa.string())
    ranks = np.empty(len(names), np.int64)
    ranks[np.asarray(pc.sort_indices(names))] = np.arange(len(names))
    return plain.cast(pa.large_string()), names, ranks


def _as_text(column: pa.ChunkedArray, name: str, file: UserFile) -> pa.Array:
    if pa.types.is_nested(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        raise KedgeError(
            f"column {name!r} holds {column.type}, which is not written in one way",
            file=file.path,
            remedy="make it text",
        )
    return column.cast(pa.large_string()).combine_chunks()


def _layout(file: UserFile, config: ReadConfig, anchors: bool) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Delimiter and compression (of Parquet none), and the columns that are neither ids nor weights."""
    config = config.model_copy(update={"columns": config.anchor_columns} if anchors else {})
    if frames.is_parquet(file):
        import pyarrow.parquet as pq

        names = pq.read_schema(str(file.path) if file.content is None else pa.BufferReader(file.content)).names
        chosen = choose_columns(names, len(names), config.columns, str(file.path))
        ids_alone = anchors or config.weights == "no"
        used = {*chosen.all[: 2 if ids_alone else 3]}
        return None, None, tuple(name for place, name in enumerate(names) if place not in used)
    source = inspect(file)
    dialect = sniff(source, config, not anchors)
    named = dialect.header or tuple(f"column {place + 1}" for place in range(dialect.columns))
    chosen_here = (dialect.first, dialect.second, dialect.weight)
    others = tuple(name or "index" for place, name in enumerate(named) if place not in chosen_here)
    return dialect.delimiter, source.compression, others


def write_copy(copy: Copy, file: BinaryIO) -> None:
    """Write a copy in the format of its file; the first line of a text names its columns."""
    schema = pa.schema([(field.name, _plain_type(field.type)) for field in copy.table.schema])
    with contextlib.ExitStack() as opened:
        if copy.delimiter is None:
            import pyarrow.parquet as pq

            writer: Any = opened.enter_context(pq.ParquetWriter(file, schema, compression="zstd"))
        else:
            import pyarrow.csv as arrow_csv

            sink: Any = file
            if copy.compression is not None:
                sink = opened.enter_context(
                    pa.CompressedOutputStream(pa.PythonFile(_Open(file), mode="w"), copy.compression)
                )
            line = io.StringIO()
            csv.writer(line, delimiter=copy.delimiter, lineterminator="\n").writerow(copy.table.column_names)
            sink.write(line.getvalue().encode())
            # Pseudonyms need no quotes, and a table that is separated by spaces can have none.
            style = "needed" if copy.kept else "none"
            options = arrow_csv.WriteOptions(include_header=False, delimiter=copy.delimiter, quoting_style=style)
            writer = opened.enter_context(arrow_csv.CSVWriter(sink, schema, write_options=options))
        for batch in copy.table.to_batches(max_chunksize=_ROWS):
            writer.write_batch(batch.cast(schema))


class _Open(io.RawIOBase):
    """A file that Arrow does not close: it is still to be flushed to the disk."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def join_map(copies: Sequence[Copy]) -> pa.Table:
    """The pseudonym of each id of all copies, in the order of ids."""
    tables = [pa.table({"id": copy.ids, "pseudonym": copy.pseudonyms}) for copy in copies]
    table = pa.concat_tables(tables).group_by(list(_MAP)).aggregate([])
    if len(pc.unique(table["pseudonym"])) < table.num_rows:
        raise KedgeError("two ids have one pseudonym", remedy="make another key with --new-key")
    return table.select(_MAP).sort_by("id")


def read_map(path: Any, config: ReadConfig) -> pa.Table:
    """The table that `join_map` made, from its file."""
    columns = read_pairs(path, config.model_copy(update={"anchor_columns": _MAP, "delimiter": ","}))
    return pa.table({"id": unguard(columns.first.cast(pa.large_string())), "pseudonym": columns.second})


def reverse_copy(path: Any, config: ReadConfig, known: pa.Table, *, raw: bool) -> tuple[Copy, int, int]:
    """A table with ids in place of the pseudonyms of a map; how many cells that changed, and how many of these are
    guarded against formulas."""
    file = take_file(path, config)
    table = read_table(file, config)
    source = None if frames.is_parquet(file) else inspect(file)
    names = known["pseudonym"].combine_chunks().cast(pa.large_string())
    if pc.any(pc.is_in(pa.array(table.column_names, pa.large_string()), value_set=names)).as_py():
        raise KedgeError(
            "its first line has a pseudonym where names of columns belong", file=file.path, remedy="add one"
        )
    plain = known["id"].combine_chunks()
    ids = plain if raw or source is None else guard(plain)
    changed = guarded = 0
    for place, field in enumerate(table.schema):
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            continue
        cells = table.column(place).cast(pa.large_string())
        found = pc.index_in(cells, value_set=names)
        changed += len(found) - found.null_count
        guarded += pc.sum(pc.not_equal(ids, plain).take(found)).as_py() or 0
        table = table.set_column(place, field.name, pc.coalesce(ids.take(found.combine_chunks()), cells))
    if not changed:
        raise KedgeError(
            "has no pseudonym of this map", file=file.path, remedy="is it the map of the same key and files?"
        )
    nothing = pa.array([], pa.string())
    delimiter, compression = (None, None) if source is None else (first_line(source, config)[1], source.compression)
    copy = Copy(file.path.name, table, delimiter, compression, nothing, nothing, {}, tuple(table.column_names))
    return copy, changed, guarded
