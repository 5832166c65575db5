"""Columns from Parquet files, Arrow-capable frames, graph objects, sparse matrices and plain pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.columns import Columns
from kedge.ingest.named import Chosen, choose_columns
from kedge.ingest.sources import UserFile, head_of, refuse_bomb
from kedge.ingest.tables import Rows, TableReader

_BATCH_ROWS: Final = 1 << 20  # each batch has the whole dictionary of its row group: few batches
_BYTES_PER_ROW: Final = 8  # in memory at least: where the two ids begin


def is_parquet(file: UserFile) -> bool:
    """Whether a file begins as Parquet does, whatever it is called."""
    return head_of(file).startswith(b"PAR1")


def read_parquet(file: UserFile, config: ReadConfig, weights_wanted: bool = True) -> Columns:
    """The id columns of a Parquet file, in batches: no more is unpacked than the limit allows."""
    import pyarrow.parquet as pq

    try:
        source = str(file.path) if file.content is None else pa.BufferReader(file.content)
        with pq.ParquetFile(source, page_checksum_verification=True) as plain:
            places = _choose(plain.schema_arrow.names, config, weights_wanted, str(file.path))
            chosen, width = _distinct(plain.schema_arrow, places, file), len(plain.schema_arrow)
            refuse_claims(plain.metadata, file)
            rows = plain.metadata.num_rows
        # Text stays numbered until its length is known: one long id, repeated, is small in a file and not in memory.
        texts = [name for name in chosen[:2] if _is_text(plain.schema_arrow.field(name).type)]
        if file.content is not None:
            source = pa.BufferReader(file.content)
        with pq.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True) as opened:
            batches, taken = [], 0
            for batch in opened.iter_batches(_BATCH_ROWS, columns=chosen):
                taken += sum(map(_decoded_bytes, batch.columns))
                refuse_bomb(file, taken)
                batches.append(pa.record_batch([_decoded(column) for column in batch.columns], batch.schema.names))
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        raise KedgeError(
            f"cannot be read as Parquet ({_first_line(error)})", file=file.path, remedy="write it again"
        ) from None
    found = sum(batch.num_rows for batch in batches)
    if found != rows:
        raise KedgeError(f"claims {rows} rows and has {found}", file=file.path, remedy="write it again")
    if not rows:
        raise KedgeError("holds no rows", file=file.path, remedy="give a file with one edge or pair per row")
    table = pa.Table.from_batches(batches).select(chosen)
    return _from_rows(Rows(table), str(file.path), not places.known and width > 2, config)


def read_table_file(reader: TableReader, file: UserFile, config: ReadConfig, weights_wanted: bool = True) -> Columns:
    """The id columns of a file that holds a table."""
    names = reader.names(file)
    places = _choose(names, config, weights_wanted, str(file.path))
    chosen = [names[place] for place in places.all]
    rows = reader.read(file, chosen, config.bad_rows == "skip")
    if not rows.table.num_rows:
        raise KedgeError("holds no rows", file=file.path, remedy="give a file with one edge or pair per row")
    return _from_rows(rows, str(file.path), not places.known and len(names) > 2, config)


def _choose(names: list[str], config: ReadConfig, weights_wanted: bool, file: str | None) -> Chosen:
    """The places of the two ids and perhaps of a weight."""
    if len(names) < 2:
        raise KedgeError(
            f"has {'one column' if names else 'no columns'} where two are needed",
            file=file,
            remedy="give two columns of ids",
        )
    chosen = choose_columns(names, len(names), config.columns, file)
    return chosen if weights_wanted and config.weights != "no" else chosen._replace(weight=None)


def _distinct(schema: pa.Schema, places: Chosen, file: UserFile) -> list[str]:
    """The names of these columns, which must be the only ones of their name, and have cells that can be ids."""
    names = schema.names
    chosen = [names[place] for place in places.all]
    for name in chosen:
        if names.count(name) > 1:
            raise KedgeError(f"has several columns {name!r}", file=file.path, remedy="give each its own name")
        _refuse_nested(schema.field(name).type, name, str(file.path))
    return chosen


def refuse_claims(metadata: Any, file: UserFile) -> None:
    """Refuse what the file itself states to be too large, before any of it is unpacked."""
    rows = metadata.num_rows
    # A few bytes can claim any number of rows: a true edge takes at least some bits.
    if rows > max(1 << 20, file.size * 64):
        raise KedgeError(f"claims {rows} rows in {file.size} bytes", file=file.path, remedy="check the file")
    # Of whole groups: Arrow ends the process where the metadata of a single column is damaged in some ways.
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    stated = sum(max(group.total_byte_size, 0) for group in groups)
    refuse_bomb(file, max(stated, rows * _BYTES_PER_ROW))


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))


def _decoded_bytes(column: pa.Array) -> int:
    """What a column takes once each row has its own text."""
    if not pa.types.is_dictionary(column.type) or not _is_text(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0) + 8 * len(column)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _from_rows(rows: Rows, file: str | None, guessed: bool, config: ReadConfig) -> Columns:
    """Columns of the first two of a table, and weights of the third if there is one."""
    names = rows.table.column_names
    rows = Rows(_plain_numbers(rows.table, config.bad_rows == "skip"), rows.line_of, rows.bad)
    if config.bad_rows == "skip":
        rows = _without_nulls(rows)
    table = rows.table
    ends = [_as_text(table.column(i), names[i], file) for i in (0, 1)]
    if ends[0].type != ends[1].type:
        ends = [end.cast(pa.large_string()) for end in ends]
    weight = None
    if len(names) > 2:
        column = table.column(2)
        if column.null_count:
            raise _cell_fault(column, names[2], file, "has no weight")
        try:
            weight = column.cast(pa.float64())
        except pa.ArrowException:
            raise KedgeError(
                f"column {names[2]!r} holds weights that are not numbers", file=file, remedy="make them numbers"
            ) from None
    labels = repr(names[0]), repr(names[1])
    return Columns(
        ends[0], ends[1], weight, file, rows.line_of, header=True, ends=labels, guessed=guessed, bad=rows.bad
    )


def _plain_numbers(table: pa.Table, skip: bool) -> pa.Table:
    """The table with texts among its weights as numbers; null where one is none, if such rows are to be skipped."""
    if table.num_columns < 3 or not _is_text(table.column(2).type) or not skip:
        return table
    cells = [_number(cell) for cell in table.column(2).to_pylist()]
    return table.set_column(2, table.column_names[2], pa.array(cells, pa.float64()))


def _number(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None


def _without_nulls(rows: Rows) -> Rows:
    """The rows in which no cell is missing; the others are counted as bad."""
    whole = np.ones(rows.table.num_rows, bool)
    for name in rows.table.column_names:
        missing = np.asarray(pc.is_null(rows.table.column(name)))
        for row in np.flatnonzero(missing & whole).tolist():
            rows.bad.add(partial(rows.line_of, row), f"no {name!r}")
        whole &= ~missing
    if whole.all():
        return rows
    kept = np.flatnonzero(whole)
    return Rows(rows.table.take(pa.array(kept)), lambda row: rows.line_of(int(kept[row])), rows.bad)


def _cell_fault(column: pa.ChunkedArray, name: str, file: str | None, problem: str) -> KedgeError:
    row = pc.index(pc.is_null(column), True).as_py()
    remedy = "fill or remove it, or skip such rows: --skip-bad-rows"
    return KedgeError(f"row {row} of column {name!r} {problem}", file=file, remedy=remedy)


def _refuse_nested(kind: pa.DataType, name: str, file: str | None) -> None:
    if pa.types.is_nested(kind):
        raise KedgeError(f"column {name!r} holds {kind}, not ids", file=file, remedy="write one id per cell")


def _as_text(column: pa.ChunkedArray, name: str, file: str | None) -> pa.ChunkedArray:
    _refuse_nested(column.type, name, file)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        raise _cell_fault(column, name, file, "has no id")
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        raise KedgeError(
            f"column {name!r} holds decimal numbers, in which ids such as 2^53 + 1 are already lost",
            file=file,
            remedy="read it as text or as whole numbers",
        )
    kind = pa.large_string() if pa.types.is_large_string(column.type) else pa.string()
    if pa.types.is_string_view(column.type):
        kind = pa.large_string()
    try:
        text = column.cast(kind)
        text.validate(full=True)  # a column of text may hold bytes that are none
    except pa.ArrowException:
        raise KedgeError(f"column {name!r} cannot be read as ids", file=file, remedy="make it UTF-8 text") from None
    return text


def read_frame(source: Any, config: ReadConfig, weights_wanted: bool = True) -> Columns:
    """The id columns of a frame, by their names, else the first two."""
    table = as_table(source)
    places = _choose(table.column_names, config, weights_wanted, None)
    return _from_rows(Rows(table.select(places.all)), None, not places.known and table.num_columns > 2, config)


def as_table(source: Any) -> pa.Table:
    """A frame as an Arrow table; a column of objects of several types is text, as ids are."""
    if isinstance(source, pa.Table):
        return source
    try:
        return pa.table(source)
    except (pa.ArrowException, TypeError) as error:
        if not hasattr(source, "columns") or not hasattr(source, "dtypes"):
            raise KedgeError(
                f"a frame that cannot be read ({_first_line(error)})", remedy="make its ids text"
            ) from None
    mixed = [name for name, kind in zip(source.columns, source.dtypes, strict=True) if str(kind) == "object"]
    try:
        return pa.table(source.assign(**{name: source[name].map(_cell_text) for name in mixed}))
    except (pa.ArrowException, TypeError) as error:
        raise KedgeError(f"a frame that cannot be read ({_first_line(error)})", remedy="make its ids text") from None


def _cell_text(cell: Any) -> str | None:
    """A cell as text; None where pandas has no value."""
    if cell is None or cell != cell:  # NaN differs from itself
        return None
    return _text(cell)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["unreadable"])[0]


def read_pair_rows(rows: Iterable[Any]) -> Columns:
    """Rows of two ids."""
    items = list(rows)
    bad = next((i for i, row in enumerate(items) if isinstance(row, str) or len(row) != 2), None)
    if bad is not None:
        raise KedgeError(f"row {bad} is not a pair of ids: {items[bad]!r}", remedy="give (id, id) pairs")
    first, second = ([_text(row[side]) for row in items] for side in (0, 1))
    return Columns(pa.chunked_array([pa.array(first, pa.string())]), pa.chunked_array([pa.array(second, pa.string())]))


def read_mapping(partners: Mapping[Any, Any]) -> Columns:
    """Each key with its value."""
    return read_pair_rows(partners.items())


def _text(name: Any) -> str:
    if isinstance(name, float | np.floating):
        raise KedgeError(f"id {name!r} is a decimal number", remedy="give ids as text or whole numbers")
    return str(name)


def _from_indices(rows: Any, columns: Any, names: list[str], weight: Any = None) -> Columns:
    ids = pa.array(names, pa.string())
    if len(pc.unique(ids)) != len(ids):
        twice = next(name for name in names if names.count(name) > 1)
        raise KedgeError(f"two accounts are called {twice!r} once written as text", remedy="give distinct names")
    ends = [pa.chunked_array([ids.take(pa.array(np.asarray(side, np.int64)))]) for side in (rows, columns)]
    return Columns(
        ends[0],
        ends[1],
        None if weight is None else pa.chunked_array([pa.array(np.asarray(weight, np.float64))]),
        isolated=ids,
    )


def read_networkx(graph: Any) -> Columns:
    """The edges of a NetworkX graph, with all its nodes."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data=True))
    weight = [data.get("weight", 1) for *_, data in edges] if any("weight" in data for *_, data in edges) else None
    columns = _from_indices(
        [place[edge[0]] for edge in edges], [place[edge[1]] for edge in edges], [_text(v) for v in place], weight
    )
    return replace(columns, directed=graph.is_directed())


def read_igraph(graph: Any) -> Columns:
    """The edges of an igraph graph, with all its vertices."""
    names = [str(name) for name in graph.vs["name"]] if "name" in graph.vs.attributes() else range(graph.vcount())
    edges = np.asarray(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weight = graph.es["weight"] if "weight" in graph.es.attributes() else None
    columns = _from_indices(edges[:, 0], edges[:, 1], [str(name) for name in names], weight)
    return replace(columns, directed=graph.is_directed())


def read_sparse(matrix: Any) -> Columns:
    """The entries of an adjacency matrix [n, n]."""
    if matrix.shape[0] != matrix.shape[1]:
        raise KedgeError(f"an adjacency matrix of shape {matrix.shape} is not square", remedy="give n x n")
    coo = matrix.tocoo()
    return _from_indices(coo.row, coo.col, [str(i) for i in range(matrix.shape[0])], coo.data)


def read_edge_index(source: Any) -> Columns:
    """The edges of an array of accounts [2, m] or of an object that has one."""
    held = source.edge_index if hasattr(source, "edge_index") else source
    index = np.asarray(held)
    if index.ndim != 2 or (2 not in index.shape):
        raise KedgeError(f"an edge_index of shape {list(index.shape)}", remedy="give [2, m]")
    # A NumPy array may have one pair per row; a tensor is PyG's [2, m].
    if isinstance(held, np.ndarray) and index.shape[1] == 2:
        index = index.T
    if index.size and (index.min() < 0 or not np.issubdtype(index.dtype, np.integer)):
        raise KedgeError("an edge_index with negative or decimal entries", remedy="number accounts from 0")
    stated = getattr(source, "num_nodes", None)
    n = max(int(stated or 0), int(index.max()) + 1 if index.size else 0)
    return _from_indices(index[0], index[1], [str(i) for i in range(n)])
