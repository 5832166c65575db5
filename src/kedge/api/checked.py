"""`kedge.check`: facts, warnings and a cost estimate before matching."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedge.api.facts import Facts
from kedge.api.objects import as_path, as_settings, as_source, two_sides
from kedge.api.progress import progress_of
from kedge.api.tables import SuspectRow, Table
from kedge.api.wording import in_python, worded
from kedge.config import resolve
from kedge.context import Noting, Progress, Shown, describe_installation
from kedge.pipeline import Inputs, check_inputs
from kedge.report import check_tables, cost_sentence


@worded
def check(
    left: Any,
    right: Any,
    anchors: Any = None,
    *,
    suspects: bool = False,
    profiles: tuple[Any, Any] | None = None,
    left_profiles: Any = None,
    right_profiles: Any = None,
    preset: str = "default",
    config: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: bool | Progress | None = None,
) -> Facts:
    """Facts, warnings and a cost estimate for two networks, their anchors and their profiles, given as for `match`.

    `print` shows them as `kedge check` does. `.warnings` are sentences, `.cpu_seconds` and `.peak_mb` the estimate.
    With `suspects`, `.suspects` is a table of the anchors that the rest of the evidence contradicts.

    >>> import kedge
    >>> pair = kedge.synth(nodes=150, overlap=0.85, train=0.3, seed=3)
    >>> kedge.check(pair.left, pair.right, pair.train).left["accounts"]
    150
    """
    sides = two_sides(profiles, left_profiles, right_profiles, "profiles", "profiles")
    inputs = Inputs(as_source(left), as_source(right), as_source(anchors), profiles=sides)
    chosen = resolve(preset, None if config is None else as_path(config, "config"), (), as_settings(settings))
    noting = Noting(progress_of(progress))
    facts, table = check_inputs(inputs, chosen, noting, suspects=suspects)
    warnings = [in_python(line) for line in (*facts["warnings"], *facts.get("profile_notes", ()))]
    lines = [cost_sentence(facts), *(f"Note: {line}." for line in warnings)]
    shown = {**facts, "warnings": warnings}
    if table is not None:
        examined = facts["suspects"]["examined"]
        shown["suspects"] = Table(table, SuspectRow, "Anchors that seem wrong")
        shown["suspects_examined"], shown["suspects_share"] = examined, facts["suspects"]["share"]
        lines.append(f"{table.num_rows:,} of {examined:,} anchors are contradicted by the rest of the evidence.")
    return Facts(shown, check_tables(facts), lines, [in_python(note) for note in noting.notes])


@worded
def doctor() -> Facts:
    """Versions, cores, memory, threads, and which optional parts are installed."""
    facts = describe_installation()
    rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, dict)]
    rows += [(f"library {name}", version) for name, version in facts["libraries"].items()]
    rows += [
        (f"extra {name}", "installed" if there else f"not installed: pip install 'kedge[{name}]'")
        for name, there in facts["extras"].items()
    ]
    return Facts(facts, [Shown("kedge doctor", ("", ""), rows, 2)])
