"""The table of decisions: its columns, the triggers that keep it append-only, and the one way around them.

Anything else in the file is refused: another trigger or a view could change what is read or written.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.store.decision_head import RESTORE

VERSION: Final = 3  # 1 had the words themselves in the chain, 2 had no record of the head
WITHOUT_HEAD: Final = 2
_NO_UPDATE: Final = """
CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
"""
_SCHEMA: Final = f"""
CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('yes', 'no', 'unsure', 'undo', 'purge')),
    "left" TEXT NOT NULL,
    "right" TEXT NOT NULL,
    note TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES decisions (seq),
    run TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    salt TEXT NOT NULL,
    seal TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    CHECK ((action = 'undo') = (undoes IS NOT NULL))
);
{_NO_UPDATE}
CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_no_gap BEFORE INSERT ON decisions
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM decisions)
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
PRAGMA user_version = {VERSION};
"""


def create_table(db: sqlite3.Connection) -> None:
    """Make the table in an empty file; another process may be first."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if version_of(db) == 0 and not _objects(db):
            for statement in _statements(_SCHEMA):
                db.execute(statement)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def check_table(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a log of another version, one with foreign objects, and one that SQLite finds damaged."""
    try:
        _check_table(db, path)
    except (sqlite3.Error, UnicodeError) as error:  # the latter: names and messages that are no UTF-8
        raise KedgeError(f"the decisions are damaged ({error})", file=path, remedy=RESTORE) from None


def _check_table(db: sqlite3.Connection, path: Path) -> None:
    if version_of(db) not in (VERSION, WITHOUT_HEAD):
        raise KedgeError(
            "the decisions were written by another version of kedge",
            file=path,
            remedy="export them with that version, or move the file away to start without decisions",
        )
    different = sorted({found[1] for found in _objects(db) ^ _expected()})
    if different:
        raise KedgeError(
            f"the log of decisions was changed: {', '.join(different)} is not as kedge made it",
            file=path,
            remedy=RESTORE,
        )
    # The rows have hashes; the indices that keep keys and hashes unique have none.
    found = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise KedgeError(f"the decisions are damaged ({found})", file=path, remedy=RESTORE)


def mark_current(db: sqlite3.Connection) -> None:
    """A log of an earlier version counts as one of today's, once its head is recorded."""
    db.execute(f"PRAGMA user_version = {VERSION}")


def erase_words(db: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Empty the words and the salt of some rows; within the caller's transaction, so that all of it holds or none."""
    db.execute("DROP TRIGGER decisions_no_update")
    db.executemany(
        """UPDATE decisions SET "left" = '', "right" = '', note = '', salt = '' WHERE seq = ?""",
        [(row,) for row in rows],
    )
    db.execute(_NO_UPDATE)


def version_of(db: sqlite3.Connection) -> int:
    """The version of a log; 0 in an empty file."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _objects(db: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Every object of a database, by kind, name, table and the statement that made it."""
    found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    return frozenset((*map(str, row[:3]), " ".join(str(row[3] or "").split())) for row in found)


@cache
def _expected() -> frozenset[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        create_table(db)
        return _objects(db)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit our transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
