"""`kedge export`: the candidates of a run as a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from kedge.cli.options import Debug, Force, Json, RunDirectory, guarded
from kedge.cli.show import print_json
from kedge.errors import KedgeError

_COLUMNS: Final = ("left", "right", "rank", "score", "probability")
# A spreadsheet runs a cell that begins with one of these.
_FORMULA: Final = "^[=+\\-@\t\r]"


@guarded
def export(
    run: RunDirectory,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    candidates: Annotated[int, typer.Option("--candidates", "-k", help="The most candidates per left account.")] = 1,
    format: Annotated[str | None, typer.Option(help="csv, parquet or json; by default the file's ending.")] = None,
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Only the pairs decided to be matches.")] = False,
    excel_safe: Annotated[
        bool, typer.Option("--excel-safe", help="CSV: quote cells that a spreadsheet would run as formulas.")
    ] = False,
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Write the candidates of a run: left, right, rank, score, probability."""
    import pyarrow.compute as pc

    from kedge.pipeline import load_table
    from kedge.store import refuse_overwrite, write_atomically

    kind = format or out.suffix.removeprefix(".").lower()
    if kind not in ("csv", "parquet", "json"):
        raise KedgeError(f"no format {kind!r}", remedy="choose one with --format csv, parquet or json")
    if candidates < 1:
        raise KedgeError(f"--candidates is {candidates}", remedy="ask for at least 1")
    refuse_overwrite(out, force)
    table = load_table(run, candidates)
    table = table.filter(pc.less_equal(table["rank"], candidates))
    if matches_only:
        table = table.filter(pc.equal(table["decision"], "match"))
    table = table.select(_COLUMNS)
    if excel_safe and kind == "csv":
        for place, name in enumerate(("left", "right")):
            table = table.set_column(place, name, pc.replace_substring_regex(table[name], f"({_FORMULA})", "'\\1"))
    write_atomically(out, partial(_dump, table, kind))
    if json:
        print_json({"file": str(out), "rows": table.num_rows, "format": kind})
    else:
        print(f"{table.num_rows:,} rows in {out}")


def _dump(table: Any, kind: str, file: BinaryIO) -> None:
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    elif kind == "csv":
        import pyarrow.csv as arrow_csv

        arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(quoting_style="needed"))
    else:
        import json

        file.write(b"[\n")
        for start in range(0, table.num_rows, 65536):
            rows = table.slice(start, 65536).to_pylist()
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            file.write((",\n" if start else "").encode() + lines.encode())
        file.write(b"\n]\n")
