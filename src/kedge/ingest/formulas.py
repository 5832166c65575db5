"""Cells that a spreadsheet would run as formulas: guarded by an apostrophe when written, and read back without it."""

from __future__ import annotations

from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc

# Spreadsheets skip spaces, controls and invisible characters at the start of a cell, and some drop quotes. The signs
# are those of formulas, with their full-width and small forms, which are read as the plain ones in some locales.
_SKIPPED: Final = (
    "\\x00-\\x20\\x7f-\\xa0\"'`´‘’“”«»\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
)
_SIGNS: Final = "=+\\-@＝＋－＠﹦﹢﹣﹫−"
_FORMULA: Final = f"^(?:[{_SKIPPED}]*[{_SIGNS}]|'*[\\t\\r\\n])"


def begin_formulas(cells: Any) -> Any:
    """Which cells (strings) a spreadsheet might run."""
    return pc.match_substring_regex(cells, _FORMULA)


def guard(cells: Any) -> Any:
    """The cells with an apostrophe before each that a spreadsheet might run.

    An apostrophe of the cell's own is guarded by a second one, so that `unguard` gives back exactly what was there.
    """
    return pc.replace_substring_regex(cells, f"({_FORMULA})", "'\\1")


def guard_text(cell: str) -> str:
    """One cell, guarded."""
    return str(guard(pa.scalar(cell)).as_py())


def unguard(cells: Any) -> Any:
    """The cells without the apostrophe that `guard` adds."""
    added = pc.and_(pc.starts_with(cells, "'"), begin_formulas(cells))
    return pc.if_else(added, pc.utf8_slice_codeunits(cells, 1), cells)


def guard_table(table: pa.Table) -> tuple[pa.Table, int]:
    """The table with its texts guarded, and how many cells that changed. Numbers are no formulas: they stay."""
    changed = 0
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            cells = table.column(place)
            changed += pc.sum(begin_formulas(cells)).as_py() or 0
            table = table.set_column(place, field.name, guard(cells))
    return table, changed


def write_delimited(table: pa.Table, file: BinaryIO, delimiter: str = ",") -> None:
    """Write a table as CSV or TSV, every text in quotes: so no other separator of a locale cuts a cell in two."""
    import pyarrow.csv as arrow_csv

    arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(delimiter=delimiter, quoting_style="needed"))
