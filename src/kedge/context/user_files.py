"""A file that the user names: what it is is looked at before it is opened, and it is read within a limit."""

from __future__ import annotations

import io
import os
import select
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from kedge.errors import KedgeError, did_you_mean

_BLOCK: Final = 1 << 20
_WRITER_SECONDS: Final = 10.0  # how long a FIFO may be without a writer; unmeasured
_SMALLER: Final = "give a smaller one, or allow more with --max-input-memory if you trust it"
_MOST_NAMES: Final = 1_000  # of a folder, looked at for one of a like name
STDIN: Final = "-"


@dataclass(frozen=True)
class UserFile:
    """A regular file, or what came through a pipe, which can be read only once; it may take `limit` bytes.

    `table` is the one that is meant where a file has several: the part of a name after `::`.
    """

    path: Path
    size: int
    limit: int
    content: bytes | None = field(default=None, repr=False)
    remedy: str = _SMALLER
    table: str = ""

    def open(self) -> BinaryIO:
        """Its bytes from the first on, as often as wanted."""
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def refuse_beyond(self, size: int, what: str = "holds") -> None:
        """One line where so many bytes are more than the limit."""
        if size > self.limit:
            raise KedgeError(
                f"{what} more than {self.limit / 1e6:,.3g} MB, which is what it may take",
                file=self.path,
                remedy=self.remedy,
            )


def user_file(path: str | Path, limit: int, *, patience: float = _WRITER_SECONDS, remedy: str = _SMALLER) -> UserFile:
    """The file, or in one line why it is none that can be read; `remedy` is for one beyond the limit.

    A pipe is read to its end; without a writer it is given up after `patience` seconds. `-` is stdin.
    """
    if str(path) == STDIN:
        content = _drain_stdin(limit)
        file = UserFile(Path("stdin"), len(content), limit, content, remedy)
        file.refuse_beyond(file.size)
        return file
    path = Path(path)
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError
        if stat.S_ISFIFO(facts.st_mode):
            content = _drain(path, limit, patience)
            file = UserFile(path, len(content), limit, content, remedy)
        elif stat.S_ISREG(facts.st_mode):
            with path.open("rb"):
                file = UserFile(path, facts.st_size, limit, None, remedy)
        else:
            raise KedgeError("is a device or a socket, not a file", file=path, remedy="give a file or a pipe")
    except FileNotFoundError:
        raise KedgeError("no such file", file=path, remedy=_near(path)) from None
    except IsADirectoryError:
        raise KedgeError("is a directory", file=path, remedy="give the file inside it") from None
    except PermissionError:
        raise KedgeError("may not be read", file=path, remedy="check its permissions") from None
    except (OSError, ValueError) as error:
        raise KedgeError(f"cannot be read ({error})", file=path, remedy="check the path") from None
    file.refuse_beyond(file.size)
    return file


def _near(path: Path) -> str:
    """The remedy for a file that is not there: one of a like name beside it."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MOST_NAMES), strict=False)]
    except OSError:
        return "check the path: there is no such folder either"
    return did_you_mean(path.name, sorted(names), "check the path")


def _drain_stdin(limit: int) -> bytes:
    """All that comes through stdin, up to one byte more than the limit; as bytes, whatever `sys.stdin` is."""
    if os.isatty(0):
        raise KedgeError("stdin is a terminal", remedy="send the file through a pipe, or give its name in place of -")
    content = bytearray()
    try:
        while len(content) <= limit and (block := os.read(0, _BLOCK)):
            content += block
    except OSError as error:
        raise KedgeError(f"stdin cannot be read ({error.strerror})", remedy="give a file in place of -") from None
    if not content:
        raise KedgeError("nothing came through stdin", remedy="it can be read once: give - for one input only")
    return bytes(content)


def _drain(path: Path, limit: int, patience: float) -> bytes:
    """All that comes through a pipe, up to one byte more than the limit."""
    # Without O_NONBLOCK a FIFO that has no writer would not even open.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    content, end = bytearray(), time.monotonic() + patience
    try:
        while len(content) <= limit:
            try:
                block = os.read(handle, _BLOCK)
            except BlockingIOError:  # a writer is there and takes its time
                select.select([handle], [], [])
                continue
            content += block
            if not block:
                if content or time.monotonic() > end:
                    break
                time.sleep(0.02)  # no writer yet, or one that wrote nothing
    finally:
        os.close(handle)
    if not content:
        raise KedgeError(
            "nothing came through this pipe", file=path, remedy="start what writes into it, or give a file"
        )
    return bytes(content)
