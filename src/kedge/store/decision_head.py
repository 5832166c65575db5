"""How far a log of decisions had come: its number of rows and its newest hash, recorded outside of it.

The chain of hashes shows rows that were changed, but a log whose last rows were cut off, or that was made anew, has a
whole chain too. Hence two records. `decisions.sqlite-head` follows every row; the manifest follows every match and
every review. The log may have grown since, for a kill may come between a row and its record, but the row with the
recorded number must have the recorded hash. Who rewrites the log and both records is noticed only by a head that was
saved elsewhere: `kedge decisions RUN verify --head`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kedge.answers import Entry, State
from kedge.errors import KedgeError
from kedge.store.atomic import translate_disk_errors, write_atomically
from kedge.store.layout import DECISIONS_FILE, MANIFEST
from kedge.store.locking import lock_run
from kedge.store.manifest import read_manifest, write_manifest

if TYPE_CHECKING:
    from kedge.store.decisions import DecisionLog

START: Final = "0" * 64  # the head of a log without rows
_LENGTH: Final = 160
_ATTEMPTS: Final = 5
RESTORE: Final = "restore decisions.sqlite and decisions.sqlite-head from one copy"


@dataclass(frozen=True)
class Head:
    """The number of rows and the hash of the last one."""

    count: int = 0
    hash: str = START

    def is_in(self, entries: Sequence[Entry]) -> bool:
        """Whether the log has this head, or had it before its newest rows."""
        return self.count <= len(entries) and self.hash == hash_at(entries, self.count)


def hash_at(entries: Sequence[Entry], count: int) -> str:
    """The head of the first `count` rows."""
    return entries[count - 1].hash if count else START


def head_file(log: Path) -> Path:
    """Where the head of a log is recorded."""
    return log.with_name(log.name + "-head")


def read_head(log: Path) -> Head | None:
    """The recorded head of a log; None where there is no record."""
    path = head_file(log)
    for attempt in range(_ATTEMPTS):
        try:
            record = json.loads(path.read_bytes())
            head = parse_head(record)
            if record["check"] == _check(head):
                return head
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass
        if attempt + 1 < _ATTEMPTS:
            time.sleep(0.01)  # another process may be writing it this moment
    raise KedgeError("the record of the decisions' head is damaged", file=path, remedy=RESTORE)


def parse_head(record: Any) -> Head:
    """A record as it was written; raises ValueError, TypeError or KeyError for anything else."""
    head = Head(record["count"], record["head"])
    if type(head.count) is not int or head.count < 0 or not re.fullmatch("[0-9a-f]{64}", head.hash):
        raise ValueError("not a head")
    return head


def as_record(head: Head) -> dict[str, Any]:
    """The form in which a head is recorded."""
    return {"count": head.count, "head": head.hash}


def write_head(log: Path, head: Head) -> None:
    """Record the head of a log.

    In place, in one write of a fixed length within one sector, and without waiting for the disk: after a power cut the
    record is the old or the new one, and an old one is still true. A new file and its rename would take longer
    than the decision itself.
    """
    path = head_file(log)
    content = json.dumps({**as_record(head), "check": _check(head)}).ljust(_LENGTH - 1).encode() + b"\n"
    with translate_disk_errors(path):
        if not path.exists() or path.stat().st_size != _LENGTH:
            write_atomically(path, lambda file: file.write(content))
            return
        handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            os.write(handle, content)
        finally:
            os.close(handle)


def _check(head: Head) -> str:
    """Shows a record that is half old and half new."""
    return hashlib.sha256(f"{head.count}:{head.hash}".encode()).hexdigest()[:16]


def lost(recorded: Head, rows: int, log: Path) -> KedgeError:
    """What to raise for a log that does not have a recorded head."""
    problem = f"the log has only {rows:,} entries" if rows < recorded.count else "the log was rewritten"
    return KedgeError(
        f"{problem}: {recorded.count:,} were recorded, with the head {recorded.hash}",
        file=log,
        remedy=f"{RESTORE}; to start without decisions, move both away and run `kedge match --force`",
    )


def open_decisions(directory: Path, outside: str | None = None, *, audit: bool = False) -> DecisionLog:
    """The log of a run, made if there is none; refused if it lost what the manifest records."""
    from kedge.store.decisions import DecisionLog  # a first match has no log

    path, recorded = directory / DECISIONS_FILE, _recorded(directory)
    _refuse_removed(path, recorded)
    log = DecisionLog(path, outside, audit=audit)
    for head in recorded:
        if not head.is_in(log.state.entries):
            log.close()
            raise lost(head, len(log.state.entries), path)
    return log


def read_decisions(directory: Path, *, force: bool = False) -> State | None:
    """The replayed decisions of a run directory after all checks; None where there are none.

    force: the manifest is about to be replaced, so what it records does not count.
    """
    path = directory / DECISIONS_FILE
    if not path.exists():
        on_disk = read_head(path)
        _refuse_removed(path, (*(() if force else _recorded(directory)), *(() if on_disk is None else (on_disk,))))
        return None
    from kedge.store.decisions import DecisionLog

    log = DecisionLog(path) if force else open_decisions(directory)
    log.close()
    return log.state


def record_decisions(directory: Path, head: Head) -> None:
    """Note in the manifest how far the log has come; a match at work in the directory notes it itself."""
    with contextlib.suppress(KedgeError), lock_run(directory):
        manifest = read_manifest(directory)
        if head.count and manifest.get("decisions") != as_record(head):
            write_manifest(directory, {**manifest, "decisions": as_record(head)})


def _recorded(directory: Path) -> tuple[Head, ...]:
    """What the manifest records: at the end of a review, and of the decisions that a match learnt from."""
    if not (directory / MANIFEST).exists():
        return ()
    manifest = read_manifest(directory)
    learnt = manifest["inputs"].get("decisions", {})
    records = [record for record in (manifest.get("decisions"), learnt if "head" in learnt else None) if record]
    try:
        return tuple(parse_head(record) for record in records)
    except (ValueError, TypeError, KeyError):
        problem = "the manifest's record of the decisions is damaged"
        raise KedgeError(problem, file=directory / MANIFEST, remedy="run `kedge match --force`") from None


def _refuse_removed(path: Path, recorded: tuple[Head, ...]) -> None:
    if not path.exists() and any(head.count for head in recorded):
        raise lost(max(recorded, key=lambda head: head.count), 0, path)
