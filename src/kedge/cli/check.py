"""`kedge check`: facts, warnings and a cost estimate before matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.show import Reporter, print_json, print_table


@options.guarded
def check(
    left: options.Left,
    right: options.Right,
    anchors: Annotated[Path | None, typer.Option("--anchors", "-a", help="Known pairs: left id, right id.")] = None,
    columns: options.Columns = None,
    left_columns: options.LeftColumns = None,
    right_columns: options.RightColumns = None,
    anchor_columns: options.AnchorColumns = None,
    preset: options.Preset = "default",
    file: options.ConfigFile = None,
    assignments: options.Set = None,
    max_input_memory: options.MaxInputMemory = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Show facts, warnings and a cost estimate for two networks and their anchors."""
    from kedge.config import resolve
    from kedge.ingest import check as examine
    from kedge.ingest import read_network, read_pairs, resolve_pairs
    from kedge.pipeline import count_refinements

    given = options.read_settings(max_input_memory, columns, left_columns, right_columns, anchor_columns)
    config = resolve(preset, file, assignments or (), given)
    reading = config.read
    with Reporter(quiet).open() as reporter:
        reporter.stage(f"reading {left.name}")
        left_side = read_network(left, reading, "left")
        reporter.stage(f"reading {right.name}")
        right_side = read_network(right, reading, "right")
        known = None
        if anchors is not None:
            resolved = resolve_pairs(read_pairs(anchors, reading), left_side[0], right_side[0])
            known = (resolved.pairs, resolved.report)
        found = 0 if known is None else known[1].found
        refinements = count_refinements(left_side[0], right_side[0], found, config)
        report = examine(left_side, right_side, known, refinements)
    if json:
        print_json(report.as_dict())
    else:
        _print_check(report.as_dict())


def _print_check(report: dict[str, Any]) -> None:
    def row(name: str, key: str, form: str = ",") -> tuple[str, str, str]:
        return name, format(report["left"][key], form), format(report["right"][key], form)

    def dropped(name: str, key: str) -> tuple[str, str, str]:
        return name, format(report["left"]["read"][key], ","), format(report["right"]["read"][key], ",")

    print_table(
        "Networks",
        ("", "left", "right"),
        [
            row("accounts", "accounts"),
            row("edges", "edges"),
            row("mean degree", "degree_mean", ".1f"),
            row("median degree", "degree_median", ".0f"),
            row("largest degree", "degree_max"),
            row("accounts without edges", "isolated"),
            row("components", "components"),
            row("largest component", "largest_component"),
            ("header", *("yes" if report[side]["read"]["header"] else "no" for side in ("left", "right"))),
            dropped("rows read", "rows"),
            dropped("dropped: comments", "comments"),
            dropped("dropped: an account with itself", "self_loops"),
            dropped("dropped: edge listed again or reversed", "repeated"),
            dropped("dropped: weight zero", "zero_weights"),
            dropped("ids trimmed of spaces", "trimmed_ids"),
        ],
    )
    if report["anchors"] is not None:
        facts, listed = report["anchors"], report["anchors"]["listed"]
        overlap = "unknown" if facts["overlap"] is None else f"{facts['overlap']:.1%}"
        print_table(
            "Anchors",
            ("", ""),
            [
                ("listed", f"{listed['rows']:,}"),
                ("found", f"{listed['found']:,}"),
                ("unknown (in no edge)", f"{listed['unknown']:,}"),
                ("repeated", f"{listed['repeated']:,}"),
                ("contradictory", f"{listed['contradictory']:,}"),
                ("share of left accounts", f"{facts['left_share']:.1%}"),
                ("share of right accounts", f"{facts['right_share']:.1%}"),
                ("edges among them: left", f"{facts['edges_left']:,}"),
                ("edges among them: right", f"{facts['edges_right']:,}"),
                ("edges among them: in both", f"{facts['edges_both']:,}"),
                ("edge overlap (both / either)", overlap),
            ],
        )
    cost = f"{report['cpu_seconds']:,.0f} CPU seconds and {report['peak_mb']:,.0f} MB"
    unknown = "; embeddings add to that, depending on the anchors" if report["anchors"] is None else ""
    print(f"`kedge match` will take roughly {cost}{unknown}.")
    for warning in report["warnings"]:
        print(f"Note: {warning}.")
