"""How builders of hyperedges were chosen: one bar per trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedge.report import charts
from kedge.report.axes import Labels
from kedge.report.blocks import Figure


def trial_figure(network: str, choice: Mapping[str, Any]) -> Figure:
    """The trials of one network, or of both at once; `choice` as in `model/training.json`."""
    tried = [(one["builders"], one["figure"]) for one in choice["trials"]]
    drawn = [
        (f"{name}, chosen" if name == choice["chosen"] else name, found) for name, found in tried if found is not None
    ]
    caption = f"{choice['chosen']} was chosen by {choice['by']}, on {choice['on']}."
    labels = Labels(f"Trials of hyperedges: {network}", caption)
    chart = charts.horizontal_bars(labels, drawn, "", "match", 4)
    rows = tuple((one["builders"], _shown(one)) for one in choice["trials"])
    name = f"training-builders-{network.replace(' ', '-')}"
    return Figure(name, labels.title, caption, chart, (), ("builders", choice["by"]), rows)


def _shown(trial: Mapping[str, Any]) -> str:
    return f"refused: {trial['note']}" if trial["figure"] is None else f"{trial['figure']:.4f}"
