"""`kedge export`: the candidates of a run as a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from kedge.cli.options import Debug, Force, Json, Raw, RunDirectory, guarded
from kedge.cli.show import note_guarded, print_json
from kedge.errors import KedgeError

_COLUMNS: Final = ("left", "right", "rank", "score", "probability")
_MOST: Final = 1_000_000


@guarded
def export(
    run: RunDirectory,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    candidates: Annotated[int, typer.Option("--candidates", "-k", help="The most candidates per left account.")] = 1,
    format: Annotated[str | None, typer.Option(help="csv, parquet or json; by default the file's ending.")] = None,
    matches_only: Annotated[bool, typer.Option("--matches-only", help="Only the pairs decided to be matches.")] = False,
    raw: Raw = False,
    excel_safe: Annotated[bool, typer.Option("--excel-safe", hidden=True, help="The default now.")] = False,  # noqa: ARG001
    force: Force = False,
    json: Json = False,
    debug: Debug = False,  # noqa: ARG001 (read by the guard)
) -> None:
    """Write the candidates of a run: left, right, rank, score, probability."""
    import pyarrow.compute as pc

    from kedge.ingest import guard_table
    from kedge.pipeline import load_table
    from kedge.store import refuse_overwrite, write_atomically

    kind = format or out.suffix.removeprefix(".").lower()
    if kind not in ("csv", "parquet", "json"):
        raise KedgeError(f"no format {kind!r}", remedy="choose one with --format csv, parquet or json")
    if not 1 <= candidates <= _MOST:
        raise KedgeError(f"--candidates is {candidates}", remedy=f"ask for 1 to {_MOST:,}")
    refuse_overwrite(out, force)
    table = load_table(run, candidates)
    table = table.filter(pc.less_equal(table["rank"], candidates))
    if matches_only:
        table = table.filter(pc.equal(table["decision"], "match"))
    table = table.select(_COLUMNS)
    table, changed = guard_table(table) if kind == "csv" and not raw else (table, 0)
    write_atomically(out, partial(_dump, table, kind))
    note_guarded(changed)
    if json:
        print_json({"file": str(out), "rows": table.num_rows, "format": kind})
    else:
        print(f"{table.num_rows:,} rows in {out}")


def _dump(table: Any, kind: str, file: BinaryIO) -> None:
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    elif kind == "csv":
        from kedge.ingest import write_delimited

        write_delimited(table, file)
    else:
        import json

        file.write(b"[\n")
        for start in range(0, table.num_rows, 65536):
            rows = table.slice(start, 65536).to_pylist()
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            file.write((",\n" if start else "").encode() + lines.encode())
        file.write(b"\n]\n")
