"""Tables and views of DuckDB databases, opened for reading alone and without access to any other file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from kedge.context import need_extra
from kedge.errors import KedgeError
from kedge.ingest.sources import UserFile, head_of, refuse_bomb
from kedge.ingest.sqlite import choose_table, quoted
from kedge.ingest.tables import Rows, TableReader

_MAGIC: Final = b"DUCK"
_PLACE: Final = 8  # of the mark: a checksum comes first
_QUERY: Final = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY table_type, table_name"
)
_BATCH_ROWS: Final = 1 << 17


def _recognises(file: UserFile) -> bool:
    return head_of(file)[_PLACE : _PLACE + len(_MAGIC)] == _MAGIC


def _names(file: UserFile) -> list[str]:
    with _opened(file) as database:
        return list(map(str, _select(database, file, "*").columns))


def _read(file: UserFile, names: Sequence[str], skip: bool) -> Rows:  # noqa: ARG001 (cells without a value are seen later)
    with _opened(file) as database:
        found = _select(database, file, ", ".join(map(quoted, names)))
        batches, taken = [], 0
        read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # its name before duckdb 2
        reader = read(_BATCH_ROWS)
        for batch in reader:
            taken += batch.nbytes
            refuse_bomb(file, taken)
            batches.append(batch)
        return Rows(pa.Table.from_batches(batches, reader.schema))


def _select(database: Any, file: UserFile, columns: str) -> Any:
    table = choose_table(file, [str(name) for (name,) in database.execute(_QUERY).fetchall()])
    return database.sql(f"SELECT {columns} FROM {quoted(table)}")


@contextlib.contextmanager
def _opened(file: UserFile) -> Iterator[Any]:
    need_extra("duckdb", "a DuckDB database")
    import duckdb

    if file.content is not None:
        raise KedgeError("is a DuckDB database in a pipe", file=file.path, remedy="give the file itself")
    try:
        settings = {"enable_external_access": "false", "autoload_known_extensions": "false"}
        with contextlib.closing(duckdb.connect(str(file.path), read_only=True, config=settings)) as database:
            yield database
    except (duckdb.Error, pa.ArrowException, RuntimeError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise KedgeError(
            f"cannot be read as a DuckDB database ({reason})",
            file=file.path,
            remedy="close the program that writes it, or write it again",
        ) from None


DUCKDB: Final = TableReader(_recognises, _names, _read)
