"""Pictures as files of their own, for a paper or a slide: a figure of the report, and the evidence for one pair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kedge.report.blocks import Figure, key_sign
from kedge.report.markup import Markup, join, number, raw_style_or_script, static, tag

_EDGE = 14.0
_LETTER = 6.6  # width of a letter, rather too large than too small: SVG has no layout engine
_ROW: Final = 26
_LABEL: Final = 330
_BARS: Final = 380
_VALUE: Final = 70
# Okabe and Ito's blue and vermilion, which most colour-blind people can distinguish.
_FOR, _AGAINST, _TOTAL = "#0072b2", "#d55e00", "#333333"


def _chart_size(figure: Figure) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', figure.chart.html)
    if found is None:
        raise ValueError(f"figure {figure.name} has no size")
    return float(found[1]), float(found[2])


def _legend(figure: Figure, width: float) -> tuple[Markup, float]:
    """The legend in rows below the title, and its height."""
    parts, x, y = [], 0.0, 0.0
    for key in figure.legend:
        wide = 28 + _LETTER * len(key.words) + 14
        if x and x + wide > width:
            x, y = 0.0, y + 18
        words = tag("text", key.words, x=27, y=10.5)
        parts.append(tag("g", key_sign(key), words, transform=f"translate({number(x)} {number(y)})"))
        x += wide
    return join(*parts), (y + 20 if parts else 0.0)


def standalone_size(figure: Figure) -> tuple[int, int]:
    """Width and height of the file."""
    width, height = _chart_size(figure)
    return round(width + 2 * _EDGE), round(height + 2 * _EDGE + 28 + _legend(figure, width)[1])


def standalone_svg(figure: Figure) -> str:
    """The file's text."""
    width, height = _chart_size(figure)
    whole_width, whole_height = standalone_size(figure)
    keys, below = _legend(figure, width)
    chart = Markup(
        figure.chart.html.replace("<svg ", f'<svg y="{number(28 + below)}" width="{width:g}" height="{height:g}" ', 1)
    )
    return (
        tag(
            "svg",
            raw_style_or_script(
                "style",
                static("light.css")
                + static("chart.css")
                + ".chart text.heading{font-weight:600;font-size:14px;fill:var(--ink)}",
            ),
            tag("rect", width=whole_width, height=whole_height, fill="#ffffff"),
            tag(
                "g",
                tag("text", figure.title, class_="heading", x=0, y=13),
                tag("g", keys, transform="translate(0 24)"),
                chart,
                class_="chart",
                transform=f"translate({number(_EDGE)} {number(_EDGE)})",
            ),
            xmlns="http://www.w3.org/2000/svg",
            width=whole_width,
            height=whole_height,
            viewBox=f"0 0 {whole_width} {whole_height}",
        ).html
        + "\n"
    )


def waterfall_svg(title: str, steps: Sequence[tuple[str, float]]) -> str:
    """An SVG file: the steps one below the other, each beginning where the one before ended, and their total."""
    total = sum(value for _, value in steps)
    reach = [0.0]
    for _, value in steps:
        reach.append(reach[-1] + value)
    low, high = min(reach), max(reach)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return _LABEL + (value - low) / span * _BARS

    parts = [tag("text", title, x=12, y=24, font_size=15, font_weight=600, fill=_TOTAL)]
    rows = [(name, value, start) for (name, value), start in zip(steps, reach, strict=False)] + [("total", total, 0.0)]
    for i, (name, value, start) in enumerate(rows):
        top = 42 + _ROW * i
        last = i == len(rows) - 1
        left, right = sorted((x(start), x(start + value)))
        colour = _TOTAL if last else _FOR if value >= 0 else _AGAINST
        shown = name if len(name) <= 44 else name[:43] + "\N{HORIZONTAL ELLIPSIS}"
        parts += [
            tag("text", shown, x=_LABEL - 10, y=top + 15, text_anchor="end", font_size=12, fill=_TOTAL),
            tag("rect", x=number(left), y=top + 3, width=number(max(right - left, 1.5)), height=_ROW - 8, fill=colour),
            tag("text", f"{value:+.2f}", x=_LABEL + _BARS + 8, y=top + 15, font_size=12, fill=_TOTAL),
        ]
    zero = number(x(0.0))
    height = 42 + _ROW * len(rows) + 12
    parts.append(tag("line", x1=zero, x2=zero, y1=38, y2=height - 8, stroke="#999999", stroke_dasharray="2 3"))
    width = _LABEL + _BARS + _VALUE
    return tag(
        "svg",
        tag("title", title),
        tag("rect", x=0, y=0, width=width, height=height, fill="#ffffff"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        font_family="system-ui, sans-serif",
    ).html
