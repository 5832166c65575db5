"""The process around a command: its streams, its words, and a usage error as one line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from kedge.errors import KedgeError


def open_streams() -> None:
    """Streams that take any text; one that is closed becomes the null device, or the next file opened would be it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (for as long as the process lives)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows codes, and no traceback. A stream may refuse: one of another kind than it was
        # opened as, or of a caller's own.
        with contextlib.suppress(AttributeError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def drop_output(stream: TextIO) -> None:
    """Send what is still in a stream nowhere: Python would fail on it again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_line(text: str) -> None:
    """A line on stderr; where nothing takes it any more (`2>&1 | head`), the work goes on without lines."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        drop_output(sys.stderr)


def check_words(words: Sequence[str]) -> None:
    """Refuse bytes that are not UTF-8: ids and names of files are text, in results, notes and manifests."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise KedgeError(
                f"{word!r} on the command line is not UTF-8", remedy="rename the file, or write the id in UTF-8"
            ) from None


def run_words(app: Callable[..., Any], words: list[str]) -> int:
    """Run a command line and return its exit code; a mistake of the user is one line and 2."""
    try:
        check_words(words)
        return app(words, prog_name="kedge", standalone_mode=False) or 0
    except KedgeError as error:
        write_line(f"kedge: {error}")
        return 2
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        write_line(f"kedge: {usage_line(error)}")
        return 2


def usage_line(error: Any) -> str:
    """A usage error (an exception of click, which is inside of typer or beside it by version) as one line."""
    text = " ".join(error.format_message().split()).rstrip(".")
    place = f"; see `{error.ctx.command_path} --help`" if getattr(error, "ctx", None) else ""
    return str(KedgeError(f"{text[:1].lower()}{text[1:]}{place}"))
