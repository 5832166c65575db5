"""A reproduced experiment in the paper's form, as Markdown: a table a metric, the paper's own rows below ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kedge.experiments.paper import MACRO, published
from kedge.experiments.reproduce import Reproduced
from kedge.experiments.tables import WORDS, Entry, markdown_table, shown

__all__ = ["markdown_page", "metric_rows", "metrics_of"]

_ALSO: Final = ("macro_f1_1to2", "hits1", "mrr")


def metrics_of(found: Reproduced) -> tuple[str, ...]:
    """The metrics that an experiment is about."""
    return ("forward_seconds",) if found.experiment.name == "efficiency" else MACRO


def metric_rows(found: Reproduced, metric: str) -> tuple[list[str], list[list[str]]]:
    """The table of one metric: methods down, points across; then the paper's rows and how far kedge is ahead."""
    points = list(dict.fromkeys(entry.point for entry in found.entries))
    methods = list(dict.fromkeys(entry.method for entry in found.entries))
    at = {(entry.point, entry.method): entry for entry in found.entries}
    digits = 2 if metric == "forward_seconds" else 3
    rows = [[method, *(shown(at[p, method].summary, metric, digits) for p in points)] for method in methods]
    rows += _paper_rows(found, metric, points)
    return [found.experiment.axis, *points], rows


def _paper_rows(found: Reproduced, metric: str, points: Sequence[str]) -> list[list[str]]:
    printed = published()[found.experiment.name]
    if metric not in printed:
        return []
    x = {point.label: point.x for point in found.experiment.points}
    rows = []
    for method, values in printed[metric].items():
        by_point = dict(zip(printed["points"], values, strict=True))
        rows.append([f"{method}, printed", *(f"{by_point[x[p]]:.4f}" for p in points)])
    ours = {entry.point: entry.summary.mean.get(metric) for entry in found.entries if entry.method == "kedge"}
    theirs = dict(zip(printed["points"], printed[metric]["MGCN"], strict=True))
    if ours:
        gains = [None if (mean := ours.get(p)) is None else mean - theirs[x[p]] for p in points]
        rows.append(["kedge − MGCN, printed", *("–" if gain is None else f"{gain:+.3f}" for gain in gains)])
    return rows


def _costs(entries: Sequence[Entry]) -> tuple[list[str], list[list[str]]]:
    """What each method cost, over all points: the mean CPU seconds of a cell, and the largest memory."""
    rows = []
    for method in dict.fromkeys(entry.method for entry in entries):
        mine = [entry.summary for entry in entries if entry.method == method and entry.summary.seeds]
        whole, one = (
            [value for s in mine if (value := getattr(s, name)) is not None]
            for name in ("cpu_seconds", "scoring_seconds")
        )
        peak = max((s.peak_mb for s in mine if s.peak_mb is not None), default=None)
        rows.append(
            [
                method,
                f"{sum(one) / len(one):,.1f}" if one else "–",
                f"{sum(whole) / len(whole):,.1f}" if whole else "–",
                "–" if peak is None else f"{peak:,.0f}",
            ]
        )
    return ["method", "scoring, CPU s", "with calibration, CPU s", "MB"], rows


def markdown_page(found: Reproduced) -> str:
    """The whole experiment as a page."""
    experiment, printed = found.experiment, published()[found.experiment.name]
    many = f"{found.seeds} seeds, mean ± standard deviation." if found.seeds > 1 else "One seed."
    parts = [
        f"# {experiment.title}\n",
        f"{printed['place']} of the paper, on {found.source}. {many} {experiment.note}\n",
        *([] if printed["points"] else [f"The paper: {printed['note']}\n"]),
        *(f"Note: {note}.\n" for note in found.notes),
    ]
    for metric in metrics_of(found):
        title = WORDS.get(metric, "CPU seconds of 1,000 forward passes")
        parts.append(f"## {title}\n\n{markdown_table(*metric_rows(found, metric))}")
    if experiment.name != "efficiency":
        parts += [f"## {WORDS[metric]}\n\n{markdown_table(*metric_rows(found, metric))}" for metric in _ALSO]
        parts.append(f"## Cost of a cell\n\n{markdown_table(*_costs(found.entries))}")
    missing = dict.fromkeys(f"{e.method} at {e.point}: {e.summary.reason}" for e in found.entries if e.summary.reason)
    if missing:
        parts.append("## Without figures\n\n" + "\n".join(f"- {line}" for line in missing) + "\n")
    return "\n".join(parts)
