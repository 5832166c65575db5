"""`kedge check`: facts, warnings and a cost estimate before matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.show import Reporter, note_guarded, print_json, print_table
from kedge.errors import KedgeError

_SHOWN = 20  # suspects on the terminal
_LARGE_MB = 1_000  # below this everything fits in memory


@options.guarded
def check(
    left: options.Left,
    right: options.Right,
    anchors: Annotated[Path | None, typer.Option("--anchors", "-a", help="Known pairs: left id, right id.")] = None,
    columns: options.Columns = None,
    left_columns: options.LeftColumns = None,
    right_columns: options.RightColumns = None,
    anchor_columns: options.AnchorColumns = None,
    left_profiles: options.LeftProfiles = None,
    right_profiles: options.RightProfiles = None,
    compare: options.Compare = None,
    suspects: Annotated[
        bool, typer.Option("--suspects", help="List the anchors that the rest of the evidence contradicts; takes CPU.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="With --suspects: the list as CSV.")
    ] = None,
    preset: options.Preset = "default",
    file: options.ConfigFile = None,
    assignments: options.Set = None,
    max_input_memory: options.MaxInputMemory = None,
    json: options.Json = False,
    raw: options.Raw = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Show facts, warnings and a cost estimate for two networks, their anchors and their profiles.

    With --suspects, list the anchors that seem wrong: those that `kedge match` with the same settings would not use.
    """
    if suspects and anchors is None:
        raise KedgeError("there are no anchors to examine", remedy="give them with --anchors")
    if out is not None and not suspects:
        raise KedgeError("--out is for the list of --suspects", remedy="give both, or neither")
    from kedge.config import resolve
    from kedge.ingest import check as examine
    from kedge.ingest import read_network, read_pairs, resolve_pairs
    from kedge.pipeline import check_profiles, count_refinements, fitting_places
    from kedge.store import refuse_overwrite

    if out is not None:
        refuse_overwrite(out, force)
    given = options.read_settings(max_input_memory, columns, left_columns, right_columns, anchor_columns)
    given |= options.profile_settings(compare)
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
        fields: dict[str, Any] = {}
        if left_profiles is not None or right_profiles is not None:
            networks, pairs = (left_side[0], right_side[0]), None if known is None else known[0]
            fields = check_profiles((left_profiles, right_profiles), networks, pairs, config, reporter)
        counted = len(fields.get("fields", ()))
        facts = examine(left_side, right_side, known, refinements, counted).as_dict() | fields
        facts["places"] = fitting_places(left_side[0], right_side[0], config, facts["peak_mb"])
        found_wrong = _examine(left, right, anchors, config, reporter) if suspects else None
    if out is not None and found_wrong is not None:
        _write(found_wrong["table"], out, raw)
    if found_wrong is not None:
        facts["suspects"] = {**found_wrong, "table": found_wrong["table"].to_pylist()}
    if json:
        print_json(facts)
        return
    _print_check(facts)
    if found_wrong is not None:
        _print_suspects(facts["suspects"])


def _examine(left: Path, right: Path, anchors: Path | None, config: Any, reporter: Reporter) -> dict[str, Any]:
    """How many anchors were examined, the estimated share of wrong ones, and the table of suspects."""
    from kedge.pipeline import Inputs, examine_anchors, suspect_table

    problem, found = examine_anchors(Inputs(left, right, anchors), config, reporter)
    return {
        "examined": found.examined,
        "share": found.share,
        "unrelated": found.unrelated,
        "note": found.notes[0] if found.unrelated else "",
        "table": suspect_table(problem, found),
    }


def _write(table: Any, out: Path, raw: bool) -> None:
    from kedge.ingest import guard_table, write_delimited
    from kedge.store import write_atomically

    table, changed = (table, 0) if raw else guard_table(table)
    write_atomically(out, lambda file: write_delimited(table, file))
    note_guarded(changed)


def _print_suspects(suspects: dict[str, Any]) -> None:
    rows = suspects["table"]
    if suspects["note"]:
        print(f"Note: {suspects['note']}.")
    elif not rows:
        print(f"No anchor is contradicted by the rest of the evidence ({suspects['examined']:,} examined).")
    if not rows:
        return
    print_table(
        f"{len(rows):,} of {suspects['examined']:,} anchors are contradicted by the rest of the evidence",
        ("left", "right", "wrong", "better for left", "better for right"),
        [
            (r["left"], r["right"], f"{r['wrong']:.2f}", r["better_right"] or "-", r["better_left"] or "-")
            for r in rows[:_SHOWN]
        ],
        left=2,
    )
    if len(rows) > _SHOWN:
        print(f"{len(rows) - _SHOWN:,} more: -o FILE writes all of them.")


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
    if report.get("fields"):
        _print_fields(report["fields"])
    cost = f"{report['cpu_seconds']:,.0f} CPU seconds and {report['peak_mb']:,.0f} MB"
    unknown = "; embeddings add to that, depending on the anchors" if report["anchors"] is None else ""
    print(f"`kedge match` will take roughly {cost}{unknown}.")
    _print_places(report["places"])
    for warning in (*report["warnings"], *report.get("profile_notes", ())):
        print(f"Note: {warning}.")


def _print_places(places: dict[str, int]) -> None:
    """Where the rounds of evidence fit, once a match takes more than a few hundred MB."""
    if places["in_memory_mb"] < _LARGE_MB:
        return
    free = places["available_mb"]
    rows = [
        ("all in memory", places["in_memory_mb"]),
        ("rounds of evidence in memory", places["rounds_in_memory_mb"]),
        ("the same out of core, with --max-memory", places["rounds_out_of_core_mb"]),
    ]
    print_table(
        f"What fits where ({free:,} MB are free here)",
        ("", "MB", "fits here"),
        [
            *((name, f"{size:,}", "yes" if size <= free else "no") for name, size in rows),
            ("one of eight Dask worker threads", f"{places['worker_mb']:,}", ""),
        ],
    )


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
