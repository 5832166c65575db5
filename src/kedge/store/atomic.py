"""Write a file so that a kill at any moment leaves the old one or the new one, never half of either."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from kedge.errors import KedgeError

TEMPORARY: Final = ".kedge-tmp-"


@contextlib.contextmanager
def translate_disk_errors(path: Path) -> Iterator[None]:
    """Full, read-only and forbidden places as one line instead of a traceback."""
    try:
        yield
    except OSError as error:
        remedies = {
            errno.ENOSPC: ("no space is left on the device", "free some, then run the same command again"),
            errno.EDQUOT: ("the disk quota is used up", "free some, then run the same command again"),
            errno.EROFS: ("the file system is read-only", "write somewhere else"),
            errno.EACCES: ("may not be written", "check the permissions of the directory"),
            errno.EPERM: ("may not be written", "check the permissions of the directory"),
            errno.ENOENT: ("the directory does not exist", "make it first"),
            errno.ENOTDIR: ("lies below a file, not a directory", "write somewhere else"),
            errno.EISDIR: ("is a directory", "give the name of a file"),
            errno.ENAMETOOLONG: ("has too long a name", "choose a shorter one"),
        }
        if error.errno not in remedies:
            raise
        problem, remedy = remedies[error.errno]
        raise KedgeError(problem, file=path, remedy=remedy) from error


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Call `write` on a temporary file next to `path`, flush it to the disk and put it in place; mode 0600."""
    with translate_disk_errors(path):
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """A rename is on the disk only when its directory is; Windows opens no directories and syncs them itself."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_overwrite(path: Path, force: bool) -> None:
    """Refuse to replace an existing output without --force."""
    if path.is_dir():
        raise KedgeError("is a directory", file=path, remedy="give the name of a file")
    if path.exists() and not force:
        raise KedgeError("exists already", file=path, remedy="choose another name, or overwrite it with --force")
