"""The one exception that users see: a single line with what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class KedgeError(Exception):
    """A user's mistake or a refused input.

    Its text is one line, `place: problem; remedy`. The command line prints it and exits with 2.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        place = "" if file is None else f"{file}:{line}: " if line is not None else f"{file}: "
        text = f"{place}{problem}" + (f"; {remedy}" if remedy else "")
        # A hostile id or file name must not be able to break the promise of one line.
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))
        self.file = None if file is None else str(file)
        self.line = line


def as_share(value: float, otherwise: str) -> str:
    """The remedy for a share that is out of range: the same in percent, if it may be that."""
    return f"did you mean {value / 100:g}?" if 1 < value <= 100 else otherwise


def did_you_mean(word: str, known: Iterable[str], otherwise: str, cutoff: float = 0.6) -> str:
    """The remedy for a name that is not known: the nearest one that is, if any is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]!r}?" if near else otherwise
