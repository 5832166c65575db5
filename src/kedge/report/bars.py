"""Bars: groups side by side (hits@k), parts of a whole (outcomes by degree), and lying ones (time by stage)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kedge.report.markup import Markup, join, tag
from kedge.report.scales import Plot, Scale, figure_svg, horizontal_grid, round_ticks, short, x_labels, x_title, y_title

__all__ = ["Series", "grouped_bars", "lying_bars", "stacked_shares"]


@dataclass(frozen=True)
class Series:
    """One value a group, with a name and a colour class."""

    name: str
    values: Sequence[float | None]
    colour: str


def percent(share: float) -> str:
    """An axis label: 0.25 -> 25%."""
    return f"{100 * share:.0f}%"


def grouped_bars(
    title: str,
    description: str,
    groups: Sequence[str],
    series: Sequence[Series],
    *,
    x_words: str,
    y_words: str,
    shares: bool = True,
) -> Markup:
    """Bars of each group side by side; shares stand on a fixed axis from 0 to 100%."""
    plot = Plot()
    values = [v for one in series for v in one.values if v is not None]
    ticks = [0, 0.25, 0.5, 0.75, 1.0] if shares else round_ticks(max(values, default=1.0))
    up = Scale(ticks[0], ticks[-1], *plot.y_range)
    label: Callable[[float], str] = percent if shares else short
    x0, x1 = plot.x_range
    step = (x1 - x0) / max(len(groups), 1)
    width = min(34.0, 0.76 * step / max(len(series), 1))
    bars = []
    for g, group in enumerate(groups):
        middle = x0 + step * (g + 0.5)
        for s, one in enumerate(series):
            value = one.values[g]
            if value is None:
                continue
            x = middle + (s - len(series) / 2) * width
            shown = f"{100 * value:.1f}%" if shares else short(value)
            bars.append(
                tag(
                    "rect",
                    class_=f"bar {one.colour}",
                    x=x + 0.75,
                    y=up(value),
                    width=width - 1.5,
                    height=up(0) - up(value),
                    data_tip=f"{group}, {one.name}: {shown}",
                )
            )
            if shares and width >= 22:
                bars.append(tag("text", percent(value), class_="value middle", x=x + width / 2, y=up(value) - 4))
    labels = [(x0 + step * (g + 0.5), group) for g, group in enumerate(groups)]
    return figure_svg(
        plot,
        title,
        description,
        horizontal_grid(plot, up, ticks, label),
        *bars,
        x_labels(plot, labels),
        x_title(plot, x_words),
        y_title(y_words),
    )


def stacked_shares(
    title: str,
    description: str,
    groups: Sequence[str],
    series: Sequence[Series],
    *,
    x_words: str,
    y_words: str,
) -> Markup:
    """Each group as a whole of 100%, cut into parts; the number below a bar says how many it stands for."""
    plot = Plot(bottom=54)
    up = Scale(0, 1, *plot.y_range)
    x0, x1 = plot.x_range
    step = (x1 - x0) / max(len(groups), 1)
    width = min(40.0, 0.8 * step)
    bars = []
    totals = []
    for g, group in enumerate(groups):
        whole = sum(one.values[g] or 0 for one in series)
        totals.append(whole)
        base = 0.0
        for one in series:
            value = one.values[g] or 0
            if not value or not whole:
                continue
            share = value / whole
            bars.append(
                tag(
                    "rect",
                    class_=f"bar {one.colour}",
                    x=x0 + step * (g + 0.5) - width / 2,
                    y=up(base + share),
                    width=width,
                    height=up(base) - up(base + share),
                    data_tip=f"{x_words} {group}, {one.name}: {value:,.0f} of {whole:,.0f} ({100 * share:.0f}%)",
                )
            )
            base += share
    places = [x0 + step * (g + 0.5) for g in range(len(groups))]
    counts = [
        tag("text", short(total), class_="tick small middle", x=place, y=up(0) + 31)
        for place, total in zip(places, totals, strict=True)
    ]
    return figure_svg(
        plot,
        title,
        description,
        horizontal_grid(plot, up, [0, 0.25, 0.5, 0.75, 1.0], percent),
        *bars,
        x_labels(plot, list(zip(places, groups, strict=True))),
        *counts,
        x_title(plot, x_words),
        y_title(y_words),
    )


def lying_bars(
    title: str, description: str, rows: Sequence[tuple[str, float]], unit: str, colour: str, digits: int = 1
) -> Markup:
    """A bar a row, its name above it: long names need no turning and no cutting."""
    plot = Plot(height=34 * max(len(rows), 1) + 6, left=0, top=4, bottom=2)
    across = Scale(0, max([value for _, value in rows], default=1) or 1, 0, plot.width - 90)
    parts = []
    for i, (name, value) in enumerate(rows):
        y = 6 + 34 * i
        parts += [
            tag("text", name, class_="tick", x=0, y=y + 9),
            tag(
                "rect",
                class_=f"bar {colour}",
                x=0,
                y=y + 14,
                width=max(across(value), 1),
                height=10,
                rx=2,
                data_tip=f"{name}: {value:,.{digits}f} {unit}",
            ),
            tag("text", f"{value:,.{digits}f} {unit}", class_="value", x=max(across(value), 1) + 6, y=y + 23),
        ]
    return figure_svg(plot, title, description, join(*parts))
