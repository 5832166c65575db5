"""The log of decisions on the disk: SQLite in WAL mode, append-only, each row chained to the one before by its hash.

A row counts only once `append` has returned: the transaction is then on the disk (synchronous=FULL), and no kill
can lose it. Triggers refuse changes to rows; who goes around them breaks the chain, and `verify` names the row. The one
exception is `forget`, which removes the words from rows and records that in a row of its own; the chain stays whole.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Final

from kedge.answers import PURGE, UNDO, VERDICTS, Entry, State, replay
from kedge.errors import KedgeError
from kedge.store.atomic import NO_FOLLOW, refuse_special
from kedge.store.decision_table import create_table, erase_words

DECISIONS_FILE: Final = "decisions.sqlite"
_START: Final = "0" * 64
_BUSY_SECONDS: Final = 10.0
_COLUMNS: Final = tuple(field.name for field in fields(Entry))


class Conflict(Exception):  # noqa: N818 (not a fault: another tab was first)
    """The pair has a newer decision than the writer had seen, or what is to be undone is undone already."""


class DecisionLog:
    """An open log whose chain was whole when it was opened.

    `state` is the replay of all rows seen so far; `refresh` takes in what other processes wrote.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            for part in ("", "-wal", "-shm", "-journal"):  # SQLite would follow links
                refuse_special(path.with_name(path.name + part))
            # Mode 0600 from the first moment; SQLite gives its -wal and -shm files the same.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | NO_FOLLOW, 0o600))
            # Requests may be served by another thread than the one that opened the log, but never by two at once.
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.execute("PRAGMA trusted_schema = OFF")
            create_table(self._db, path)
        except (sqlite3.Error, OSError) as error:
            raise KedgeError(f"the decisions cannot be opened ({error})", file=path, remedy=_REMEDY) from None
        self.state = State()
        self.verify()
        self.state = replay(self._rows(0))

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
            return Entry(reviewer=reviewer, action=action, left=left, right=right, note=note, run=run)

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
                if target is None or target.reviewer != reviewer or target.action == UNDO or target.forgotten:
                    raise Conflict(f"{reviewer} has no decision {seq}")
                if seq in self.state.undone:
                    raise Conflict(f"decision {seq} is undone already")
            if target is None:
                return None
            return replace(
                Entry(reviewer=reviewer, action=UNDO, undoes=target.seq, run=run), left=target.left, right=target.right
            )

        return self._write(key, draft)

    def about(self, side: int, account: str) -> list[int]:
        """The numbers of the rows about an account whose words are still there; 0 is left."""
        rows = (e for e in self.state.entries if not e.forgotten and e.action != PURGE)
        return [e.seq for e in rows if e.pair[side] == account]

    def forget(self, side: int, account: str, *, by: str) -> list[int]:
        """Take the words out of every row about an account; the numbers of these rows."""
        rows = self.about(side, account)
        if rows:
            self.erase(rows, by=by)
        return rows

    def erase(self, rows: Sequence[int], *, by: str) -> None:
        """Take the words out of these rows; those without words are passed over, but their space is overwritten too.

        What remains of a row is who decided what kind of thing when, and the seal.
        """

        def draft() -> Entry | None:
            left = [row for row in rows if not self.state.entries[row - 1].forgotten]
            if not left:
                return None
            erase_words(self._db, left)
            return Entry(reviewer=by, action=PURGE, note=json.dumps(left))

        try:
            self._db.execute("PRAGMA secure_delete = ON")
            self._write("", draft)
            # Else the words would still stand in the write-ahead log and in free pages.
            self._db.execute("VACUUM")
        except sqlite3.Error as error:
            raise KedgeError(f"the decisions cannot be changed ({error})", file=self.path, remedy=_REMEDY) from None
        self.refuse_readers()
        self.state = replay(self._rows(0))

    def refuse_readers(self) -> None:
        """Empty the write-ahead log into the file; one line if another program still reads pages of it."""
        try:
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error:
            busy = 1
        if busy:
            remedy = "close it, then run the same command again"
            raise KedgeError("another program is reading the decisions", file=self.path, remedy=remedy)

    def _write(self, key: str, make: Callable[[], Entry | None]) -> Entry | None:
        """Append what `make` returns within one transaction: no other process writes between its look and ours."""
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
            draft = replace(draft, seq=seq, time=stamp, key=key or f"#{seq}")
            entry = draft.sealed(secrets.token_hex(16), self.head)
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
        """Check every row against its seal, its hash and the one before; the number of rows, or which row is wrong."""
        previous, count = _START, 0
        undone: set[int] = set()
        missing: set[int] = set()
        for count, entry in enumerate(self._rows(0), 1):
            twice = entry.undoes is not None and (entry.undoes >= count or entry.undoes in undone)
            if twice or not entry.is_sound(count, previous):
                raise self._broken(count)
            if entry.undoes is not None:
                undone.add(entry.undoes)
            if entry.forgotten:
                missing.add(count)
            missing -= entry.forgets
            previous = entry.hash
        if missing:  # words were removed, but no purge records that
            raise self._broken(min(missing))
        return count

    def _broken(self, row: int) -> KedgeError:
        return KedgeError(
            f"decision {row} was changed, or one before it was removed: its hash does not fit",
            file=self.path,
            remedy="restore the file from a copy",
        )

    @property
    def head(self) -> str:
        """The last row's hash; a copy of it elsewhere shows later whether rows were cut off the end."""
        return self.state.entries[-1].hash if self.state.entries else _START

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


_REMEDY: Final = "restore the file from a copy, or move it away to start without decisions"


def read_decisions(directory: Path) -> State | None:
    """The replayed decisions of a run directory after a check of the chain; None where there are none."""
    path = directory / DECISIONS_FILE
    if not path.exists():
        return None
    log = DecisionLog(path)
    log.close()
    return log.state
