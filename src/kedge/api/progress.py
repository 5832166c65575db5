"""Progress of long calls: a bar in a notebook, lines on stderr elsewhere; nothing unless it is asked for."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from kedge.context import Progress, Silent, printable
from kedge.errors import KedgeError
from kedge.report import progress_html

_INTERVAL: Final = 0.2  # seconds between two pictures of the bar
_PLAIN: Final = 10.0  # seconds between two lines of text


def progress_of(asked: bool | Progress | None) -> Progress:
    """Where a call reports: nowhere, here (`True`), or to an object of the user's own."""
    if asked is None or asked is False:
        return Silent()
    if asked is True:
        return Bar() if _in_notebook() else Lines()
    if not all(callable(getattr(asked, name, None)) for name in ("note", "stage", "advance")):
        raise KedgeError(
            f"progress= is {type(asked).__name__}", remedy="give True, or an object with note, stage and advance"
        )
    return asked


def _in_notebook() -> bool:
    """Whether IPython runs here with a kernel, so that a page shows what it displays."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Lines:
    """One line on stderr per stage, and one now and then within it."""

    def __init__(self) -> None:
        self._stage, self._printed, self._noted = "", 0.0, set[str]()

    def note(self, text: str) -> None:
        """A line, once."""
        if text not in self._noted:
            self._noted.add(text)
            self._line(text)

    def stage(self, name: str, done: bool = False) -> None:
        """A line."""
        self._stage, self._printed = name, time.monotonic()
        self._line(f"{name}: already done" if done else f"{name} ...")

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """A line, where the last one is long ago."""
        if time.monotonic() - self._printed > _PLAIN:
            self._printed = time.monotonic()
            share = f" {done / total:.0%}" if total else ""
            self._line(f"{self._stage}:{share} {detail}".rstrip())

    def _line(self, text: str) -> None:
        print(f"kedge: {printable(text)}", file=sys.stderr, flush=True)


class Bar:
    """A bar that a notebook replaces in place; notes stand below it."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html: Any = HTML
        self._stage, self._detail = "", ""
        self._share: float | None = None
        self._notes: list[str] = []
        self._drawn = 0.0
        self._handle: Any = display(self._picture(), display_id=True)

    def note(self, text: str) -> None:
        """Below the bar, once."""
        if text not in self._notes:
            self._notes.append(text)
            self._draw(always=True)

    def stage(self, name: str, done: bool = False) -> None:
        """The bar begins anew."""
        self._stage, self._share, self._detail = name, 1.0 if done else None, ""
        self._draw(always=True)

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """The bar grows."""
        self._share, self._detail = (done / total if total else None), detail
        self._draw(always=False)

    def _picture(self) -> Any:
        return self._html(progress_html(self._stage, self._share, self._detail, self._notes).html)

    def _draw(self, *, always: bool) -> None:
        if always or time.monotonic() - self._drawn > _INTERVAL:
            self._drawn = time.monotonic()
            self._handle.update(self._picture())
