"""Figures of the report as files of their own, for a paper or a slide."""

from __future__ import annotations

import re

from kedge.report.blocks import Figure, key_sign
from kedge.report.markup import Markup, join, number, raw_style_or_script, static, tag

_EDGE = 14.0
_LETTER = 6.6  # width of a letter, rather too large than too small: SVG has no layout engine


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
