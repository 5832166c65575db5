"""How the run went: training curves, sizes of the parts, time and memory by stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedge.report.bars import Series, grouped_bars, lying_bars
from kedge.report.figure import Figure, Key
from kedge.report.gather import Facts
from kedge.report.lines import Line, line_chart
from kedge.report.scales import round_ticks

__all__ = ["memory_figure", "parts_figure", "seconds_figure", "training_figures"]


def training_figures(training: Mapping[str, Any]) -> list[Figure]:
    """One chart a quantity: `{"curves": {"loss": {"left": [...], "right": [...]}}}`, thinned to what an eye can see."""
    figures = []
    for quantity, curves in training["curves"].items():
        length = max((len(values) for values in curves.values()), default=0)
        if length < 2:
            continue
        steps = list(range(0, length, max(1, length // 200)))
        lines, legend = [], []
        for (name, values), colour in zip(curves.items(), ("precision", "recall", "third", "good"), strict=False):
            lines.append(Line(name, [values[i] if i < len(values) else None for i in steps], colour))
            legend.append(Key(name, colour, "line"))
        title = f"Training: {quantity}"
        words = ", ".join(f"{name} ended at {values[-1]:.4g}" for name, values in curves.items() if values)
        chart = line_chart(title, words, steps, lines, x_ticks=round_ticks(length), x_words="step", y_words=quantity)
        shown = steps[:: max(1, len(steps) // 20)]
        rows = tuple(
            (str(i), *(f"{values[i]:.4g}" if i < len(values) else "" for values in curves.values())) for i in shown
        )
        figures.append(
            Figure(f"training-{quantity}", title, f"{words}.", chart, tuple(legend), ("step", *curves), rows)
        )
    return figures


def parts_figure(parts: Mapping[str, Any]) -> Figure:
    """`{"left": [sizes], "right": [sizes]}`, the largest 40 of each side."""
    sides = {side: sorted(parts.get(side, ()), reverse=True)[:40] for side in ("left", "right")}
    most = max(len(sizes) for sizes in sides.values())
    groups = [str(i + 1) for i in range(most)]
    series = [
        Series(side, [sizes[i] if i < len(sizes) else None for i in range(most)], side) for side, sizes in sides.items()
    ]
    words = "; ".join(f"{side}: {len(parts.get(side, ())):,} parts{_worst_fit(parts, side)}" for side in sides)
    words = ". ".join((words, *parts.get("notes", ())))
    chart = grouped_bars(
        "Sizes of the parts", words, groups, series, x_words="part, the largest first", y_words="accounts", shares=False
    )
    rows = tuple((group, *(str(one.values[i] or "") for one in series)) for i, group in enumerate(groups))
    legend = tuple(Key(side, side) for side in sides)
    return Figure("parts", "Sizes of the parts", words, chart, legend, ("part", "left", "right"), rows)


def _worst_fit(parts: Mapping[str, Any], side: str) -> str:
    """How far the part that fits the others least stands from them (Eq. 12): 0 is exactly, 1 not at all."""
    residuals = parts.get("residuals", {}).get(side, ())
    return f", the worst residual {max(residuals):.2f}" if len(residuals) > 1 else ""


def seconds_figure(facts: Facts) -> Figure:
    """CPU seconds by stage."""
    rows = [(stage["name"], float(stage["cpu_seconds"])) for stage in facts.stages]
    total = sum(value for _, value in rows)
    chart = lying_bars("CPU seconds by stage", f"{total:,.1f} CPU seconds in all.", rows, "s", "match", 2)
    caption = f"{total:,.1f} CPU seconds in all stages, without reading the input."
    table = tuple((name, f"{value:,.2f}") for name, value in rows)
    return Figure("seconds", "Time by stage", caption, chart, (), ("stage", "CPU seconds"), table)


def memory_figure(facts: Facts) -> Figure:
    """Peak memory by stage."""
    rows = [(stage["name"], float(stage["peak_mb"])) for stage in facts.stages]
    chart = lying_bars("Memory by stage", "Peak resident memory at the end of each stage.", rows, "MB", "right", 0)
    caption = "The largest resident memory of the process up to the end of the stage."
    table = tuple((stage["name"], f"{stage['peak_mb']:,.0f}", f"{stage['bytes']:,}") for stage in facts.stages)
    return Figure("memory", "Memory by stage", caption, chart, (), ("stage", "peak MB", "bytes written"), table)
