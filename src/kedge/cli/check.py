"""`kedge check`: facts, warnings and a cost estimate before matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli.options import (
    Compare,
    ConfigFile,
    Debug,
    Json,
    Left,
    LeftProfiles,
    MaxInputMemory,
    Preset,
    Quiet,
    Right,
    RightProfiles,
    Set,
    guarded,
    profile_settings,
    read_settings,
)
from kedge.cli.show import Reporter, print_json, print_table


@guarded
def check(
    left: Left,
    right: Right,
    anchors: Annotated[Path | None, typer.Option("--anchors", "-a", help="Known pairs: left id, right id.")] = None,
    left_profiles: LeftProfiles = None,
    right_profiles: RightProfiles = None,
    compare: Compare = None,
    preset: Preset = "default",
    file: ConfigFile = None,
    assignments: Set = None,
    max_input_memory: MaxInputMemory = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Show facts, warnings and a cost estimate for two networks, their anchors and their profiles."""
    from kedge.config import resolve
    from kedge.ingest import check as examine
    from kedge.ingest import read_network, read_pairs, resolve_pairs
    from kedge.pipeline import check_profiles, count_refinements

    given = read_settings(max_input_memory) | profile_settings(compare)
    config = resolve(preset, file, assignments or (), given)
    reading = config.read
    with Reporter(quiet).open() as reporter:
        reporter.stage(f"reading {left.name}")
        left_side = read_network(left, reading)
        reporter.stage(f"reading {right.name}")
        right_side = read_network(right, reading)
        known = None
        if anchors is not None:
            resolved = resolve_pairs(read_pairs(anchors, reading), left_side[0], right_side[0])
            known = (resolved.pairs, resolved.report)
        found = 0 if known is None else known[1].found
        refinements = count_refinements(left_side[0], right_side[0], found, config)
        facts = examine(left_side, right_side, known, refinements).as_dict()
        if left_profiles is not None or right_profiles is not None:
            networks, pairs = (left_side[0], right_side[0]), None if known is None else known[0]
            facts |= check_profiles((left_profiles, right_profiles), networks, pairs, config, reporter)
    if json:
        print_json(facts)
    else:
        _print_check(facts)


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
    if report.get("fields"):
        _print_fields(report["fields"])
    cost = f"{report['cpu_seconds']:,.0f} CPU seconds and {report['peak_mb']:,.0f} MB"
    unknown = "; embeddings add to that, depending on the anchors" if report["anchors"] is None else ""
    print(f"`kedge match` will take roughly {cost}{unknown}.")
    for warning in (*report["warnings"], *report.get("profile_notes", ())):
        print(f"Note: {warning}.")


def _print_fields(fields: list[dict[str, Any]]) -> None:
    def share(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.1%}"

    print_table(
        "Profiles",
        ("field", "kind", "filled left", "filled right", "distinct", "agreement on anchors", "by chance"),
        [
            (
                f["name"] if f["name"] == f["right"] else f"{f['name']} ~ {f['right']}",
                f["kind"],
                share(f["filled_left"]),
                share(f["filled_right"]),
                f"{f['distinct']:,}",
                share(f["agreement"]),
                share(f["chance"]),
            )
            for f in fields
        ],
    )
