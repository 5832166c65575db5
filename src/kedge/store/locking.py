"""Locks on a run directory: one process computes in it at a time; a purge also waits until nobody reviews."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.store.atomic import translate_disk_errors

__all__ = ["LOCKS", "lock_run", "reviewing"]

_WORK: Final = ".lock"
_REVIEW: Final = ".reviewing"
LOCKS: Final = (_WORK, _REVIEW)


@contextlib.contextmanager
def lock_run(directory: Path) -> Iterator[None]:
    """Hold the directory for work, or say who else does."""
    with _held(directory / _WORK, fcntl.LOCK_EX, "another kedge{} is working in this directory") as lock:
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield


@contextlib.contextmanager
def reviewing(directory: Path, shared: bool = True) -> Iterator[None]:
    """Servers share this lock among them; who must be sure that none of them remembers anything takes it alone."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    words = "an account is being purged from this run" if shared else "a `kedge review` of this run is open"
    with _held(directory / _REVIEW, kind, words):
        yield


@contextlib.contextmanager
def _held(path: Path, kind: int, words: str) -> Iterator[int]:
    with translate_disk_errors(path):
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
            raise KedgeError(
                words.format(f" (process {holder})" if holder else ""),
                file=path.parent,
                remedy="wait for it or end it, or choose another directory",
            ) from None
        yield lock
    finally:
        os.close(lock)
