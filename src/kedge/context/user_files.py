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

from kedge.errors import KedgeError

_BLOCK: Final = 1 << 20
_WRITER_SECONDS: Final = 10.0  # how long a FIFO may be without a writer; unmeasured
_SMALLER: Final = "give a smaller one, or allow more with --max-input-memory if you trust it"


@dataclass(frozen=True)
class UserFile:
    """A regular file, or what came through a pipe, which can be read only once; it may take `limit` bytes."""

    path: Path
    size: int
    limit: int
    content: bytes | None = field(default=None, repr=False)
    remedy: str = _SMALLER

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

    A pipe is read to its end; without a writer it is given up after `patience` seconds.
    """
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
        raise KedgeError("no such file", file=path, remedy="check the path") from None
    except IsADirectoryError:
        raise KedgeError("is a directory", file=path, remedy="give the file inside it") from None
    except PermissionError:
        raise KedgeError("may not be read", file=path, remedy="check its permissions") from None
    except (OSError, ValueError) as error:
        raise KedgeError(f"cannot be read ({error})", file=path, remedy="check the path") from None
    file.refuse_beyond(file.size)
    return file


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
