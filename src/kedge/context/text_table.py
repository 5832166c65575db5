"""A table of text for people, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

_NARROWEST: Final = 40  # columns: in a narrower terminal lines wrap, but nothing is lost


class Shown(NamedTuple):
    """A table for people; the first `left` columns are aligned to the left, numbers to the right."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    left: int = 1


def printable(text: str) -> str:
    """Text fit for one line: ids come from files, and must not be control codes."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def table_text(table: Shown, width: int | None = None) -> str:
    """The table for a terminal of so many columns; by default the one at hand."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=width)
    console.width = max(console.width, _NARROWEST)
    made = Table(
        title=Text(table.title, style="bold"),
        title_justify="left",
        pad_edge=False,
        box=box.SIMPLE_HEAD,
        show_header=any(table.columns),
    )
    for i, name in enumerate(table.columns):
        made.add_column(Text(name), justify="left" if i < table.left else "right")
    for row in table.rows:
        # Shown as text, never as markup or control codes.
        made.add_row(*(Text(printable(cell)) for cell in row))
    with console.capture() as text:
        console.print(made)
    return text.get()
