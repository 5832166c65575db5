"""Output: data on stdout, everything else on stderr, plain where there is no terminal."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from kedge.cli.start import write_line

_PLAIN_INTERVAL = 10.0


def print_json(value: Any) -> None:
    """One JSON document on stdout, and nothing else there."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def input_line(question: str) -> str:
    """What the user answers on the terminal; the question goes to stderr, as stdout is for data."""
    from kedge.context import printable

    sys.stderr.write(printable(question))
    sys.stderr.flush()
    return sys.stdin.readline()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A table on stdout; the first `left` columns aligned to the left, numbers to the right."""
    from kedge.context import Shown, table_text

    # Written by rich itself, a closed stdout would end the command with 1.
    sys.stdout.write(table_text(Shown(title, tuple(columns), rows, left)))


def note_guarded(cells: int) -> None:
    """A note on how many cells of a file got an apostrophe."""
    if cells:
        Reporter().note(
            f"{cells:,} cells that a spreadsheet would run as formulas begin with an apostrophe; "
            "--raw writes them exactly"
        )


def print_metrics(metrics: dict[str, Any]) -> None:
    """Ranking by direction, then decisions and calibration; nothing without held-out pairs."""
    from kedge.report import metric_tables

    for table in metric_tables(metrics):
        print_table(*table)


def print_audit(audit: dict[str, Any] | None) -> None:
    """What the audit of a run shows, in one line; nothing without one."""
    if audit is not None:
        from kedge.answers import audit_sentence

        print(audit_sentence(audit))


class Reporter:
    """Progress and notes on stderr: a bar with ETA on a terminal, one line per stage elsewhere, none if quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None
        self._stage = ""
        self._started = 0.0
        self._printed = 0.0
        self._noted: set[str] = set()

    def note(self, text: str) -> None:
        """A line for the user; once, even if several runs of a method repeat it."""
        if not self._quiet and text not in self._noted:
            from kedge.context import printable

            self._noted.add(text)
            self._line(f"kedge: {printable(text)}")

    def stage(self, name: str, done: bool = False) -> None:
        """A stage begins, or is already done."""
        self._close()
        if self._quiet:
            return
        if done:
            self._line(f"kedge: {name}: already done")
            return
        self._stage, self._started, self._printed = name, time.monotonic(), time.monotonic()
        if self._terminal():
            self._open_bar(name)
        else:
            self._line(f"kedge: {name} ...")

    def advance(self, done: float, total: float | None, detail: str = "") -> None:
        """Progress within the stage."""
        if self._quiet:
            return
        # Fractions move the bar, but are not printed.
        of = "" if done != int(done) else f"{done:g}/{total:g} " if total else f"{done:g} "
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, detail=f"{of}{detail}")
        elif time.monotonic() - self._printed > _PLAIN_INTERVAL:
            self._printed = time.monotonic()
            spent = self._printed - self._started
            left = f", about {spent / done * (total - done):.0f} s left" if total and done else ""
            self._line(f"kedge: {self._stage}: {of}{detail}{left}")

    @contextlib.contextmanager
    def open(self) -> Iterator[Reporter]:
        """Restores the terminal at the end, also after an error."""
        try:
            yield self
        finally:
            self._close()

    def _terminal(self) -> bool:
        return sys.stderr.isatty()

    def _open_bar(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=False,
        )
        self._task = self._bar.add_task(name, total=None, detail="")
        self._bar.start()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, total=1, completed=1)
            self._bar.stop()
            self._bar = None

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            write_line(text)
