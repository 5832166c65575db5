"""Histograms over probabilities: right pairs above the line and wrong ones below; all assigned pairs by decision."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.report.markup import Markup, join, tag
from kedge.report.scales import Plot, Scale, figure_svg, round_ticks, short, x_labels, x_title, y_title

__all__ = ["decision_histogram", "mirrored_histogram"]

_TENTHS = (0, 0.2, 0.4, 0.6, 0.8, 1.0)


def mirrored_histogram(title: str, description: str, above: Sequence[int], below: Sequence[int]) -> Markup:
    """Right pairs upwards, wrong ones downwards, on one scale: overlap hides nothing and colour is not needed."""
    plot = Plot()
    bins = len(above)
    ticks = round_ticks(max(*above, *below, 1), 3)
    # Each half gets the room that its tallest bar needs, on the same unit.
    up_to = next(t for t in ticks if t >= max(above, default=0)) or ticks[1]
    down_to = next(t for t in ticks if t >= max(below, default=0)) or ticks[1]
    up = Scale(-down_to, up_to, *plot.y_range)
    across = Scale(0, bins, *plot.x_range)
    width = across(1) - across(0)
    marks = [t for t in (*(-t for t in reversed(ticks[1:])), *ticks) if -down_to <= t <= up_to]
    x0, x1 = plot.x_range
    grid = [
        join(
            tag("line", class_="axis" if t == 0 else "grid", x1=x0, x2=x1, y1=up(t), y2=up(t)),
            tag("text", short(abs(t)), class_="tick end", x=x0 - 7, y=up(t) + 4),
        )
        for t in marks
    ]
    bars = []
    for counts, sign, colour, word in ((above, 1, "good", "right"), (below, -1, "bad", "wrong")):
        for i, count in enumerate(counts):
            if count:
                top, bottom = sorted((up(0), up(sign * count)))
                bars.append(
                    tag(
                        "rect",
                        class_=f"bar {colour}",
                        x=across(i) + 0.75,
                        y=top,
                        width=width - 1.5,
                        height=bottom - top,
                        data_tip=f"probability {i / bins:.2f} to {(i + 1) / bins:.2f}: {count:,} {word}",
                    )
                )
    return figure_svg(
        plot,
        title,
        description,
        *grid,
        *bars,
        x_labels(plot, [(across(t * bins), f"{t:g}") for t in _TENTHS]),
        x_title(plot, "probability said"),
        y_title("pairs (right above the line, wrong below)"),
    )


def decision_histogram(
    title: str, description: str, counts: Sequence[int], threshold: float, review_from: float
) -> Markup:
    """All assigned pairs by probability, coloured by what the threshold makes of them; the script may move it."""
    plot = Plot(height=150, top=18)
    bins = len(counts)
    ticks = round_ticks(max([*counts, 1]), 2)
    up = Scale(0, ticks[-1], *plot.y_range)
    across = Scale(0, 1, *plot.x_range)
    width = across(1 / bins) - across(0)
    x0, x1 = plot.x_range
    grid = [
        join(
            tag("line", class_="grid", x1=x0, x2=x1, y1=up(t), y2=up(t)),
            tag("text", short(t), class_="tick end", x=x0 - 7, y=up(t) + 4),
        )
        for t in ticks
    ]
    bars = []
    for i, count in enumerate(counts):
        if count:
            middle = (i + 0.5) / bins
            colour = "match" if middle >= threshold else "review" if middle >= review_from else "none"
            bars.append(
                tag(
                    "rect",
                    class_=f"bar {colour}",
                    x=across(i / bins) + 0.4,
                    y=up(count),
                    width=width - 0.8,
                    height=up(0) - up(count),
                    data_middle=f"{middle:.3f}",
                    data_tip=f"probability {i / bins:.2f} to {(i + 1) / bins:.2f}: {count:,} assigned pairs",
                )
            )
    guide = tag(
        "line",
        class_="guide",
        x1=across(threshold),
        x2=across(threshold),
        y1=plot.y_range[0],
        y2=plot.y_range[1],
        data_guide=True,
    )
    return figure_svg(
        plot,
        title,
        description,
        *grid,
        *bars,
        x_labels(plot, [(across(t), f"{t:g}") for t in _TENTHS]),
        x_title(plot, "probability of the pair"),
        y_title("assigned pairs"),
        guide,
        data_x0=x0,
        data_x1=x1,
        data_y0=plot.y_range[0],
        data_y1=plot.y_range[1],
    )
