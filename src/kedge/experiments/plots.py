"""Pictures of comparisons and experiments, as bytes of a PNG, SVG or PDF file.

Colours are Okabe and Ito's, which are distinct in any colour vision; every line has its own marker too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

from kedge.context import need_extra
from kedge.errors import KedgeError
from kedge.evaluation import metrics_shown
from kedge.experiments.compare import Comparison
from kedge.experiments.paper import published
from kedge.experiments.reproduce import Reproduced
from kedge.experiments.tables import label_of

FORMATS: Final = ("png", "svg", "pdf")
_COLOURS: Final = ("#0072B2", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#7F7F7F", "#B8A200")
_MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X", "<", ">")
_PAPER_GREY: Final = "#555555"
_STYLE: Final = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "svg.hashsalt": "kedge",
    "svg.fonttype": "none",
}


def _start(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    need_extra("plots", "drawing")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(_STYLE)
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
    return figure, axes


def _finish(figure: Any, format: str) -> bytes:
    import matplotlib.pyplot as plt

    if format not in FORMATS:
        raise KedgeError(f"no format {format!r} for a picture", remedy=f"choose one of: {', '.join(FORMATS)}")
    file = io.BytesIO()
    # Without a date the same figures give the same bytes.
    clean = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[format]
    figure.savefig(file, format=format, dpi=130, metadata=clean)
    plt.close(figure)
    return file.getvalue()


def draw_comparison(comparison: Comparison, format: str = "png") -> bytes:
    """One panel per metric, one bar per method with its spread and its value; best first."""
    metrics = metrics_shown("brief")
    entries = [entry for entry in comparison.entries if entry.summary.mean.get("mrr") is not None]
    if not entries:
        raise KedgeError("no method gave figures to draw", remedy="see the reasons in the table")
    entries.sort(key=lambda entry: entry.summary.mean["mrr"] or 0.0)
    figure, axes = _start(1, len(metrics), 10, 0.9 + 0.32 * len(entries))
    places = range(len(entries))
    colour = {entry.method: _COLOURS[i % len(_COLOURS)] for i, entry in enumerate(comparison.entries)}
    for axis, metric in zip(axes[0], metrics, strict=True):
        means = [entry.summary.mean[metric.name] or 0.0 for entry in entries]
        spreads = [entry.summary.spread[metric.name] or 0.0 for entry in entries]
        axis.barh(places, means, xerr=spreads, color=[colour[e.method] for e in entries], height=0.66, ecolor="#333333")
        for place, mean, spread in zip(places, means, spreads, strict=True):
            axis.text(min(mean + spread, 1.0) + 0.015, place, f"{mean:.3f}", va="center", fontsize=8, color="#333333")
        axis.set(title=metric.label, xlim=(0, 1.18), xticks=[0, 0.5, 1.0])
        axis.grid(axis="y", visible=False)
        axis.set_yticks(list(places), [e.method for e in entries] if axis is axes[0][0] else [""] * len(entries))
    return _finish(figure, format)


def draw_experiment(found: Reproduced, format: str = "png") -> bytes:
    """The paper's picture, one panel per metric: lines over a number, bars over names. Dashed grey: MGCN as printed."""
    metrics = found.metrics
    figure, axes = _start(1, len(metrics), 3.6 * len(metrics) + (1.2 if len(metrics) == 1 else 0), 3.1)
    labels = list(dict.fromkeys(entry.point for entry in found.entries))
    x = {point.label: point.x for point in found.experiment.points}
    by_name = found.experiment.axis in ("pair", "hypergraph")
    for axis, metric in zip(axes[0], metrics, strict=True):
        if by_name:
            _bars(axis, found, metric, labels)
        else:
            _lines(axis, found, metric, [x[label] for label in labels], labels)
        axis.set(title=label_of(metric))
        if not by_name:
            axis.set_xlabel(_axis_label(found.experiment.axis))
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 5), frameon=False, fontsize=8)
    return _finish(figure, format)


def _axis_label(axis: str) -> str:
    """An axis's quantity, with the paper's letters."""
    for name in ("alpha_s", "alpha_c"):
        axis = axis.replace(name, f"$\\{name}$")
    return axis if axis == "accounts" else f"{axis} (%)"


def _series(found: Reproduced, method: str, metric: str, labels: Sequence[str]) -> tuple[list[float], list[float]]:
    at = {entry.point: entry.summary for entry in found.entries if entry.method == method}
    means = [at[label].mean.get(metric) for label in labels]
    spreads = [at[label].spread.get(metric) for label in labels]
    nothing = float("nan")
    return [nothing if m is None else m for m in means], [0.0 if s is None else s for s in spreads]


def _lines(axis: Any, found: Reproduced, metric: str, xs: Sequence[float], labels: Sequence[str]) -> None:
    printed = published()[found.experiment.name]
    if metric in printed:
        theirs = dict(zip(printed["points"], printed[metric]["MGCN"], strict=True))
        ys = [theirs[value] for value in xs]
        axis.plot(xs, ys, linestyle="--", color=_PAPER_GREY, label="MGCN as printed in the paper", zorder=2)
    for i, method in enumerate(dict.fromkeys(entry.method for entry in found.entries)):
        means, spreads = _series(found, method, metric, labels)
        style = {"color": _COLOURS[i % len(_COLOURS)], "marker": _MARKERS[i % len(_MARKERS)], "markersize": 4.5}
        axis.errorbar(xs, means, yerr=spreads, capsize=2, linewidth=1.4, label=method, zorder=3 + (i == 0), **style)
    if metric == "forward_seconds":
        measured = any(entry.summary.seeds for entry in found.entries)
        axis.set(xscale="log", yscale="log" if measured else "linear")  # nothing has no logarithm
        axis.set_xticks(list(xs), labels)
        axis.minorticks_off()
    else:
        axis.set_xticks(list(xs), [label.removesuffix(" %") for label in labels])
        axis.set_xlim(min(xs) - 0.05, max(xs) + 0.05)


def _bars(axis: Any, found: Reproduced, metric: str, labels: Sequence[str]) -> None:
    methods = list(dict.fromkeys(entry.method for entry in found.entries))
    width = 0.8 / len(methods)
    lowest = 1.0
    for i, method in enumerate(methods):
        means, spreads = _series(found, method, metric, labels)
        places = [place - 0.4 + (i + 0.5) * width for place in range(len(labels))]
        axis.bar(places, means, width * 0.92, yerr=spreads, color=_COLOURS[i % len(_COLOURS)], label=method, capsize=2)
        lowest = min([lowest, *(mean - spread for mean, spread in zip(means, spreads, strict=True) if mean == mean)])
    # The paper's figures begin near the lowest bar too; a Macro figure of 0.5 is that of a random guess.
    axis.set_ylim(max(0.0, min(0.5, lowest - 0.05)), 1.0)
    axis.grid(axis="x", visible=False)
    axis.set_xticks(range(len(labels)), labels)
