"""The log of decisions on the disk: SQLite in WAL mode, append-only, each row chained to the one before by its hash.

A row counts only once `append` has returned: the transaction is then on the disk (synchronous=FULL), and no kill
can lose it. Triggers refuse changes to rows; who goes around them breaks the chain, and `verify` names the row.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Final

from kedge.decisions import UNDO, VERDICTS, Entry, State, replay
from kedge.errors import KedgeError

__all__ = ["DECISIONS_FILE", "Conflict", "DecisionLog", "read_decisions"]

DECISIONS_FILE: Final = "decisions.sqlite"
_START: Final = "0" * 64
_BUSY_SECONDS: Final = 10.0
_COLUMNS: Final = tuple(field.name for field in fields(Entry))
_SCHEMA: Final = """
CREATE TABLE decisions (
    seq INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('yes', 'no', 'unsure', 'undo')),
    "left" TEXT NOT NULL,
    "right" TEXT NOT NULL,
    note TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES decisions (seq),
    run TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    previous TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    CHECK ((action = 'undo') = (undoes IS NOT NULL))
);
CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_no_gap BEFORE INSERT ON decisions
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM decisions)
BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
PRAGMA user_version = 1;
"""


class Conflict(Exception):  # noqa: N818 (not a fault: another tab was first)
    """The pair has a newer decision than the writer had seen, or what is to be undone is undone already."""


class DecisionLog:
    """An open log whose chain was whole when it was opened.

    `state` is the replay of all rows seen so far; `refresh` takes in what other processes wrote.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if not path.exists():
                # Mode 0600 from the first moment; SQLite gives its -wal and -shm files the same.
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            # Requests may be served by another thread than the one that opened the log, but never by two at once.
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._create()
        except (sqlite3.Error, OSError) as error:
            raise KedgeError(f"the decisions cannot be opened ({error})", file=path, remedy=_REMEDY) from None
        self.state = State()
        self.verify()
        self.state = replay(self._rows(0))

    def _create(self) -> None:
        if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                # Another process may have been first while we waited for the lock.
                if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                    for statement in _statements(_SCHEMA):
                        self._db.execute(statement)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def _rows(self, after: int) -> Iterator[Entry]:
        columns = ", ".join(f'"{name}"' for name in _COLUMNS)
        try:
            for row in self._db.execute(f"SELECT {columns} FROM decisions WHERE seq > ? ORDER BY seq", (after,)):
                yield Entry(*row)
        except sqlite3.Error as error:
            raise KedgeError(f"the decisions cannot be read ({error})", file=self.path, remedy=_REMEDY) from None

    def refresh(self) -> State:
        """The state with the rows that other processes have added meanwhile."""
        for entry in self._rows(len(self.state.entries)):
            self.state.add(entry)
        return self.state

    def append(
        self,
        reviewer: str,
        action: str,
        left: str,
        right: str,
        *,
        note: str = "",
        run: str = "",
        key: str = "",
        seen: int | None = None,
    ) -> Entry:
        """Record a verdict and return once it is on the disk.

        key: names this very request; sent again, it gives the first entry and writes nothing. seen: the number of
        the reviewer's standing decision that the writer knew of (0: none); a newer one is a `Conflict`.
        """
        if action not in VERDICTS or key.startswith("#"):
            raise ValueError(f"no verdict {action!r} under the key {key!r}")

        def draft() -> Entry:
            standing = self.state.current(reviewer, (left, right))
            if seen is not None and (standing.seq if standing else 0) != seen:
                raise Conflict("the pair was decided elsewhere meanwhile")
            return Entry(0, "", reviewer, action, left, right, note, None, run, key, "", "")

        entry = self._write(key, draft)
        assert entry is not None
        return entry

    def undo(self, reviewer: str, seq: int | None = None, *, run: str = "", key: str = "") -> Entry | None:
        """Take back the reviewer's entry `seq`, or the newest that stands; None where nothing is left."""

        def draft() -> Entry | None:
            target = self.state.last(reviewer)
            if seq is not None:
                inside = 1 <= seq <= len(self.state.entries)
                target = self.state.entries[seq - 1] if inside else None
                if target is None or target.reviewer != reviewer or target.action == UNDO:
                    raise Conflict(f"{reviewer} has no decision {seq}")
                if seq in self.state.undone:
                    raise Conflict(f"decision {seq} is undone already")
            if target is None:
                return None
            return Entry(0, "", reviewer, UNDO, target.left, target.right, "", target.seq, run, key, "", "")

        return self._write(key, draft)

    def _write(self, key: str, make: Callable[[], Entry | None]) -> Entry | None:
        """Append what `make` says within one transaction, so that nobody else writes between its look and ours."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self.refresh()
            if key and (repeated := self.state.by_key.get(key)) is not None:
                self._db.execute("ROLLBACK")
                return repeated
            draft = make()
            if draft is None:
                self._db.execute("ROLLBACK")
                return None
            seq = len(self.state.entries) + 1
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            draft = replace(draft, seq=seq, time=stamp, key=key or f"#{seq}", previous=self.head)
            entry = replace(draft, hash=draft.expected_hash())
            places = ", ".join("?" * len(_COLUMNS))
            self._db.execute(f"INSERT INTO decisions VALUES ({places})", astuple(entry))
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self.state.add(entry)
        return entry

    def verify(self) -> int:
        """Check every row against its hash and the one before; the number of rows, or which row is wrong."""
        previous, count = _START, 0
        undone: set[int] = set()
        for entry in self._rows(0):
            count += 1
            sound = entry.seq == count and entry.previous == previous and entry.hash == entry.expected_hash()
            if sound and entry.undoes is not None:
                sound = entry.undoes < entry.seq and entry.undoes not in undone
                undone.add(entry.undoes)
            if not sound:
                raise KedgeError(
                    f"decision {count} was changed, or one before it was removed: its hash does not fit",
                    file=self.path,
                    remedy="restore the file from a copy",
                )
            previous = entry.hash
        return count

    @property
    def head(self) -> str:
        """The last row's hash: who writes it down elsewhere can later tell whether rows were cut off the end."""
        return self.state.entries[-1].hash if self.state.entries else _START

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


_REMEDY: Final = "restore the file from a copy, or move it away to start without decisions"


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit our transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def read_decisions(directory: Path) -> State | None:
    """The replayed decisions of a run directory after a check of the chain; None where nobody decided anything."""
    path = directory / DECISIONS_FILE
    if not path.exists():
        return None
    log = DecisionLog(path)
    log.close()
    return log.state
