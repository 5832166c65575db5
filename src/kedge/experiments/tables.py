"""Mean and spread over seeds, and tables of them: Markdown, CSV, JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from kedge.evaluation import METRICS, metrics_shown
from kedge.experiments.measure import Measured
from kedge.ingest import guard_text

_FORWARD = "CPU seconds of 1,000 forward passes"


def label_of(name: str) -> str:
    """A metric's name for people; `forward_seconds` is the one figure of experiments that is not on held-out pairs."""
    return METRICS[name].label if name in METRICS else _FORWARD


@dataclass(frozen=True)
class Summary:
    """A method over its seeds: means, sample standard deviations (None with one seed), mean CPU, largest memory.

    `seeds` counts the cells that gave figures; `reason` is why others did not.
    """

    seeds: int
    mean: Mapping[str, float | None] = field(default_factory=dict)
    spread: Mapping[str, float | None] = field(default_factory=dict)
    cpu_seconds: float | None = None
    scoring_seconds: float | None = None
    peak_mb: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Entry:
    """A row of an experiment: a method at a point, its figures, and what the paper prints there."""

    point: str
    method: str
    summary: Summary
    paper: Mapping[str, float] = field(default_factory=dict)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _spread(values: Sequence[float]) -> float | None:
    """The sample standard deviation, with n - 1 below."""
    if len(values) < 2:
        return None
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def summarise(cells: Sequence[Measured], names: Sequence[str] | None = None) -> Summary:
    """The cells of one method at one point, one per seed; by default every figure that a cell saves."""
    names = [metric.name for metric in metrics_shown("cells")] if names is None else names
    good = [cell for cell in cells if cell.status == "ok" and cell.figures is not None]
    reasons = list(dict.fromkeys(cell.reason for cell in cells if cell.status != "ok"))

    def known(read: Callable[[Measured], float | None]) -> list[float]:
        return [value for value in map(read, good) if value is not None]

    columns = {name: known(lambda cell, name=name: (cell.figures or {}).get(name)) for name in names}  # type: ignore[misc]
    return Summary(
        seeds=len(good),
        mean={name: _mean(values) for name, values in columns.items()},
        spread={name: _spread(values) for name, values in columns.items()},
        cpu_seconds=_mean(known(lambda cell: cell.cpu_seconds)),
        scoring_seconds=_mean(known(lambda cell: cell.scoring_seconds)),
        peak_mb=max(known(lambda cell: cell.peak_mb), default=None),
        reason="; ".join(reasons),
    )


def shown(summary: Summary, name: str, digits: int = 3, brief: bool = False) -> str:
    """A mean with its spread, for people: 0.912 ± 0.004; brief, where a terminal is narrow: .912±.004."""
    mean, spread = summary.mean.get(name), summary.spread.get(name)
    if mean is None:
        return "–"
    texts = [f"{value:.{digits}f}" for value in (mean, spread) if value is not None]
    return "±".join(text.removeprefix("0") for text in texts) if brief else " ± ".join(texts)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; a bar in a cell would end it."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    rule = "|" + "|".join(["---"] + ["---:"] * (len(columns) - 1)) + "|"
    return "\n".join([line(columns), rule, *(line(row) for row in rows)]) + "\n"


def csv_text(entries: Sequence[Entry]) -> str:
    """One line per point, method and metric: mean, spread, seeds and the paper's own figure."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["point", "method", "metric", "mean", "spread", "seeds", "paper", "reason"])
    for entry in entries:
        summary = entry.summary
        figures: dict[str, tuple[float | None, float | None]] = {
            name: (mean, summary.spread.get(name)) for name, mean in summary.mean.items()
        }
        figures |= {name: (getattr(summary, name), None) for name in ("cpu_seconds", "scoring_seconds", "peak_mb")}
        for name, (mean, spread) in figures.items():
            values = ["" if value is None else f"{value:.6g}" for value in (mean, spread)]
            paper = entry.paper.get(name, "")
            texts = guard_text(entry.point), guard_text(summary.reason)
            writer.writerow([texts[0], entry.method, name, *values, summary.seeds, paper, texts[1]])
    return file.getvalue()
