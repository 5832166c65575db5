"""Write a file so that a kill at any moment leaves the old one or the new one, never half of either.

Only regular files are written and read: a symbolic link is not followed, and no device, FIFO or directory is replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from kedge.errors import KedgeError

TEMPORARY: Final = ".kedge-tmp-"
NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)  # Windows has none, and links there need special rights
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # a FIFO without a writer would block
_AGAIN: Final = "then run the same command again"
_REMEDIES: Final = {
    errno.ENOSPC: ("no space is left on the device", f"free some, {_AGAIN}"),
    errno.EDQUOT: ("the disk quota is used up", f"free some, {_AGAIN}"),
    errno.EIO: ("the device reports an I/O error", f"check the disk, {_AGAIN}"),
    errno.EROFS: ("the file system is read-only", "write somewhere else"),
    errno.EACCES: ("may not be written", "check the permissions of the directory"),
    errno.EPERM: ("may not be written", "check the permissions of the directory"),
    errno.ENOENT: ("the directory does not exist", "make it first"),
    errno.EEXIST: ("exists and is no directory", "choose another name"),
    errno.ENOTDIR: ("lies below a file, not a directory", "write somewhere else"),
    errno.EISDIR: ("is a directory", "give the name of a file"),
    errno.ELOOP: ("is a symbolic link, or lies below a loop of them", "give the file itself"),
    errno.ENAMETOOLONG: ("has too long a name", "choose a shorter one"),
}
_KINDS: Final = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextlib.contextmanager
def translate_disk_errors(path: Path) -> Iterator[None]:
    """Full, read-only, failing and forbidden places as one line instead of a traceback."""
    try:
        yield
    except KedgeError:
        raise
    except Exception as error:
        cause = _disk_error(error)
        if cause is None:
            raise
        unknown = (f"cannot be written ({cause.strerror or cause})", f"check the place, {_AGAIN}")
        problem, remedy = _REMEDIES.get(cause.errno or 0, unknown)
        raise KedgeError(problem, file=path, remedy=remedy) from error


def _disk_error(error: BaseException | None) -> OSError | None:
    """The OSError behind an error: a library that is interrupted in its writing may raise another on top of it."""
    while error is not None and not isinstance(error, OSError):
        error = error.__context__
    return error


def refuse_special(path: Path) -> bool:
    """Whether there is a regular file; anything else that is not a regular file is refused in one line."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no file")
        raise KedgeError(f"is {kind}", file=path, remedy="give the name of a file")
    return True


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it: no link is followed, and a FIFO does not block."""
    with contextlib.suppress(OSError):
        refuse_special(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | NO_FOLLOW | _NO_WAIT)
    return os.fdopen(handle, "rb")


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Call `write` on a temporary file next to `path`, flush it to the disk and put it in place; mode 0600."""
    with translate_disk_errors(path):
        refuse_special(path)
        handle, temporary = _make_temporary(path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                if os.name != "nt":  # while it is open it is locked: no other kedge takes it for a leftover
                    temporary.replace(path)
            if os.name == "nt":  # which renames no open file, and removes none
                temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync_directory(path.parent)


def _make_temporary(directory: Path) -> tuple[int, Path]:
    """A new file, locked until it is closed; another process may remove it between its making and its locking."""
    while True:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=directory)
        if os.name == "nt" or (_lock(handle) and os.fstat(handle).st_nlink):
            return handle, Path(name)
        os.close(handle)


def _lock(handle: int) -> bool:
    from portalocker import AlreadyLocked, LockException, LockFlags, lock  # here, because --help must stay quick

    try:
        lock(handle, LockFlags.NON_BLOCKING | LockFlags.EXCLUSIVE)
    except AlreadyLocked:
        return False
    except LockException:  # the file system has no locks
        return True
    return True


def remove_leftovers(directory: Path) -> None:
    """Remove temporary files of killed processes; one that a living process writes is locked and stays."""
    for folder, _, names in os.walk(directory):
        for name in names:
            if name.startswith(TEMPORARY):
                _remove_leftover(Path(folder) / name)


def _remove_leftover(path: Path) -> None:
    with contextlib.suppress(OSError):
        if os.name == "nt" or not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
            return
        handle = os.open(path, os.O_RDWR | NO_FOLLOW)
        try:
            if _lock(handle):
                path.unlink()
        finally:
            os.close(handle)


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
    """Refuse, before any work, an output that exists (without --force), or that could not be written afterwards."""
    with translate_disk_errors(path):
        if refuse_special(path) and not force:
            raise KedgeError("exists already", file=path, remedy="choose another name, or overwrite it with --force")
        for leftover in path.parent.glob(f"{TEMPORARY}*"):
            _remove_leftover(leftover)
        _try_to_write(path.parent)


def refuse_directory(directory: Path, files: Iterable[str] = ()) -> None:
    """Refuse, before any work, a directory that could not be made or written to, or where one of these is no file."""
    with translate_disk_errors(directory):
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _try_to_write(directory)
            for name in files:
                refuse_special(directory / name)
        finally:
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()


def _try_to_write(directory: Path) -> None:
    handle, temporary = _make_temporary(directory)
    os.close(handle)
    temporary.unlink()
