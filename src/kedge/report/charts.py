"""The kinds of charts: bars, lines, histograms over probabilities, and the reliability plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kedge.report.axes import (
    Labels,
    Plot,
    Scale,
    axis_percent,
    frame,
    root,
    root_ticks,
    round_ticks,
    short,
    ticks_at,
)
from kedge.report.facts import interval
from kedge.report.markup import Markup, join, number, tag

_QUARTERS: Final = (0, 0.25, 0.5, 0.75, 1.0)
_FIFTHS: Final = (0, 0.2, 0.4, 0.6, 0.8, 1.0)
_WIDE: Final = Plot(width=600, left=56, height=310)  # the threshold chart; the histogram below it has the same width


class _Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def _bar(colour: str, box: _Box, tip: str, **more: str | float) -> Markup:
    return tag("rect", class_=f"bar {colour}", **box._asdict(), data_tip=tip, **more)


def _mark(shape: str, colour: str, place: tuple[float, float], radius: float, tip: str | None = None) -> Markup:
    """A circle or a square: lines and series can be distinguished without colour."""
    x, y = place
    style = {"class_": f"mark {colour}", "data_tip": tip}
    if shape == "circle":
        return tag("circle", cx=x, cy=y, r=radius, **style)
    half = 0.9 * radius
    return tag("rect", x=x - half, y=y - half, width=2 * half, height=2 * half, **style)


@dataclass(frozen=True)
class Series:
    """One value for each group, with a name and a colour class."""

    name: str
    values: Sequence[float | None]
    colour: str


def _middles(plot: Plot, groups: Sequence[str]) -> tuple[list[float], float]:
    """The middle of each group on the x axis, and the room of each."""
    x0, x1, _, _ = plot.bounds
    step = (x1 - x0) / max(len(groups), 1)
    return [x0 + step * (g + 0.5) for g in range(len(groups))], step


def grouped_bars(labels: Labels, groups: Sequence[str], series: Sequence[Series], shares: bool = True) -> Markup:
    """Bars of each group side by side; shares have a fixed axis from 0 to 100%."""
    plot = Plot()
    values = [v for one in series for v in one.values if v is not None]
    ticks = _QUARTERS if shares else round_ticks(max(values, default=1.0))
    up = plot.up(ticks[0], ticks[-1])
    middles, step = _middles(plot, groups)
    width = min(34.0, 0.76 * step / max(len(series), 1))
    bars = []
    for g, (group, middle) in enumerate(zip(groups, middles, strict=True)):
        for s, one in enumerate(series):
            value = one.values[g]
            if value is None:
                continue
            x = middle + (s - len(series) / 2) * width
            shown = f"{100 * value:.1f}%" if shares else short(value)
            box = _Box(x + 0.75, up(value), width - 1.5, up(0) - up(value))
            bars.append(_bar(one.colour, box, f"{group}, {one.name}: {shown}"))
            if shares and width >= 22:
                bars.append(tag("text", axis_percent(value), class_="value middle", x=x + width / 2, y=up(value) - 4))
    y_ticks = ticks_at(up, ticks, axis_percent if shares else short)
    return frame(plot, labels, (list(zip(middles, groups, strict=True)), y_ticks), *bars)


def stacked_shares(labels: Labels, groups: Sequence[str], series: Sequence[Series]) -> Markup:
    """Each group as a whole of 100%, cut into parts; the number below a bar counts what is in it."""
    plot = Plot(bottom=54)
    up = plot.up(0, 1)
    middles, step = _middles(plot, groups)
    width = min(40.0, 0.8 * step)
    bars = []
    for g, (group, middle) in enumerate(zip(groups, middles, strict=True)):
        whole = sum(one.values[g] or 0 for one in series)
        base = 0.0
        for one in series:
            value = one.values[g] or 0
            if not value:
                continue
            share = value / whole
            box = _Box(middle - width / 2, up(base + share), width, up(base) - up(base + share))
            tip = f"{labels.x} {group}, {one.name}: {value:,.0f} of {whole:,.0f} ({100 * share:.0f}%)"
            bars.append(_bar(one.colour, box, tip))
            base += share
        bars.append(tag("text", short(whole), class_="tick small middle", x=middle, y=up(0) + 31))
    y_ticks = ticks_at(up, _QUARTERS, axis_percent)
    return frame(plot, labels, (list(zip(middles, groups, strict=True)), y_ticks), *bars)


def horizontal_bars(labels: Labels, rows: Sequence[tuple[str, float]], unit: str, colour: str, digits: int) -> Markup:
    """One bar per row with its name above it: long names need neither rotation nor cutting."""
    plot = Plot(height=34 * max(len(rows), 1) + 6, left=0, top=4, bottom=2)
    across = Scale(0, max([value for _, value in rows], default=1) or 1, 0, plot.width - 90)
    parts = []
    for i, (name, value) in enumerate(rows):
        y, width, shown = 6 + 34 * i, max(across(value), 1), f"{value:,.{digits}f} {unit}"
        parts += [
            tag("text", name, class_="tick", x=0, y=y + 9),
            _bar(colour, _Box(0, y + 14, width, 10), f"{name}: {shown}", rx=2),
            tag("text", shown, class_="value", x=width + 6, y=y + 23),
        ]
    return frame(plot, labels, ((), ()), *parts)


@dataclass(frozen=True)
class Line:
    """Values along x, None where there is none; `colour` is a class of the style sheet, `shape` marks points on it.

    `key` is its name in the page's script, which moves a dot on it to the chosen threshold.
    """

    name: str
    y: Sequence[float | None]
    colour: str
    dashed: bool = False
    shape: str = ""
    key: str | None = None


def _path(x: Sequence[float], line: Line, across: Scale, up: Scale) -> Markup:
    """A line, which breaks where a value is missing, with a mark at every tenth point."""
    words: list[str] = []
    pen = "M"
    for a, b in zip(x, line.y, strict=True):
        if b is not None:
            words.append(f"{pen}{number(across(a))} {number(up(b))}")
        pen = "M" if b is None else "L"
    path = tag("path", class_=f"line {line.colour}{' dashed' if line.dashed else ''}", d="".join(words))
    if not line.shape:
        return path
    step = max(1, len(x) // 10)
    places = [(across(x[i]), up(v)) for i in range(step // 2, len(x), step) if (v := line.y[i]) is not None]
    return join(path, *(_mark(line.shape, line.colour, place, 3.2) for place in places))


def line_chart(labels: Labels, x: Sequence[float], lines: Sequence[Line], x_ticks: Sequence[float]) -> Markup:
    """Several lines over a numeric axis."""
    plot = Plot()
    y_ticks = round_ticks(max([v for line in lines for v in line.y if v is not None], default=1.0))
    across, up = plot.across(x_ticks[0], x_ticks[-1]), plot.up(y_ticks[0], y_ticks[-1])
    drawn = [_path(x, line, across, up) for line in lines]
    return frame(plot, labels, (ticks_at(across, x_ticks), ticks_at(up, y_ticks, short)), *drawn)


def _guide(plot: Plot, x: float) -> Markup:
    _, _, bottom, top = plot.bounds
    return tag("line", class_="guide", x1=x, x2=x, y1=bottom, y2=top, data_guide=True)


def threshold_chart(labels: Labels, thresholds: Sequence[float], lines: Sequence[Line], chosen: float) -> Markup:
    """Shares by threshold; a vertical line with a dot on every keyed line is at the chosen one."""
    across, up = _WIDE.across(0, 1), _WIDE.up(0, 1)
    place = min(range(len(thresholds)), key=lambda i: abs(thresholds[i] - chosen))
    dots = [
        tag(
            "circle",
            class_=f"dot {line.colour}",
            cx=across(chosen),
            cy=up(value or 0),
            r=4.5,
            data_dot=line.key,
            visibility="hidden" if value is None else None,
        )
        for line, value in ((line, line.y[place]) for line in lines if line.key is not None)
    ]
    drawn = [_path(thresholds, line, across, up) for line in lines]
    ticks = ticks_at(across, _FIFTHS), ticks_at(up, _QUARTERS, axis_percent)
    return frame(_WIDE, labels, ticks, *drawn, _guide(_WIDE, across(chosen)), *dots, movable=True)


def _bin(i: int, bins: int) -> str:
    return f"probability {i / bins:.2f} to {(i + 1) / bins:.2f}"


def mirrored_histogram(labels: Labels, above: Sequence[int], below: Sequence[int]) -> Markup:
    """Right pairs upwards, wrong ones downwards, on one scale: they hide nothing of each other."""
    plot = Plot()
    bins = len(above)
    high, low = max(1, *above), max(1, *below)
    # Each half gets the room that its tallest bar needs, and some at the least.
    up = plot.up(-max(root(low), root(high) / 4), max(root(high), root(low) / 4))
    across = plot.across(0, bins)
    width = across(1) - across(0)
    counts = [*root_ticks(high, up(0) - up(root(high))), *(-t for t in root_ticks(low, up(root(-low)) - up(0))[1:])]
    x0, x1, _, _ = plot.bounds
    marks = [tag("line", class_="axis", x1=x0, x2=x1, y1=up(0), y2=up(0))]
    for values, sign, colour, word in ((above, 1, "good", "right"), (below, -1, "bad", "wrong")):
        for i, count in enumerate(values):
            if count:
                top, bottom = sorted((up(0), up(root(sign * count))))
                box = _Box(across(i) + 0.75, top, width - 1.5, bottom - top)
                marks.append(_bar(colour, box, f"{_bin(i, bins)}: {count:,} {word}"))
    y_ticks = [(up(root(t)), short(abs(t))) for t in counts]
    return frame(plot, labels, ([(across(t * bins), f"{t:g}") for t in _FIFTHS], y_ticks), *marks)


def decision_histogram(labels: Labels, counts: Sequence[int], threshold: float, review_from: float) -> Markup:
    """All assigned pairs by probability, coloured by decision; the script may move the threshold."""
    plot = Plot(width=_WIDE.width, left=_WIDE.left, height=170)
    bins, most = len(counts), max([*counts, 1])
    up, across = plot.up(0, root(most)), plot.across(0, 1)
    width = across(1 / bins) - across(0)
    bars = []
    for i, count in enumerate(counts):
        if count:
            middle = (i + 0.5) / bins
            colour = "match" if middle >= threshold else "review" if middle >= review_from else "none"
            y = up(root(count))
            box = _Box(across(i / bins) + 0.5, y, width - 1, up(0) - y)
            bars.append(_bar(colour, box, f"{_bin(i, bins)}: {count:,} assigned pairs", data_middle=f"{middle:.3f}"))
    y_ticks = [(up(root(t)), short(t)) for t in root_ticks(most, up(0) - up(root(most)))]
    ticks = ticks_at(across, _FIFTHS), y_ticks
    return frame(plot, labels, ticks, *bars, _guide(plot, across(threshold)), movable=True)


def reliability_chart(
    labels: Labels, validation: Sequence[Mapping[str, Any]], test: Sequence[Mapping[str, Any]]
) -> Markup:
    """One mark per bin with its 95% interval; on the diagonal the probabilities are right."""
    plot = Plot()
    across, up = plot.across(0, 1), plot.up(0, 1)
    marks = [tag("line", class_="diagonal", x1=across(0), y1=up(0), x2=across(1), y2=up(1))]
    for rows, colour, shape, words in (
        (validation, "precision", "circle", "validation anchors"),
        (test, "recall", "square", "test pairs"),
    ):
        for row in rows:
            low, high = interval(row["right"], row["pairs"])
            x, share = across(row["predicted"]), row["right"] / row["pairs"]
            tip = (
                f"{words}: predicted {row['predicted']:.2f}, right {share:.2f} ({row['right']:,} of {row['pairs']:,}; "
                f"95% interval {low:.2f} to {high:.2f})"
            )
            marks.append(tag("line", class_=f"whisker {colour}", x1=x, x2=x, y1=up(low or 0), y2=up(high or 0)))
            marks.append(_mark(shape, colour, (x, up(share)), 4.5, tip))
    return frame(plot, labels, (ticks_at(across, _FIFTHS), ticks_at(up, _FIFTHS)), *marks)
