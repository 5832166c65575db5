"""From numbers to places on the paper: a plot area, linear scales, round ticks, axes and the frame of a figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kedge.report.markup import Child, Markup, join, tag

__all__ = ["Plot", "Scale", "figure_svg", "horizontal_grid", "round_ticks", "short", "x_labels", "x_title", "y_title"]


@dataclass(frozen=True)
class Scale:
    """A linear map from [low, high] to [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value; a scale without width puts everything at its start."""
        span = self.high - self.low
        return self.start + (self.end - self.start) * ((value - self.low) / span if span else 0.0)


@dataclass(frozen=True)
class Plot:
    """The paper of a figure and the plot area in it, in SVG units."""

    width: float = 460
    height: float = 268
    left: float = 46
    right: float = 12
    top: float = 26
    bottom: float = 42

    @property
    def x_range(self) -> tuple[float, float]:
        """Where the plot area begins and ends."""
        return self.left, self.width - self.right

    @property
    def y_range(self) -> tuple[float, float]:
        """Bottom and top of the plot area: upwards, as charts count."""
        return self.height - self.bottom, self.top


def round_ticks(most: float, about: int = 4) -> list[float]:
    """0 and some round numbers up to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw * 0.999)
    return [round(step * i, 10) for i in range(math.ceil(most / step - 1e-9) + 1)]


def short(value: float) -> str:
    """A count for an axis: 1,200 -> 1.2k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def horizontal_grid(plot: Plot, y: Scale, ticks: Sequence[float], label: Callable[[float], str]) -> Markup:
    """A line and a label for each tick of the y axis."""
    x0, x1 = plot.x_range
    return join(
        *(
            join(
                tag("line", class_="grid", x1=x0, x2=x1, y1=y(t), y2=y(t)),
                tag("text", label(t), class_="tick end", x=x0 - 7, y=y(t) + 4),
            )
            for t in ticks
        )
    )


def x_labels(plot: Plot, places: Sequence[tuple[float, str]]) -> Markup:
    """Labels below the plot area, and its bottom line."""
    x0, x1 = plot.x_range
    bottom = plot.y_range[0]
    texts = [tag("text", label, class_="tick middle", x=place, y=bottom + 17) for place, label in places]
    return join(tag("line", class_="axis", x1=x0, x2=x1, y1=bottom, y2=bottom), *texts)


def x_title(plot: Plot, words: str) -> Markup:
    """What the x axis counts."""
    x0, x1 = plot.x_range
    return tag("text", words, class_="axis-title middle", x=(x0 + x1) / 2, y=plot.height - 6)


def y_title(words: str) -> Markup:
    """What the y axis counts, above it and lying, so that nobody has to turn the head."""
    return tag("text", words, class_="axis-title", x=0, y=11)


def figure_svg(plot: Plot, title: str, description: str, *children: Child, **attributes: str | float) -> Markup:
    """The SVG element: scales with its place, and says in words what it shows."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *children,
        class_="chart",
        viewBox=f"0 0 {plot.width:g} {plot.height:g}",
        role="img",
        **attributes,
    )
