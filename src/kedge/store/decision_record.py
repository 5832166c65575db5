"""The log of decisions of a run directory, checked against what the run's manifest records of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.answers import State
from kedge.errors import KedgeError
from kedge.store.decision_head import Head, as_record, lost, parse_head, read_head
from kedge.store.layout import DECISIONS_FILE, MANIFEST
from kedge.store.locking import lock_run
from kedge.store.manifest import read_manifest
from kedge.store.run import Run

if TYPE_CHECKING:
    from kedge.store.decisions import DecisionLog


def open_decisions(directory: Path, outside: str | None = None) -> DecisionLog:
    """The log of a run, made if there is none; refused if it lost what the manifest records."""
    from kedge.store.decisions import DecisionLog  # a first match has no log

    path, recorded = directory / DECISIONS_FILE, _recorded(directory)
    _refuse_removed(path, recorded)
    log = DecisionLog(path, outside)
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
        run = Run(directory, read_manifest(directory))
        if head.count and run.manifest.get("decisions") != as_record(head):
            run.manifest["decisions"] = as_record(head)
            run.save_manifest()


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
