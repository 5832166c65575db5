"""`kedge export`: the crosswalk of a run as a file, or the candidates of each account."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kedge.cli.options import Debug, Force, Json, Raw, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError


@guarded
def export(
    run: RunDirectory,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write; -: CSV on stdout.")],
    candidates: Annotated[
        int | None, typer.Option("--candidates", "-k", help="Instead: so many candidates of each left account.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every left account: also those to review and those without a match.")
    ] = False,
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Only pairs that kedge decided.")] = False,
    format: Annotated[
        str | None, typer.Option(help="csv, parquet, json or xlsx; by default the file's ending.")
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option("--fields", metavar="NAME,...", help="Compared fields of profiles to add, e.g. name,city."),
    ] = None,
    raw: Raw = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", hidden=True, help="The default now.")] = False,  # noqa: ARG001
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Write the crosswalk of a run: one row per left account that is known, confirmed by a reviewer, or matched.

    Columns: left, right, decision (known, confirmed, match), probability, counterpart, margin, source (anchors, review,
    audit, kedge). Known pairs come first, then confirmed ones, then matches by falling probability. --fields name adds
    left_name and right_name.
    """
    stdout = str(out) == "-"
    kind = format or ("csv" if stdout else out.suffix.removeprefix(".").lower())
    from kedge.pipeline import Selection, check_export, export_table, guard_export, load_export
    from kedge.store import refuse_overwrite

    chosen = Selection(candidates, everything, matches_only, () if fields is None else tuple(fields.split(",")))
    check_export(kind, chosen)
    if stdout and json:
        raise KedgeError("--json and the data are both for stdout", remedy="give -o FILE, or --format json")
    if not stdout:
        refuse_overwrite(out, force)
    table, changed = guard_export(load_export(run, chosen, Reporter().note), kind, raw=raw)
    if stdout:
        _print(table, kind)
    else:
        export_table(table, out, kind)
    note_guarded(changed)
    if json:
        print_json({"file": str(out), "rows": table.num_rows, "format": kind})
    elif not stdout:
        print(f"{table.num_rows:,} rows in {out}")


def _print(table: Any, kind: str) -> None:
    import io
    import sys

    from kedge.pipeline import dump_table

    buffer = io.BytesIO()
    dump_table(table, kind, buffer)
    sys.stdout.flush()
    sys.stdout.buffer.write(buffer.getvalue())
