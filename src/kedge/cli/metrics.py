"""Metrics on held-out pairs, as tables for people."""

from __future__ import annotations

from typing import Any

from kedge.cli.show import print_table


def print_metrics(metrics: dict[str, Any]) -> None:
    """Ranking by direction, then decisions and calibration; nothing without held-out pairs."""
    if not metrics["test_pairs"]:
        return
    from kedge.evaluation import metrics_shown

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    forth, back = metrics["left_to_right"], metrics["right_to_left"]
    by_direction = [metric for metric in metrics_shown("evaluate") if metric.name in forth]
    others = [metric for metric in metrics_shown("evaluate") if metric.name not in forth]
    print_table(
        f"On {metrics['test_pairs']:,} held-out pairs",
        ("", "left to right", "right to left", "mean"),
        [(m.label, shown(forth[m.name]), shown(back[m.name]), shown(metrics[m.name])) for m in by_direction],
    )
    # A run of an earlier version may lack some of them.
    print_table("", ("", "", ""), [(m.label, m.help, shown(metrics.get(m.name))) for m in others], left=2)
