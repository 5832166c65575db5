"""Output: data on stdout, everything else on stderr, plain where there is no terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from kedge.cli.progress import Reporter, printable

_NARROWEST = 40  # columns: in a narrower terminal lines wrap, but nothing is lost


def print_json(value: Any) -> None:
    """One JSON document on stdout, and nothing else there."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def input_line(question: str) -> str:
    """What the user answers on the terminal; the question goes to stderr, as stdout is for data."""
    sys.stderr.write(printable(question))
    sys.stderr.flush()
    return sys.stdin.readline()


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A table on stdout; the first `left` columns aligned to the left, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.width = max(console.width, _NARROWEST)
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        pad_edge=False,
        box=box.SIMPLE_HEAD,
        show_header=any(columns),
    )
    for i, name in enumerate(columns):
        table.add_column(Text(name), justify="left" if i < left else "right")
    for row in rows:
        # Ids come from files: shown as text, never as markup or control codes.
        table.add_row(*(Text(printable(cell)) for cell in row))
    with console.capture() as text:
        console.print(table)
    sys.stdout.write(text.get())  # written by rich itself, a closed stdout would end the command with 1


def note_guarded(cells: int) -> None:
    """A note on how many cells of a file got an apostrophe."""
    if cells:
        Reporter().note(
            f"{cells:,} cells that a spreadsheet would run as formulas begin with an apostrophe; "
            "--raw writes them exactly"
        )


def print_metrics(metrics: dict[str, Any]) -> None:
    """Ranking by direction, then decisions and calibration; nothing without held-out pairs."""
    if not metrics["test_pairs"]:
        return
    from kedge.evaluation import metrics_shown

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    forth, back = metrics["left_to_right"], metrics["right_to_left"]
    by_direction = [metric for metric in metrics_shown("evaluate") if metric.name in forth]
    others = [metric for metric in metrics_shown("evaluate") if metric.name not in forth]
    print_table(
        f"On {metrics['test_pairs']:,} held-out pairs",
        ("", "left to right", "right to left", "mean"),
        [(m.label, shown(forth[m.name]), shown(back[m.name]), shown(metrics[m.name])) for m in by_direction],
    )
    # A run of an earlier version may lack some of them.
    print_table("", ("", "", ""), [(m.label, m.help, shown(metrics.get(m.name))) for m in others], left=2)


def print_audit(audit: dict[str, Any] | None) -> None:
    """What the audit of a run shows, in one line; nothing without one."""
    if audit is not None:
        from kedge.answers import audit_sentence

        print(audit_sentence(audit))
