"""Progress and notes on stderr: a bar on a terminal, lines elsewhere, JSON for programs."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

from kedge.cli.start import write_line

_PLAIN_INTERVAL: Final = 10.0  # seconds between two lines of progress
_JSON_INTERVAL: Final = 0.5


def duration(seconds: float) -> str:
    """A time as people read it: 12 s, 3 min, 1 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


class Pace:
    """How long a stage will take, by how long it has taken since its first report: what was done before that, by an
    earlier command or before any step, has no part in it."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def seconds_left(self, now: float, done: float, total: float | None) -> float | None:
        """An estimate, or None where there is nothing to estimate from."""
        if self._first is None:
            self._first = now, done
        since, at = self._first
        if not total or done <= at or done > total:
            return None
        return (now - since) / (done - at) * (total - done)


class Reporter:
    """Progress and notes: a bar with percent and time left on a terminal, one line per stage elsewhere, none if quiet;
    as JSON, one object per line."""

    def __init__(self, quiet: bool = False, as_json: bool = False) -> None:
        self._quiet = quiet and not as_json
        self._json = as_json
        self._bar: Any = None
        self._task: Any = None
        self._stage = ""
        self._pace = Pace()
        self._printed = 0.0
        self._noted: set[str] = set()

    def note(self, text: str) -> None:
        """A line for the user; once, even if several runs of a method repeat it."""
        if self._quiet or text in self._noted:
            return
        self._noted.add(text)
        if self._json:
            self._event("note", text=text)
        else:
            from kedge.context import printable

            self._line(f"kedge: {printable(text)}")

    def stage(self, name: str, done: bool = False) -> None:
        """A stage begins, or is already done."""
        self._close()
        if self._quiet:
            return
        self._stage, self._pace = name, Pace()
        # The first line of progress comes after a while; to a program the first report matters too.
        self._printed = 0.0 if self._json else time.monotonic()
        if self._json:
            self._event("stage", stage=name, already_done=done)
        elif done:
            self._line(f"kedge: {name}: already done")
        elif sys.stderr.isatty():
            self._open_bar(name)
        else:
            self._line(f"kedge: {name} ...")

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Progress within the stage."""
        if self._quiet:
            return
        now = time.monotonic()
        left = self._pace.seconds_left(now, done, total)
        # Fractions move the bar, but are not printed.
        of = "" if done != int(done) else f"{done:g}/{total:g} " if total else f"{done:g} "
        if self._bar is not None:
            remaining = "" if left is None else f", about {duration(left)} left"
            self._bar.update(self._task, completed=done, total=total, detail=f"{of}{detail}{remaining}")
            return
        if now - self._printed < (_JSON_INTERVAL if self._json else _PLAIN_INTERVAL):
            return
        self._printed = now
        percent = None if not total else min(100.0, 100 * done / total)
        if self._json:
            self._event(
                "progress",
                stage=self._stage,
                done=done,
                total=total,
                percent=None if percent is None else round(percent, 1),
                seconds_left=None if left is None else round(left, 1),
                detail=detail,
            )
            return
        share = "" if percent is None else f", {percent:.0f} %"
        remaining = "" if left is None else f", about {duration(left)} left"
        self._line(f"kedge: {self._stage}: {f'{of}{detail}'.strip()}{share}{remaining}")

    @contextlib.contextmanager
    def open(self) -> Iterator[Reporter]:
        """Restores the terminal at the end, also after an error."""
        try:
            yield self
        finally:
            self._close()

    def _open_bar(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=False,
        )
        self._task = self._bar.add_task(name, total=None, detail="")
        self._bar.start()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, total=1, completed=1, detail="")
            self._bar.stop()
            self._bar = None

    def _event(self, kind: str, **fields: Any) -> None:
        write_line(json_event(kind, **fields))

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            write_line(text)


def json_event(kind: str, **fields: Any) -> str:
    """One object on one line."""
    return json.dumps({"event": kind, **fields}, ensure_ascii=True, allow_nan=False)
