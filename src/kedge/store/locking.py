"""Locks on a run directory: one process computes in it at a time; no review may be open while rows change."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from kedge.errors import KedgeError
from kedge.store.atomic import NO_FOLLOW, open_regular, refuse_special, translate_disk_errors, write_atomically

_WORK: Final = ".lock"
_HOLDER: Final = ".lock-holder"  # on Windows others cannot read a locked file, so the process id has its own
_REVIEW: Final = ".reviewing"
LOCKS: Final = (_WORK, _REVIEW)  # names of all files here begin with one of these


@contextlib.contextmanager
def lock_run(directory: Path) -> Iterator[None]:
    """Hold the directory for work, or raise with the id of the process that holds it."""
    holder = directory / _HOLDER
    with _held(directory / _WORK, False, lambda: f"another kedge{_process(holder)} is working in this directory"):
        write_atomically(holder, lambda file: file.write(str(os.getpid()).encode()))
        yield


@contextlib.contextmanager
def reviewing(directory: Path, shared: bool = True) -> Iterator[None]:
    """Review servers share this lock; a purge and `kedge decide` take it alone: no server has old rows in memory."""
    problem = "this run is being purged or decided again" if shared else "a `kedge review` of this run is open"
    with _held(directory / _REVIEW, shared, lambda: problem):
        yield


def _process(holder: Path) -> str:
    with contextlib.suppress(OSError, KedgeError), open_regular(holder) as file:
        return f" (process {file.read(20).decode('ascii', 'replace').strip()})"
    return ""


@contextlib.contextmanager
def _held(path: Path, shared: bool, problem: Callable[[], str]) -> Iterator[None]:
    """Hold a lock on a file until the end; the system releases it if the process is killed."""
    from portalocker import AlreadyLocked, LockFlags, lock  # here, because --help must stay quick

    with translate_disk_errors(path):
        refuse_special(path)
        file = os.open(path, os.O_RDWR | os.O_CREAT | NO_FOLLOW, 0o600)
    try:
        try:
            lock(file, LockFlags.NON_BLOCKING | (LockFlags.SHARED if shared else LockFlags.EXCLUSIVE))
        except AlreadyLocked:
            remedy = "wait for it or end it, or choose another directory"
            raise KedgeError(problem(), file=path.parent, remedy=remedy) from None
        yield
    finally:
        os.close(file)
