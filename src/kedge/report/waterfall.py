"""The evidence for one pair as a picture: one bar per step, from 0 to the log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kedge.report.markup import number, tag

_ROW: Final = 26
_LABEL: Final = 330
_BARS: Final = 380
_VALUE: Final = 70
# Okabe and Ito's blue and vermilion, which most colour-blind people can distinguish.
_FOR, _AGAINST, _TOTAL = "#0072b2", "#d55e00", "#333333"


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
