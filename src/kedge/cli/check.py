"""`kedge check`: facts, warnings and a cost estimate before matching."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli import options
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json, print_table
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
    skip_bad_rows: options.SkipBadRows = False,
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
    json_progress: options.JsonProgress = False,
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
    from kedge.pipeline import Inputs, check_inputs
    from kedge.store import refuse_overwrite

    if out is not None:
        refuse_overwrite(out, force)
    given = options.read_settings(max_input_memory, columns, left_columns, right_columns, anchor_columns, skip_bad_rows)
    given |= options.profile_settings(compare)
    config = resolve(preset, file, assignments or (), given)
    inputs = Inputs(left, right, anchors, profiles=(left_profiles, right_profiles))
    with Reporter(quiet, json_progress).open() as reporter:
        facts, table = check_inputs(inputs, config, reporter, suspects=suspects)
    if out is not None:
        _write(table, out, raw)
    if json:
        print_json(facts)
        return
    _print_check(facts)
    if suspects:
        _print_suspects(facts["suspects"])


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


def _print_check(facts: dict[str, Any]) -> None:
    from kedge.report import check_tables, cost_sentence

    for table in check_tables(facts):
        print_table(*table)
    print(cost_sentence(facts))
    _print_places(facts["places"])
    for warning in (*facts["warnings"], *facts.get("profile_notes", ())):
        print(f"Note: {warning}.")


def _print_places(places: dict[str, int]) -> None:
    """Where the rounds of evidence fit, once a match takes more than a few hundred MB."""
    if places["in_memory_mb"] < _LARGE_MB:
        return
    from kedge.context import memory

    free = round(memory().available)
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
