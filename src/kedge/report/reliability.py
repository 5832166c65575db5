"""The reliability plot: of the pairs said to be right with probability p, how many are?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kedge.report.gather import interval
from kedge.report.markup import Markup, tag
from kedge.report.scales import Plot, Scale, figure_svg, horizontal_grid, x_labels, x_title, y_title

__all__ = ["reliability_chart"]

_FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1.0)


def reliability_chart(
    title: str, description: str, held_out: Sequence[Mapping[str, Any]], test: Sequence[Mapping[str, Any]] | None
) -> Markup:
    """A mark a bin with its 95% interval; on the diagonal a probability means what it says."""
    plot = Plot()
    across, up = Scale(0, 1, *plot.x_range), Scale(0, 1, *plot.y_range)
    diagonal = tag("line", class_="diagonal", x1=across(0), y1=up(0), x2=across(1), y2=up(1))
    marks = []
    for rows, colour, shape, words in (
        (held_out, "precision", "circle", "held-out anchors"),
        (test or (), "recall", "square", "test pairs"),
    ):
        for row in rows:
            low, high = interval(row["right"], row["pairs"])
            x, share = across(row["said"]), row["right"] / row["pairs"]
            tip = (
                f"{words}: said {row['said']:.2f}, right {share:.2f} ({row['right']:,} of {row['pairs']:,}; "
                f"95% interval {low:.2f} to {high:.2f})"
            )
            marks.append(tag("line", class_=f"whisker {colour}", x1=x, x2=x, y1=up(low or 0), y2=up(high or 0)))
            if shape == "circle":
                marks.append(tag("circle", class_=f"mark {colour}", cx=x, cy=up(share), r=4.5, data_tip=tip))
            else:
                marks.append(
                    tag("rect", class_=f"mark {colour}", x=x - 4, y=up(share) - 4, width=8, height=8, data_tip=tip)
                )
    return figure_svg(
        plot,
        title,
        description,
        horizontal_grid(plot, up, _FIFTHS, lambda t: f"{t:g}"),
        x_labels(plot, [(across(t), f"{t:g}") for t in _FIFTHS]),
        x_title(plot, "probability said"),
        y_title("share that was right"),
        diagonal,
        *marks,
    )
