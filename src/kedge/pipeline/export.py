"""What a run gives away as a table, crosswalk or candidates, and that table as a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

from kedge.context import need_extra
from kedge.ingest import guard_table, write_delimited
from kedge.pipeline.crosswalk import load_crosswalk, with_fields
from kedge.pipeline.solve import load_table
from kedge.store import write_atomically
from kedge.types import KedgeError

# Candidates are ranked by their probability: the method's own score need not fall with the rank.
_CANDIDATES: Final = ("left", "right", "rank", "probability", "decision", "counterpart", "margin", "method_score")
_MOST: Final = 1_000_000
_FORMATS: Final = ("csv", "parquet", "json", "xlsx")
_ROWS: Final = 65536  # of JSON that are made at a time


@dataclass(frozen=True)
class Selection:
    """What is exported: the crosswalk, or so many `candidates` of each left account; `everything` has every left
    account, `matches_only` what kedge decided alone; `fields` of the profiles are added by their left names."""

    candidates: int | None = None
    everything: bool = False
    matches_only: bool = False
    fields: tuple[str, ...] = ()


def check_export(kind: str, chosen: Selection) -> None:
    """Refuse, before any work, what cannot be written."""
    if kind not in _FORMATS:
        raise KedgeError(f"no format .{kind}", remedy="end the name in, or give --format, csv, parquet, json or xlsx")
    if chosen.candidates is not None:
        check_candidates(chosen.candidates)
    if chosen.everything and (chosen.candidates is not None or chosen.matches_only):
        raise KedgeError("--all has every account once", remedy="give it without --candidates and --matches-only")
    if kind == "xlsx":
        need_extra("xlsx", "the format xlsx")


def check_candidates(count: int) -> None:
    """Refuse a number of candidates that is none."""
    if not 1 <= count <= _MOST:
        raise KedgeError(f"--candidates is {count}", remedy=f"ask for 1 to {_MOST:,}")


def load_export(directory: Path, chosen: Selection, note: Callable[[str], None]) -> pa.Table:
    """The table of a finished run that was chosen."""
    if chosen.candidates is None:
        table = load_crosswalk(directory, note, chosen.everything)
    else:
        table = candidate_rows(load_table(directory, chosen.candidates), chosen.candidates)
    table = decided_only(table) if chosen.matches_only else table
    return with_fields(directory, table, chosen.fields) if chosen.fields else table


def candidate_rows(table: pa.Table, count: int) -> pa.Table:
    """The first `count` candidates of each left account from a table of matches, as they are exported."""
    table = table.filter(pc.less_equal(table["rank"], count))
    names = ["method_score" if name == "score" else name for name in table.column_names]
    return table.rename_columns(names).select(_CANDIDATES)


def decided_only(table: pa.Table) -> pa.Table:
    """The pairs that kedge itself called a match."""
    return table.filter(pc.equal(table["decision"], "match"))


def guard_export(table: pa.Table, kind: str, *, raw: bool) -> tuple[pa.Table, int]:
    """The table as a file of this kind has it, and how many cells got an apostrophe.

    Six digits are enough for people; Parquet and JSON have all. Only CSV is guarded: others have types.
    """
    if kind in ("csv", "xlsx"):
        table = _rounded(table)
    return guard_table(table) if kind == "csv" and not raw else (table, 0)


def _rounded(table: pa.Table) -> pa.Table:
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(place, field.name, pc.round(pc.cast(table.column(place), pa.float64()), 6))
    return table


def export_table(table: pa.Table, path: Path, kind: str) -> None:
    """Write the table, whole or not at all."""
    write_atomically(path, partial(dump_table, table, kind))


def dump_table(table: pa.Table, kind: str, file: BinaryIO) -> None:
    """The table into an open file."""
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file, compression="zstd")
    elif kind == "csv":
        write_delimited(table, file)
    elif kind == "xlsx":
        from kedge.pipeline.xlsx import write_xlsx

        write_xlsx(table, file)
    else:
        file.write(b"[\n")
        for start in range(0, table.num_rows, _ROWS):
            rows = table.slice(start, _ROWS).to_pylist()
            lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            file.write((",\n" if start else "").encode() + lines.encode())
        file.write(b"\n]\n")
