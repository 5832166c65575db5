"""Lines over a numeric axis: precision and recall by threshold, training curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kedge.report.markup import Markup, join, number, tag
from kedge.report.scales import Plot, Scale, figure_svg, horizontal_grid, round_ticks, short, x_labels, x_title, y_title

__all__ = ["Line", "line_chart", "path_of"]


@dataclass(frozen=True)
class Line:
    """Values along x, None where there is none; `colour` is a class of the style sheet, `marks` put a shape on it.

    `key` is what the page's script calls it, to keep a dot on it at the chosen threshold.
    """

    name: str
    y: Sequence[float | None]
    colour: str
    dashed: bool = False
    marks: str = ""
    key: str | None = None


def path_of(x: Sequence[float], y: Sequence[float | None], across: Scale, up: Scale) -> str:
    """The path of a line; it breaks where a value is missing."""
    words: list[str] = []
    pen = "M"
    for a, b in zip(x, y, strict=True):
        if b is None:
            pen = "M"
            continue
        words.append(f"{pen}{number(across(a))} {number(up(b))}")
        pen = "L"
    return "".join(words)


def line_chart(
    title: str,
    description: str,
    x: Sequence[float],
    lines: Sequence[Line],
    *,
    x_ticks: Sequence[float],
    x_words: str,
    y_words: str,
    y_ticks: Sequence[float] | None = None,
    y_label: Callable[[float], str] = short,
    guide: float | None = None,
    plot: Plot | None = None,
) -> Markup:
    """Several lines; `guide` is a vertical line with a dot on every keyed line, which the script may move."""
    plot = plot or Plot()
    values = [v for line in lines for v in line.y if v is not None]
    ticks = list(y_ticks) if y_ticks is not None else round_ticks(max(values, default=1.0))
    across = Scale(x_ticks[0], x_ticks[-1], *plot.x_range)
    up = Scale(ticks[0], ticks[-1], *plot.y_range)
    drawn = [
        join(
            tag(
                "path", class_=f"line {line.colour}{' dashed' if line.dashed else ''}", d=path_of(x, line.y, across, up)
            ),
            *_marks(line, x, across, up),
        )
        for line in lines
    ]
    moving = [] if guide is None else [_guide(plot, guide, x, lines, across, up)]
    return figure_svg(
        plot,
        title,
        description,
        horizontal_grid(plot, up, ticks, y_label),
        x_labels(plot, [(across(t), f"{t:g}") for t in x_ticks]),
        x_title(plot, x_words),
        y_title(y_words),
        *drawn,
        *moving,
        **(
            {}
            if guide is None
            else {
                "data_x0": plot.x_range[0],
                "data_x1": plot.x_range[1],
                "data_y0": plot.y_range[0],
                "data_y1": plot.y_range[1],
            }
        ),
    )


def _marks(line: Line, x: Sequence[float], across: Scale, up: Scale) -> list[Markup]:
    """A shape every tenth point: lines stay apart without colour."""
    if not line.marks:
        return []
    step = max(1, len(x) // 10)
    places = [(across(x[i]), up(v)) for i in range(step // 2, len(x), step) if (v := line.y[i]) is not None]
    if line.marks == "square":
        return [tag("rect", class_=f"mark {line.colour}", x=a - 3, y=b - 3, width=6, height=6) for a, b in places]
    return [tag("circle", class_=f"mark {line.colour}", cx=a, cy=b, r=3.2) for a, b in places]


def _guide(plot: Plot, at: float, x: Sequence[float], lines: Sequence[Line], across: Scale, up: Scale) -> Markup:
    place = min(range(len(x)), key=lambda i: abs(x[i] - at))
    dots = []
    for line in lines:
        if line.key is not None:
            value = line.y[place]
            y = up(value) if value is not None else up(0)
            dots.append(
                tag(
                    "circle",
                    class_=f"dot {line.colour}",
                    cx=across(at),
                    cy=y,
                    r=4.5,
                    data_dot=line.key,
                    visibility=None if value is not None else "hidden",
                )
            )
    vertical = tag(
        "line", class_="guide", x1=across(at), x2=across(at), y1=plot.y_range[0], y2=plot.y_range[1], data_guide=True
    )
    return join(vertical, *dots)
