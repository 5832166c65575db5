"""`kedge export`: the crosswalk of a run as a file, or the candidates of each account."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from kedge.cli.options import Debug, Force, Json, Raw, RunDirectory, guarded
from kedge.cli.progress import Reporter
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError

# Candidates are ranked by their probability: the method's own score need not fall with the rank.
_CANDIDATES: Final = ("left", "right", "rank", "probability", "decision", "counterpart", "margin", "method_score")
_MOST: Final = 1_000_000
_FORMATS: Final = ("csv", "parquet", "json", "xlsx")
_GUARDED: Final = "csv"


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
    _refuse(kind, candidates, everything, matches_only, stdout and json)
    from kedge.ingest import guard_table
    from kedge.store import refuse_overwrite, write_atomically

    if not stdout:
        refuse_overwrite(out, force)
    table = _table(run, candidates, everything, matches_only)
    if fields is not None:
        from kedge.pipeline import with_fields

        table = with_fields(run, table, fields.split(","))
    if kind in ("csv", "xlsx"):
        table = _rounded(table)
    table, changed = guard_table(table) if kind == _GUARDED and not raw else (table, 0)
    if stdout:
        _print(table, kind)
    else:
        write_atomically(out, partial(_dump, table, kind))
    note_guarded(changed)
    if json:
        print_json({"file": str(out), "rows": table.num_rows, "format": kind})
    elif not stdout:
        print(f"{table.num_rows:,} rows in {out}")


def _refuse(kind: str, candidates: int | None, everything: bool, matches_only: bool, two_outputs: bool) -> None:
    """Refuse, before any work, what cannot be written."""
    if kind not in _FORMATS:
        raise KedgeError(
            f"no format .{kind}", remedy="end the name in, or give --format, csv, tsv, parquet, json or xlsx"
        )
    if candidates is not None and not 1 <= candidates <= _MOST:
        raise KedgeError(f"--candidates is {candidates}", remedy=f"ask for 1 to {_MOST:,}")
    if everything and (candidates is not None or matches_only):
        raise KedgeError("--all has every account once", remedy="give it without --candidates and --matches-only")
    if two_outputs:
        raise KedgeError("--json and the data are both for stdout", remedy="give -o FILE, or --format json")
    if kind == "xlsx":
        from kedge.context import need_extra

        need_extra("xlsx", "the format xlsx")


def _table(run: Path, candidates: int | None, everything: bool, matches_only: bool) -> Any:
    import pyarrow.compute as pc

    if candidates is None:
        from kedge.pipeline import load_crosswalk

        table = load_crosswalk(run, Reporter().note, everything)
    else:
        from kedge.pipeline import load_table

        table = load_table(run, candidates)
        table = table.filter(pc.less_equal(table["rank"], candidates))
        names = ["method_score" if name == "score" else name for name in table.column_names]
        table = table.rename_columns(names).select(_CANDIDATES)
    return table.filter(pc.equal(table["decision"], "match")) if matches_only else table


def _rounded(table: Any) -> Any:
    """Six digits are enough for people; Parquet and JSON have all."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(place, field.name, pc.round(pc.cast(table.column(place), pa.float64()), 6))
    return table


def _print(table: Any, kind: str) -> None:
    import io
    import sys

    buffer = io.BytesIO()
    _dump(table, kind, buffer)
    sys.stdout.flush()
    sys.stdout.buffer.write(buffer.getvalue())


def _dump(table: Any, kind: str, file: BinaryIO) -> None:
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    elif kind == "csv":
        from kedge.ingest import write_delimited

        write_delimited(table, file)
    elif kind == "xlsx":
        from kedge.cli.xlsx import write_xlsx

        write_xlsx(table, file)
    else:
        import json

        file.write(b"[\n")
        for start in range(0, table.num_rows, 65536):
            rows = table.slice(start, 65536).to_pylist()
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            file.write((",\n" if start else "").encode() + lines.encode())
        file.write(b"\n]\n")
