"""Histograms over probabilities: right pairs above the line and wrong ones below; all assigned pairs by decision.

Counts stand on a square-root axis: one bin often holds most pairs, and the few elsewhere are the ones to look at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kedge.report.markup import Markup, join, tag
from kedge.report.scales import Plot, Scale, figure_svg, short, x_labels, x_title, y_title

__all__ = ["decision_histogram", "mirrored_histogram", "root_ticks"]

_TENTHS = (0, 0.2, 0.4, 0.6, 0.8, 1.0)


def root(count: float) -> float:
    """The square root that keeps the sign."""
    return math.copysign(math.sqrt(abs(count)), count)


def root_ticks(most: float, room: float, apart: float = 24) -> list[int]:
    """0 and numbers 1, 2, 5, 10, 20, ... up to `most` that stand `apart` on a root axis of this length."""
    numbers = [factor * 10**power for power in range(12) for factor in (1, 2, 5)]
    ticks: list[int] = []
    last = room + apart
    for value in reversed([n for n in numbers if n <= most]):
        place = room * math.sqrt(value / most)
        if last - place >= apart and place >= apart * 0.8:
            ticks.append(value)
            last = place
    return [0, *reversed(ticks)]


def _grid(plot: Plot, up: Scale, ticks: Sequence[int]) -> list[Markup]:
    x0, x1 = plot.x_range
    return [
        join(
            tag("line", class_="axis" if t == 0 else "grid", x1=x0, x2=x1, y1=up(root(t)), y2=up(root(t))),
            tag("text", short(abs(t)), class_="tick end", x=x0 - 7, y=up(root(t)) + 4),
        )
        for t in ticks
    ]


def _bin(i: int, bins: int) -> str:
    return f"probability {i / bins:.2f} to {(i + 1) / bins:.2f}"


def mirrored_histogram(title: str, description: str, above: Sequence[int], below: Sequence[int]) -> Markup:
    """Right pairs upwards, wrong ones downwards, on one scale: overlap hides nothing and colour is not needed."""
    plot = Plot()
    bins = len(above)
    high, low = max(1, *above), max(1, *below)
    # Each half gets the room that its tallest bar needs, and some at the least.
    up = Scale(-max(root(low), root(high) / 4), max(root(high), root(low) / 4), *plot.y_range)
    across = Scale(0, bins, *plot.x_range)
    width = across(1) - across(0)
    upper = root_ticks(high, up(0) - up(root(high)))
    lower = root_ticks(low, up(root(-low)) - up(0))
    bars = []
    for counts, sign, colour, word in ((above, 1, "good", "right"), (below, -1, "bad", "wrong")):
        for i, count in enumerate(counts):
            if count:
                top, bottom = sorted((up(0), up(root(sign * count))))
                place = {"x": across(i) + 0.75, "y": top, "width": width - 1.5, "height": bottom - top}
                bars.append(tag("rect", class_=f"bar {colour}", data_tip=f"{_bin(i, bins)}: {count:,} {word}", **place))
    return figure_svg(
        plot,
        title,
        description,
        *_grid(plot, up, [*(-t for t in reversed(lower[1:])), *upper]),
        *bars,
        x_labels(plot, [(across(t * bins), f"{t:g}") for t in _TENTHS]),
        x_title(plot, "probability said"),
        y_title("pairs: right above, wrong below (square-root scale)"),
    )


def decision_histogram(
    title: str, description: str, counts: Sequence[int], threshold: float, review_from: float, plot: Plot
) -> Markup:
    """All assigned pairs by probability, coloured by what the threshold makes of them; the script may move it."""
    bins = len(counts)
    most = max([*counts, 1])
    up = Scale(0, root(most), *plot.y_range)
    across = Scale(0, 1, *plot.x_range)
    width = across(1 / bins) - across(0)
    bars = []
    for i, count in enumerate(counts):
        if count:
            middle = (i + 0.5) / bins
            colour = "match" if middle >= threshold else "review" if middle >= review_from else "none"
            y = up(root(count))
            place = {"x": across(i / bins) + 0.5, "y": y, "width": width - 1, "height": up(0) - y}
            tip = f"{_bin(i, bins)}: {count:,} assigned pairs"
            bars.append(tag("rect", class_=f"bar {colour}", data_middle=f"{middle:.3f}", data_tip=tip, **place))
    x, (y0, y1), (x0, x1) = across(threshold), plot.y_range, plot.x_range
    return figure_svg(
        plot,
        title,
        description,
        *_grid(plot, up, root_ticks(most, y0 - y1)),
        *bars,
        x_labels(plot, [(across(t), f"{t:g}") for t in _TENTHS]),
        x_title(plot, "probability of the pair"),
        y_title("assigned pairs (square-root scale)"),
        tag("line", class_="guide", x1=x, x2=x, y1=y0, y2=y1, data_guide=True),
        data_x0=x0,
        data_x1=x1,
        data_y0=y0,
        data_y1=y1,
    )
