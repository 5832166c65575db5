"""Tables and views of SQLite databases, opened for reading alone: nothing is created, locked or changed.

A database is a program as much as a file: its views may run for ever, and its schema may call functions. So what one
may call is restricted, and how long it may run.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from kedge.errors import KedgeError, did_you_mean
from kedge.ingest.sources import UserFile, head_of
from kedge.ingest.tables import Growing, Rows, TableReader

_MAGIC: Final = b"SQLite format 3\0"
_STEPS: Final = 100_000  # instructions of SQLite's machine between two looks at how many there were
# A scan takes about ten for each cell, which has at least a byte; beyond these, a view computes something else.
_STEPS_PER_BYTE: Final = 1_000
_FEWEST_STEPS: Final = 100_000_000
_ROWS: Final = 1 << 14  # fetched at a time
_SHOWN: Final = 8  # tables in a message


def _recognises(file: UserFile) -> bool:
    return head_of(file).startswith(_MAGIC)


def _names(file: UserFile) -> list[str]:
    with _opened(file) as database:
        return _columns(database, choose_table(file, _tables(database)))


def _read(file: UserFile, names: Sequence[str], skip: bool) -> Rows:  # noqa: ARG001 (cells without a value are seen later)
    with _opened(file) as database:
        table = choose_table(file, _tables(database))
        chosen = ", ".join(quoted(name) for name in names)
        found = Growing(file, names)
        rows = database.execute(f"SELECT {chosen} FROM {quoted(table)}")
        while some := rows.fetchmany(_ROWS):
            for row in some:
                found.add(row)
        return Rows(found.table())


def choose_table(file: UserFile, tables: Sequence[str]) -> str:
    """The table that the user names, else the only one."""
    shown = ", ".join(tables[:_SHOWN]) + (", ..." if len(tables) > _SHOWN else "")
    if file.table:
        if file.table in tables:
            return file.table
        remedy = did_you_mean(file.table, tables, f"it has {shown or 'none'}")
        raise KedgeError(f"no table {file.table!r}", file=file.path, remedy=remedy)
    if not tables:
        raise KedgeError("is a database without a table", file=file.path, remedy="give another file")
    if len(tables) > 1:
        raise KedgeError(
            f"is a database with {len(tables)} tables ({shown})",
            file=file.path,
            remedy=f"name one: {file.path}::{tables[0]}",
        )
    return tables[0]


def quoted(name: str) -> str:
    """A name as SQL has it, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def _tables(database: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    return [str(name) for (name,) in database.execute(query + " ORDER BY type, rowid")]


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    cursor = database.execute(f"SELECT * FROM {quoted(table)} LIMIT 0")
    return [str(column[0]) for column in cursor.description or ()]


@contextlib.contextmanager
def _opened(file: UserFile) -> Iterator[sqlite3.Connection]:
    """The database; any fault of it is one line."""
    _refuse_log(file)
    budget = max(_FEWEST_STEPS, file.size * _STEPS_PER_BYTE) // _STEPS
    try:
        with contextlib.closing(_connect(file)) as database:
            # Functions with side effects, and what an extension adds, are not for a schema to call.
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            looks = iter(range(budget))
            database.set_progress_handler(lambda: next(looks, None) is None, _STEPS)
            yield database
    except (sqlite3.Error, UnicodeError, OverflowError, ValueError) as error:
        if "interrupted" in str(error):
            raise KedgeError(
                "reading this takes too long for its size", file=file.path, remedy="write the view into a table"
            ) from None
        raise KedgeError(
            f"cannot be read as a SQLite database ({' '.join(str(error).split())})",
            file=file.path,
            remedy="check it with: sqlite3 FILE 'PRAGMA integrity_check'",
        ) from None


def _connect(file: UserFile) -> sqlite3.Connection:
    if file.content is not None:
        database = sqlite3.connect(":memory:")
        database.deserialize(file.content)
        database.execute("PRAGMA query_only = ON")
        return database
    place = quote(str(file.path.absolute()))
    return sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True)


def _refuse_log(file: UserFile) -> None:
    """Refuse a database with changes in its log: a reader that changes nothing cannot see them."""
    log = Path(f"{file.path}-wal")
    with contextlib.suppress(OSError):
        if file.content is None and log.stat().st_size:
            raise KedgeError(
                f"has changes in {log.name} that are not in the file yet",
                file=file.path,
                remedy="close the program that writes it, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'",
            )


SQLITE: Final = TableReader(_recognises, _names, _read)
