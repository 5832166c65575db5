"""Comparisons and experiments as files; an experiment's page is in the paper's form, one table per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kedge.config import Config
from kedge.evaluation import metrics_shown
from kedge.experiments.compare import Comparison, compared_rows
from kedge.experiments.paper import published
from kedge.experiments.plots import draw_experiment
from kedge.experiments.reproduce import Reproduced
from kedge.experiments.tables import Entry, csv_text, label_of, markdown_table, shown
from kedge.store import dump_json, translate_disk_errors, write_atomically

PRINTED: Final = ", printed"  # marks the paper's rows


def metric_rows(found: Reproduced, metric: str) -> tuple[list[str], list[list[str]]]:
    """The table of one metric: methods down, points across; then the paper's rows and kedge's gain over them."""
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
        rows.append([f"{method}{PRINTED}", *(f"{by_point[x[p]]:.4f}" for p in points)])
    ours = {entry.point: entry.summary.mean.get(metric) for entry in found.entries if entry.method == Config().method}
    theirs = dict(zip(printed["points"], printed[metric]["MGCN"], strict=True))
    if ours:
        gains = [None if (mean := ours.get(p)) is None else mean - theirs[x[p]] for p in points]
        rows.append([f"kedge − MGCN{PRINTED}", *("–" if gain is None else f"{gain:+.3f}" for gain in gains)])
    return rows


def _costs(entries: Sequence[Entry]) -> tuple[list[str], list[list[str]]]:
    """The cost of each method over all points: the mean CPU seconds of a cell, and the largest memory."""
    rows = []
    for method in dict.fromkeys(entry.method for entry in entries):
        mine = [entry.summary for entry in entries if entry.method == method and entry.summary.seeds]
        one, whole, peaks = (
            [value for summary in mine if (value := getattr(summary, name)) is not None]
            for name in ("scoring_seconds", "cpu_seconds", "peak_mb")
        )
        means = [f"{sum(values) / len(values):,.1f}" if values else "–" for values in (one, whole)]
        rows.append([method, *means, f"{max(peaks):,.0f}" if peaks else "–"])
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
    also = () if experiment.name == "efficiency" else tuple(metric.name for metric in metrics_shown("also"))
    parts += [
        f"## {label_of(metric)}\n\n{markdown_table(*metric_rows(found, metric))}" for metric in (*found.metrics, *also)
    ]
    if also:
        parts.append(f"## Cost of a cell\n\n{markdown_table(*_costs(found.entries))}")
    missing = dict.fromkeys(f"{e.method} at {e.point}: {e.summary.reason}" for e in found.entries if e.summary.reason)
    if missing:
        parts.append("## Without figures\n\n" + "\n".join(f"- {line}" for line in missing) + "\n")
    return "\n".join(parts)


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Each file whole or not at all; directories are made."""
    for path, content in contents.items():
        with translate_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda file, content=content: file.write(content))  # type: ignore[misc]


def write_comparison(folder: Path, found: Comparison) -> None:
    """The table as Markdown, all figures as CSV and JSON."""
    contents = {
        "md": markdown_table(*compared_rows(found)),
        "csv": csv_text(found.entries),
        "json": dump_json(found.plain()),
    }
    write_files({folder / f"comparison.{kind}": text.encode() for kind, text in contents.items()})


def write_experiment(folder: Path, found: Reproduced) -> list[Path]:
    """The page, all figures as CSV and JSON, and the picture; the files."""
    contents = {
        "md": markdown_page(found).encode(),
        "csv": csv_text(found.entries).encode(),
        "json": dump_json(found.plain()).encode(),
        "png": draw_experiment(found, "png"),
        "svg": draw_experiment(found, "svg"),
    }
    files = {folder / f"{found.experiment.name}.{kind}": content for kind, content in contents.items()}
    write_files(files)
    return list(files)
