"""Rows of the log of decisions: read, and checked against the rows before them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

from kedge.answers import PURGE, UNDO, VERDICTS, Entry, State
from kedge.errors import KedgeError
from kedge.store.decision_head import RESTORE, hash_at

COLUMNS: Final = tuple(field.name for field in fields(Entry))
_NUMBERS: Final = ("seq", "undoes")


def read_new_rows(db: sqlite3.Connection, state: State, path: Path) -> None:
    """Add the rows that the state does not have yet; raises with the first that does not fit."""
    forgotten: set[int] = set()  # rows without words that no purge has named yet
    for entry in _rows(db, len(state.entries), path):
        if not _fits(entry, state):
            raise broken(len(state.entries) + 1, path)
        if entry.forgotten:
            forgotten.add(entry.seq)
        forgotten -= entry.forgets
        state.add(entry)
    if forgotten:
        raise broken(min(forgotten), path)


def broken(row: int, path: Path) -> KedgeError:
    """What to raise for a row that does not fit."""
    return KedgeError(
        f"decision {row} was changed, or one before it was removed: its hash does not fit", file=path, remedy=RESTORE
    )


def _rows(db: sqlite3.Connection, after: int, path: Path) -> Iterator[Entry]:
    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    try:
        for row in db.execute(f"SELECT {columns} FROM decisions WHERE seq > ? ORDER BY seq", (after,)):
            entry = Entry(*row)
            # SQLite stores a number or a blob in a column of text without complaint.
            for name, value in zip(COLUMNS, row, strict=True):
                if type(value) is not (int if name in _NUMBERS else str) and not (name == "undoes" and value is None):
                    raise broken(after + 1, path)
            yield entry
            after += 1
    except (sqlite3.Error, UnicodeError) as error:
        raise KedgeError(f"the decisions cannot be read ({error})", file=path, remedy=RESTORE) from None


def _fits(entry: Entry, state: State) -> bool:
    """Whether a row is sound by itself, follows the last one, and is what kedge could have written there."""
    count = len(state.entries)
    if not entry.is_sound(count + 1, hash_at(state.entries, count)) or entry.key in state.by_key:
        return False
    if entry.action == PURGE:
        try:
            # What a purge forgets stands before it.
            return not entry.forgotten and all(0 < row <= count for row in entry.forgets)
        except (ValueError, TypeError, RecursionError):
            return False
    if entry.action == UNDO:
        if entry.undoes is None or not 0 < entry.undoes <= count or entry.undoes in state.undone:
            return False
        target = state.entries[entry.undoes - 1]
        same = entry.forgotten == target.forgotten and entry.pair == target.pair and entry.is_audit == target.is_audit
        return target.action in VERDICTS and target.reviewer == entry.reviewer and same
    return entry.action in VERDICTS and entry.undoes is None
