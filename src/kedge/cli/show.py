"""Output: data on stdout, everything else on stderr, plain where there is no terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from kedge.cli.progress import Reporter


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
