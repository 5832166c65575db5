"""The table of decisions: its columns, the triggers that keep it append-only, and the one way around them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError

_VERSION: Final = 2  # 1 had the words themselves in the chain
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
PRAGMA user_version = {_VERSION};
"""


def create_table(db: sqlite3.Connection, path: Path) -> None:
    """Make the table where there is none yet; a log of another version is refused."""
    if _version(db) == 0:
        db.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been first while we waited for the lock.
            if _version(db) == 0:
                for statement in _statements(_SCHEMA):
                    db.execute(statement)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
    if _version(db) != _VERSION:
        raise KedgeError(
            "the decisions were written by another version of kedge",
            file=path,
            remedy="export them with that version, or move the file away to start without decisions",
        )


def erase_words(db: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Empty the words and the salt of some rows; within the caller's transaction, so that all of it holds or none."""
    db.execute("DROP TRIGGER decisions_no_update")
    db.executemany(
        """UPDATE decisions SET "left" = '', "right" = '', note = '', salt = '' WHERE seq = ?""",
        [(row,) for row in rows],
    )
    db.execute(_NO_UPDATE)


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit our transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
