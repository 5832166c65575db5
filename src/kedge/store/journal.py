"""A purge of a run, or its new decisions, as one change: all of its files are changed, or none.

New files are prepared in a directory of their own. The renaming of that directory is the moment from which the change
counts: what a kill leaves undone after it, the next command completes. The journal of a purge does not name the
account.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from kedge.errors import KedgeError
from kedge.store.atomic import open_regular, sync_directory, translate_disk_errors, write_atomically
from kedge.store.formats import JSON, Format
from kedge.store.layout import DECISIONS_FILE, EMBEDDINGS, MANIFEST
from kedge.store.locking import lock_run, reviewing
from kedge.store.sealed import is_sealed, seal

T = TypeVar("T")
_DRAFT: Final = ".purge-draft"
_JOURNAL: Final = ".purge-journal"
JOURNALS: Final = (_DRAFT, _JOURNAL)
_CHANGES: Final = "changes.json"
_FILES: Final = "files"


class Draft:
    """Changes that are not made yet. The directory must be locked, for work and for reviews."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._folder = directory, directory / _DRAFT
        self._changes: dict[str, Any] = {"remove": [], "rows": [], "by": ""}
        with translate_disk_errors(self._folder):
            remove_draft(directory)
            (self._folder / _FILES).mkdir(mode=0o700, parents=True)

    def write(self, file: str, kind: Format[T], value: T) -> Path:
        """A file as it will be; where it lies until then."""
        path = self._folder / _FILES / file
        with translate_disk_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, lambda opened: kind.dump(value, opened))
        return path

    def remove(self, file: str) -> None:
        """A file that will be gone."""
        self._changes["remove"].append(file)

    def erase(self, rows: Sequence[int], by: str) -> None:
        """Entries of the decision log whose words will be gone."""
        self._changes |= {"rows": list(rows), "by": by}

    def commit(self) -> None:
        """Make all of the changes."""
        write_atomically(self._folder / _CHANGES, lambda file: JSON.dump(seal(self._changes), file))
        with translate_disk_errors(self._directory):
            self._folder.rename(self._directory / _JOURNAL)
            sync_directory(self._directory)
        complete_purge(self._directory)


def remove_draft(directory: Path) -> None:
    """Remove what a purge prepared and did not commit."""
    if os.path.lexists(directory / _DRAFT):
        shutil.rmtree(directory / _DRAFT)


def finish_purge(directory: Path) -> None:
    """Complete a purge that was interrupted, if there is one; waits for no other process."""
    if os.path.lexists(directory / _JOURNAL):
        with lock_run(directory):
            finish_locked(directory)


def finish_locked(directory: Path) -> None:
    """The same in a directory that is locked for work."""
    if os.path.lexists(directory / _JOURNAL):
        with reviewing(directory, shared=False):
            complete_purge(directory)


def complete_purge(directory: Path) -> None:
    """Do what the journal has, each step of which may have been done before; the manifest comes last."""
    journal = directory / _JOURNAL
    if not os.path.lexists(journal):
        return
    try:
        with open_regular(journal / _CHANGES) as file:
            changes = JSON.load(file)
        sound = is_sealed(changes)
    except (OSError, ValueError, AttributeError):
        sound = False
    if not sound:
        raise KedgeError(
            "the journal of an interrupted purge or decide is damaged",
            file=journal,
            remedy="remove it, run the `kedge match` command again, then purge or decide again",
        )
    with translate_disk_errors(directory):
        for name in changes["remove"]:
            remove_inside(directory, name)
        with contextlib.suppress(OSError):
            (directory / EMBEDDINGS).rmdir()
        if changes["rows"]:
            from kedge.store.decisions import DecisionLog

            log = DecisionLog(directory / DECISIONS_FILE)
            try:
                log.erase(changes["rows"], by=changes["by"])
            finally:
                log.close()
        files = [path for path in (journal / _FILES).rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda path: (path.name == MANIFEST, path)):
            target = directory / path.relative_to(journal / _FILES)
            path.replace(target)
            sync_directory(target.parent)
        journal.rename(directory / _DRAFT)
        remove_draft(directory)


def remove_inside(directory: Path, file: str) -> None:
    """Remove a file that a manifest names, but never one outside its directory: manifests come from others too."""
    path = directory / file
    if path.parent.resolve().is_relative_to(directory.resolve()):
        path.unlink(missing_ok=True)
