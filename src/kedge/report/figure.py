"""What a figure is: a chart, a legend, a caption and the same numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.report.markup import Markup


@dataclass(frozen=True)
class Key:
    """A line of a legend; `shape` is square, circle, line, dashed or diagonal."""

    words: str
    colour: str
    shape: str = "square"


@dataclass(frozen=True)
class Figure:
    """A chart and all that is needed to read it without seeing it."""

    name: str
    title: str
    caption: str
    chart: Markup
    legend: tuple[Key, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def percent(share: float | None) -> str:
    """A share for people; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f}%"


def threshold_text(threshold: float) -> str:
    """Two digits, unless the run was given a finer one."""
    return f"{threshold:.2f}" if round(threshold, 2) == threshold else f"{threshold}"
