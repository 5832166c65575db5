"""The log of decisions on the disk: SQLite in WAL mode, append-only, each row chained to the one before by its hash.

A row counts only once `append` has returned: the transaction is then on the disk (synchronous=FULL), and no kill
can lose it. Triggers refuse changes to rows; who goes around them breaks the chain, and `verify` names the row. The one
exception is `forget`, which removes the words from rows and records that in a row of its own; the chain stays whole.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Final

from kedge.answers import AUDIT_PREFIX, PURGE, UNDO, VERDICTS, Entry, State
from kedge.errors import KedgeError
from kedge.store.atomic import NO_FOLLOW, refuse_special
from kedge.store.decision_head import RESTORE, START, Head, hash_at, head_file, lost, read_head, write_head
from kedge.store.decision_rows import COLUMNS, read_new_rows
from kedge.store.decision_table import VERSION, check_table, create_table, erase_words, mark_current, version_of

_BUSY_SECONDS: Final = 10.0


class Conflict(Exception):  # noqa: N818 (not a fault: another tab was first)
    """The pair has a newer decision than the writer had seen, or what is to be undone is undone already."""


class UnsavedError(KedgeError):
    """The log is as it was, but takes no more: a full disk, or another process that does not let go."""


class DecisionLog:
    """An open log whose chain was whole when it was opened, and that has the head that was recorded.

    `state` is the replay of all rows seen so far; `refresh` takes in what other processes wrote. `outside`: a head
    that the user saved elsewhere; it stands in for a record that is lost. `audit`: answers that are written, and those
    that count in `state`, are of the audit.
    """

    def __init__(self, path: Path, outside: str | None = None, *, audit: bool = False) -> None:
        self.path = path
        self.state = State(audit)
        self._schema: tuple[int, ...] | None = None  # which table was checked last
        _refuse_irregular(path)
        try:
            recorded = read_head(path)
        except KedgeError:
            if outside is None:
                raise
            recorded = None
        try:
            if not path.exists():
                if recorded is not None and recorded.count:
                    raise lost(recorded, 0, path)
                # Mode 0600 from the first moment; SQLite gives its -wal and -shm files the same.
                os.close(os.open(path, os.O_CREAT | os.O_RDWR | NO_FOLLOW, 0o600))
            # Requests may be served by another thread than the one that opened the log, but never by two at once.
            self._db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            raise KedgeError(f"the decisions cannot be opened ({error})", file=path, remedy=_REMEDY) from None
        try:
            self._open(recorded, outside)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            self._db.close()
            raise KedgeError(f"the decisions cannot be opened ({error})", file=path, remedy=_REMEDY) from None
        except BaseException:
            self._db.close()
            raise

    def _open(self, recorded: Head | None, outside: str | None) -> None:
        """Make the table or check it, read all rows, and compare them with the record."""
        self._file = _identity(self.path)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
            self._db.execute(f"PRAGMA {setting}")
        if version_of(self._db) == 0:
            if recorded is not None and recorded.count:
                raise lost(recorded, 0, self.path)
            # The record comes first: a log of this version without one has lost it.
            write_head(self.path, Head())
            create_table(self._db)
        self._check_changed_table()
        read_new_rows(self._db, self.state, self.path)
        hashes = {entry.hash for entry in self.state.entries} | {START}
        if outside is not None and outside not in hashes:
            raise KedgeError(
                f"no entry of the log has the head {outside}: rows were removed, or the log was rewritten",
                file=self.path,
                remedy=RESTORE,
            )
        current = version_of(self._db) == VERSION
        if recorded is None and current and outside is None:
            recorded = read_head(self.path)  # another process may have made the log just now
            if recorded is None:
                raise KedgeError("the record of the decisions' head is gone", file=head_file(self.path), remedy=_FOUND)
        if recorded is not None and not recorded.is_in(self.state.entries):
            raise lost(recorded, len(self.state.entries), self.path)
        if not current:
            self._record()
            mark_current(self._db)
        elif recorded != self.newest:
            self._try_to_record()

    def refresh(self) -> State:
        """The state with the rows that other processes have added meanwhile; refuses a log that lost rows since."""
        count, last = len(self.state.entries), None
        with contextlib.suppress(OSError, sqlite3.Error, UnicodeError):
            if _identity(self.path) == self._file:
                self._check_changed_table()
                last = self._db.execute("SELECT max(seq) FROM decisions").fetchone()
                if count:
                    last = self._db.execute("SELECT hash FROM decisions WHERE seq = ?", (count,)).fetchone()
        if last is None or (count and last != (self.head,)):
            raise KedgeError("the log of decisions was replaced or cut", file=self.path, remedy=_START_ANEW)
        read_new_rows(self._db, self.state, self.path)
        return self.state

    def _check_changed_table(self) -> None:
        schema = self._db.execute("PRAGMA schema_version").fetchone()
        if schema != self._schema:
            check_table(self._db, self.path)
            self._schema = schema

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
        check: Callable[[], None] = lambda: None,
    ) -> Entry:
        """Record a verdict and return once it is on the disk.

        key: names this very request; sent again, it gives the first entry and writes nothing; with other words it is
        a `Conflict`. seen: the number of the reviewer's standing decision that the writer knew of (0: none); a newer
        one is a `Conflict`. check: raises what is against it, knowing all that other processes wrote before.
        """
        if action not in VERDICTS or key.startswith("#"):
            raise ValueError(f"no verdict {action!r} under the key {key!r}")

        def draft() -> Entry:
            standing = self.state.current(reviewer, (left, right))
            if seen is not None and (standing.seq if standing else 0) != seen:
                raise Conflict("the pair was decided elsewhere meanwhile")
            check()
            return Entry(reviewer=reviewer, action=action, left=left, right=right, note=note, run=run)

        def repeats(entry: Entry) -> bool:
            same = (entry.reviewer, entry.action) == (reviewer, action)
            return same and (entry.forgotten or (entry.left, entry.right, entry.note) == (left, right, note))

        entry = self._write(key, draft, repeats)
        assert entry is not None
        return entry

    def undo(self, reviewer: str, seq: int | None = None, *, run: str = "", key: str = "") -> Entry | None:
        """Take back the reviewer's entry `seq`, or the newest that stands; None where nothing is left."""

        def draft() -> Entry | None:
            target = self.state.last(reviewer)
            if seq is not None:
                inside = 1 <= seq <= len(self.state.entries)
                target = self.state.entries[seq - 1] if inside else None
                if (
                    target is None
                    or target.reviewer != reviewer
                    or target.action == UNDO
                    or target.forgotten
                    or target.is_audit != self.state.audit
                ):
                    raise Conflict(f"{reviewer} has no decision {seq}")
                if seq in self.state.undone:
                    raise Conflict(f"decision {seq} is undone already")
            if target is None:
                return None
            return replace(
                Entry(reviewer=reviewer, action=UNDO, undoes=target.seq, run=run), left=target.left, right=target.right
            )

        def repeats(entry: Entry) -> bool:
            return (entry.reviewer, entry.action) == (reviewer, UNDO) and seq in (None, entry.undoes)

        return self._write(key, draft, repeats)

    def about(self, side: int, account: str) -> list[int]:
        """The numbers of the rows about an account whose words are still there; 0 is left."""
        rows = (e for e in self.state.entries if not e.forgotten and e.action != PURGE)
        return [e.seq for e in rows if e.pair[side] == account]

    def forget(self, side: int, account: str, *, by: str) -> list[int]:
        """Take the words out of every row about an account; the numbers of these rows."""
        rows = self.about(side, account)
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
            self.verify()  # the words leave the memory too
            # Else the words would still stand in the write-ahead log and in free pages. Also where no row was left to
            # erase: the call before may have been ended by a kill or by another reader.
            self._db.execute("VACUUM")
        except sqlite3.Error as error:
            raise KedgeError(f"the decisions cannot be changed ({error})", file=self.path, remedy=_REMEDY) from None
        self.refuse_readers()

    def refuse_readers(self) -> None:
        """Empty the write-ahead log into the file; one line if another program still reads pages of it."""
        try:
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error:
            busy = 1
        if busy:
            remedy = "close it, then run the same command again"
            raise KedgeError("another program is reading the decisions", file=self.path, remedy=remedy)

    def _write(
        self, key: str, make: Callable[[], Entry | None], repeats: Callable[[Entry], bool] = lambda _: True
    ) -> Entry | None:
        """Append what `make` returns within one transaction: no other process writes between its look and ours."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self.refresh()
            if key and (repeated := self.state.by_key.get(key)) is not None:
                if not repeats(repeated):
                    raise Conflict("this key was used for another request")
                self._db.execute("ROLLBACK")
                return repeated
            draft = make()
            if draft is None:
                self._db.execute("ROLLBACK")
                return None
            seq = len(self.state.entries) + 1
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            run = AUDIT_PREFIX + draft.run if self.state.audit and draft.action != PURGE else draft.run
            draft = replace(draft, seq=seq, time=stamp, run=run, key=key or f"#{seq}")
            entry = draft.sealed(secrets.token_hex(16), self.head)
            places = ", ".join("?" * len(COLUMNS))
            self._db.execute(f"INSERT INTO decisions VALUES ({places})", astuple(entry))
            self._db.execute("COMMIT")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error | UnicodeError):
                raise UnsavedError(f"the decision cannot be saved ({error})", file=self.path, remedy=_RETRY) from None
            raise
        self.state.add(entry)
        self._try_to_record()
        return entry

    def _try_to_record(self) -> None:
        """The rows are on the disk. A record that cannot be written stays behind; the next one covers these rows."""
        with contextlib.suppress(KedgeError, OSError, sqlite3.Error):
            self._record()

    def _record(self) -> None:
        """Record the head, holding the log: of two processes the later one must not write the earlier head."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self.refresh()
            write_head(self.path, self.newest)
        finally:
            self._db.execute("ROLLBACK")

    def verify(self) -> int:
        """Check every row against its seal, its hash and the one before; the number of rows, or which row is wrong."""
        recorded = read_head(self.path)
        check_table(self._db, self.path)
        state = State(self.state.audit)
        read_new_rows(self._db, state, self.path)
        if recorded is None or not recorded.is_in(state.entries):
            raise lost(recorded or self.newest, len(state.entries), self.path)
        self.state = state
        return len(state.entries)

    @property
    def head(self) -> str:
        """The last row's hash; a copy of it elsewhere shows later whether rows were cut off the end."""
        return hash_at(self.state.entries, len(self.state.entries))

    @property
    def newest(self) -> Head:
        """How far the log has come."""
        return Head(len(self.state.entries), self.head)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


_REMEDY: Final = "restore the file from a copy, or move it away to start without decisions"
_RETRY: Final = "free some space or end what holds the file, then try again"
_FOUND: Final = f"{RESTORE}, or give the head that you saved to `kedge decisions RUN verify --head`"
_START_ANEW: Final = "end this command and start it again"


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _refuse_irregular(path: Path) -> None:
    """A link or a pipe in place of the log: what is written there would go elsewhere. SQLite would follow links."""
    for suffix in ("", "-wal", "-shm", "-journal", "-head"):
        refuse_special(path.with_name(path.name + suffix))
