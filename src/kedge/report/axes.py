"""The plotting core: a plot area, linear scales, round ticks, and the frame with axes that every chart is drawn in."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kedge.report.markup import Child, Markup, tag

Tick: TypeAlias = tuple[float, str]  # place and label


class Labels(NamedTuple):
    """The words of a chart: title, description for those who cannot see it, and what the axes count."""

    title: str
    description: str
    x: str = ""
    y: str = ""


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
    """The paper of a chart and the plot area in it, in SVG units."""

    width: float = 460
    height: float = 268
    left: float = 46
    right: float = 12
    top: float = 26
    bottom: float = 42

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the plot area; y grows downwards."""
        return self.left, self.width - self.right, self.height - self.bottom, self.top

    def across(self, low: float, high: float) -> Scale:
        """A horizontal scale over the plot area."""
        return Scale(low, high, *self.bounds[:2])

    def up(self, low: float, high: float) -> Scale:
        """A vertical scale over the plot area, upwards."""
        return Scale(low, high, *self.bounds[2:])


def round_ticks(most: float, about: int = 4) -> list[float]:
    """0 and some round numbers up to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / about
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw * 0.999)
    return [round(step * i, 10) for i in range(math.ceil(most / step - 1e-9) + 1)]


def root(count: float) -> float:
    """The square root that keeps the sign: one bin often holds most pairs, and the few others must stay visible."""
    return math.copysign(math.sqrt(abs(count)), count)


def root_ticks(most: float, room: float, apart: float = 24) -> list[int]:
    """0 and numbers 1, 2, 5, 10, 20, ... up to `most` that are `apart` on a square-root axis of this length."""
    numbers = [factor * 10**power for power in range(12) for factor in (1, 2, 5)]
    ticks: list[int] = []
    last = room + apart
    for value in reversed([n for n in numbers if n <= most]):
        place = room * math.sqrt(value / most)
        if last - place >= apart and place >= apart * 0.8:
            ticks.append(value)
            last = place
    return [0, *reversed(ticks)]


def short(value: float) -> str:
    """A count for an axis: 1,200 -> 1.2k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def axis_percent(share: float) -> str:
    """A share for an axis: 0.25 -> 25%."""
    return f"{100 * share:.0f}%"


def ticks_at(scale: Scale, values: Iterable[float], label: Callable[[float], str] = "{:g}".format) -> list[Tick]:
    """Values at their places."""
    return [(scale(value), label(value)) for value in values]


def frame(
    plot: Plot, labels: Labels, ticks: tuple[Sequence[Tick], Sequence[Tick]], *marks: Child, movable: bool = False
) -> Markup:
    """The SVG element with grid, axes and their titles around the marks; it scales with its place on the page.

    `ticks` are those of the x and of the y axis. `movable`: the page's script may move a threshold in it.
    """
    x0, x1, bottom, top = plot.bounds
    grid = [tag("line", class_="grid", x1=x0, x2=x1, y1=y, y2=y) for y, _ in ticks[1]]
    y_axis = [tag("text", label, class_="tick end", x=x0 - 7, y=y + 4) for y, label in ticks[1]]
    x_axis = [tag("text", label, class_="tick middle", x=x, y=bottom + 17) for x, label in ticks[0]]
    if ticks[0]:
        x_axis.append(tag("line", class_="axis", x1=x0, x2=x1, y1=bottom, y2=bottom))
    x_title = tag("text", labels.x, class_="axis-title middle", x=(x0 + x1) / 2, y=plot.height - 6)
    # Above the axis and horizontal: easier to read than along it.
    y_title = tag("text", labels.y, class_="axis-title", x=0, y=11)
    return tag(
        "svg",
        tag("title", labels.title),
        tag("desc", labels.description),
        *grid,
        *y_axis,
        *marks,
        *x_axis,
        x_title if labels.x else None,
        y_title if labels.y else None,
        class_="chart",
        viewBox=f"0 0 {plot.width:g} {plot.height:g}",
        role="img",
        **({"data_x0": x0, "data_x1": x1, "data_y0": bottom, "data_y1": top} if movable else {}),
    )
