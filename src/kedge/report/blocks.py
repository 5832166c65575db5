"""What the page is built from: figures with their legend and numbers, tables, and small signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.report.markup import Child, Markup, join, number, tag


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


def data_table(columns: Sequence[Child], rows: Sequence[Sequence[Child]], caption: str, **attributes: str) -> Markup:
    """A table with a header row; its caption is for screen readers."""
    head = tag("tr", *(tag("th", name, scope="col") for name in columns))
    body = [tag("tr", *(tag("td", cell) for cell in row)) for row in rows]
    return tag("table", tag("thead", head), tag("tbody", *body), class_="data", aria_label=caption, **attributes)


def definitions(pairs: Sequence[tuple[str, Child]], style: str = "pairs") -> Markup:
    """Names and values."""
    lines = (join(tag("dt", name), tag("dd", value)) for name, value in pairs)
    return tag("dl", *(tag("div", line) if style == "facts" else line for line in lines), class_=style)


def key_sign(key: Key) -> Markup:
    """The sign of a legend: the same shape, dash and colour as in the chart."""
    parts: list[Markup] = []
    if key.shape in ("line", "line-square", "dashed", "diagonal"):
        dash = key.shape if key.shape in ("dashed", "diagonal") else ""
        parts.append(tag("line", class_=f"key-line {key.colour} {dash}".strip(), x1=1, x2=21, y1=6, y2=6))
    if key.shape in ("line", "circle"):
        parts.append(tag("circle", class_=f"key {key.colour}", cx=11, cy=6, r=4))
    if key.shape == "line-square":
        parts.append(tag("rect", class_=f"key {key.colour}", x=7, y=2, width=8, height=8))
    if key.shape == "square":
        parts.append(tag("rect", class_=f"key {key.colour}", x=5, y=0, width=12, height=12, rx=2))
    return join(*parts)


def legend(figure: Figure) -> Markup | None:
    """The legend of a figure, or nothing where there is one series only."""
    if not figure.legend:
        return None
    items = [
        tag("li", tag("svg", key_sign(key), viewBox="0 0 22 12", aria_hidden="true"), key.words)
        for key in figure.legend
    ]
    return tag("ul", *items, class_="legend")


def number_table(figure: Figure) -> Markup:
    """The figure's numbers as a table, for those who cannot see it or need them exactly."""
    table = data_table(figure.columns, figure.rows, figure.title)
    # Focusable, since what scrolls must scroll by keyboard too.
    box = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=f"Numbers: {figure.title}")
    return tag("details", tag("summary", "Numbers"), box)


def figure_card(figure: Figure) -> Markup:
    """A figure in its card."""
    return tag(
        "figure",
        tag("h3", figure.title),
        tag("figcaption", figure.caption),
        legend(figure),
        figure.chart,
        number_table(figure),
        class_="card",
        id=f"figure-{figure.name}",
    )


def share_bar(parts: Sequence[tuple[str, str, int]], description: str) -> Markup:
    """A whole as one bar of parts: (name, colour, count)."""
    whole = sum(count for _, _, count in parts) or 1
    drawn, x = [], 0.0
    for name, colour, count in parts:
        width, tip = 1000 * count / whole, f"{name}: {count:,} ({100 * count / whole:.1f}%)"
        drawn.append(tag("rect", class_=f"bar {colour}", x=x, y=0, width=width, height=16, data_tip=tip))
        x += width
    stretched = {"viewBox": "0 0 1000 16", "preserveAspectRatio": "none"}
    return tag("svg", *drawn, class_="share", **stretched, role="img", aria_label=description)


def meter(share: float, colour: str) -> Markup:
    """A small bar next to a probability, which is also there as a number."""
    bar = tag("rect", class_=f"bar {colour}", x=0, y=0, width=number(100 * share), height=7)
    return tag("svg", bar, class_="meter optional", viewBox="0 0 100 7", preserveAspectRatio="none", aria_hidden="true")


def logo() -> Markup:
    """A kedge, the small anchor by which a ship is hauled, between an account of either network."""
    return tag(
        "svg",
        tag("path", class_="logo-line", d="M16 9V26M8 20C9 25 12 26.5 16 26.5C20 26.5 23 25 24 20M11.5 12.5H20.5"),
        tag("circle", class_="logo-line", cx=16, cy=6.5, r=2.5),
        tag("circle", class_="logo-left", cx=7.5, cy=18.5, r=3),
        tag("circle", class_="logo-right", cx=24.5, cy=18.5, r=3),
        viewBox="0 0 32 32",
        aria_hidden="true",
    )
