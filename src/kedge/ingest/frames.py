"""Columns from Parquet files, Arrow-capable frames, graph objects, sparse matrices and plain pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.errors import KedgeError
from kedge.ingest.columns import Columns
from kedge.ingest.dialect import name_columns

__all__ = ["columns_of", "is_parquet", "read_parquet"]


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does, whatever it is called."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def read_parquet(path: Path) -> Columns:
    """The id columns of a Parquet file."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        first, second, weight = name_columns(file.schema_arrow.names)
        chosen = [file.schema_arrow.names[i] for i in (first, second, weight) if i is not None]
        rows = file.metadata.num_rows
        # A few bytes can claim any number of rows: a true edge takes at least some bits.
        if rows > max(1 << 20, path.stat().st_size * 64):
            raise KedgeError(f"claims {rows} rows in {path.stat().st_size} bytes", file=path, remedy="check the file")
        table = file.read(columns=chosen)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise KedgeError(f"cannot be read as Parquet ({reason})", file=path, remedy="write it again") from None
    return _from_table(table, chosen, weight is not None, str(path))


def columns_of(source: Any) -> Columns:
    """The id columns of an object in memory."""
    for recognises, convert in _CONVERTERS:
        if recognises(source):
            return convert(source)
    raise KedgeError(
        f"cannot read a network or pairs from {type(source).__module__}.{type(source).__name__}",
        remedy="give a path, a data frame, a graph (NetworkX, igraph, PyG), a sparse matrix or pairs of ids",
    )


def _from_table(table: pa.Table, names: list[str], weighted: bool, file: str | None) -> Columns:
    ends = [_as_text(table.column(name), name, file) for name in names[:2]]
    weight = None
    if weighted:
        column = table.column(names[2])
        if column.null_count:
            raise _cell_fault(column, names[2], file, "has no weight")
        try:
            weight = column.cast(pa.float64())
        except pa.ArrowException:
            raise KedgeError(
                f"column {names[2]!r} holds weights that are not numbers", file=file, remedy="make them numbers"
            ) from None
    return Columns(ends[0], ends[1], weight, file, line_of=lambda row: row + 1)


def _cell_fault(column: pa.ChunkedArray, name: str, file: str | None, problem: str) -> KedgeError:
    row = pc.index(pc.is_null(column), True).as_py()
    return KedgeError(f"row {row} of column {name!r} {problem}", file=file, remedy="fill or remove it")


def _as_text(column: pa.ChunkedArray, name: str, file: str | None) -> pa.ChunkedArray:
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
        return column.cast(kind)
    except pa.ArrowException:
        raise KedgeError(f"column {name!r} cannot be read as ids", file=file, remedy="make it text") from None


def _frame(source: Any) -> Columns:
    table = source if isinstance(source, pa.Table) else pa.table(source)
    if table.num_columns < 2:
        raise KedgeError("a frame with fewer than two columns", remedy="give two columns of ids")
    first, second, weight = name_columns(table.column_names)
    names = [table.column_names[i] for i in (first, second, weight) if i is not None]
    return _from_table(table, names, weight is not None, None)


def _pairs(rows: Iterable[Any]) -> Columns:
    items = list(rows)
    bad = next((i for i, row in enumerate(items) if isinstance(row, str) or len(row) != 2), None)
    if bad is not None:
        raise KedgeError(f"row {bad} is not a pair of ids: {items[bad]!r}", remedy="give (id, id) pairs")
    first, second = ([_text(row[side]) for row in items] for side in (0, 1))
    return Columns(pa.chunked_array([pa.array(first, pa.string())]), pa.chunked_array([pa.array(second, pa.string())]))


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


def _networkx(graph: Any) -> Columns:
    place = {node: i for i, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data=True))
    weight = [data.get("weight", 1) for *_, data in edges] if any("weight" in data for *_, data in edges) else None
    return _from_indices(
        [place[edge[0]] for edge in edges], [place[edge[1]] for edge in edges], [_text(v) for v in place], weight
    )


def _igraph(graph: Any) -> Columns:
    names = [str(name) for name in graph.vs["name"]] if "name" in graph.vs.attributes() else range(graph.vcount())
    edges = np.asarray(graph.get_edgelist(), np.int64).reshape(-1, 2)
    weight = graph.es["weight"] if "weight" in graph.es.attributes() else None
    return _from_indices(edges[:, 0], edges[:, 1], [str(name) for name in names], weight)


def _sparse(matrix: Any) -> Columns:
    if matrix.shape[0] != matrix.shape[1]:
        raise KedgeError(f"an adjacency matrix of shape {matrix.shape} is not square", remedy="give n x n")
    coo = matrix.tocoo()
    return _from_indices(coo.row, coo.col, [str(i) for i in range(matrix.shape[0])], coo.data)


def _edge_index(source: Any) -> Columns:
    held = source.edge_index if hasattr(source, "edge_index") else source
    index = np.asarray(held)
    if index.ndim != 2 or (2 not in index.shape):
        raise KedgeError(f"an edge_index of shape {list(index.shape)}", remedy="give [2, m]")
    # A numpy array may hold a pair a row; a tensor is PyG's [2, m].
    if isinstance(held, np.ndarray) and index.shape[1] == 2:
        index = index.T
    if index.size and (index.min() < 0 or not np.issubdtype(index.dtype, np.integer)):
        raise KedgeError("an edge_index with negative or decimal entries", remedy="number accounts from 0")
    stated = getattr(source, "num_nodes", None)
    n = max(int(stated or 0), int(index.max()) + 1 if index.size else 0)
    return _from_indices(index[0], index[1], [str(i) for i in range(n)])


def _module(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


_CONVERTERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Columns]], ...] = (
    (lambda source: isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"), _frame),
    (lambda source: _module(source) == "networkx", _networkx),
    (lambda source: _module(source) == "igraph", _igraph),
    (lambda source: hasattr(source, "tocoo"), _sparse),
    (lambda source: isinstance(source, np.ndarray) and source.dtype.kind in "OU", _pairs),
    (
        lambda source: isinstance(source, np.ndarray) or hasattr(source, "edge_index") or _module(source) == "torch",
        _edge_index,
    ),
    (lambda source: isinstance(source, Mapping), lambda source: _pairs(source.items())),
    (lambda source: isinstance(source, list | tuple | set | zip), _pairs),
)
