"""A table as an Excel workbook. Texts are written as texts: no cell is a formula or a link, whatever it begins with."""

from __future__ import annotations

import datetime
from typing import Any, BinaryIO, Final

from kedge.errors import KedgeError

_ROWS: Final = 1_048_576  # of a sheet, the header among them: Excel's limits
_LONGEST: Final = 32_767  # characters of a cell
_BATCH: Final = 65_536


def write_xlsx(table: Any, file: BinaryIO) -> None:
    """Write one sheet with a header that stays in view; the same table gives the same bytes."""
    from xlsxwriter import Workbook

    if table.num_rows >= _ROWS:
        raise KedgeError(
            f"{table.num_rows:,} rows are more than a sheet of Excel has ({_ROWS - 1:,})", remedy="use --format csv"
        )
    book = Workbook(file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"created": datetime.datetime(1980, 1, 1)})
    sheet = book.add_worksheet("kedge")
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(table.column_names) - 1, 16)
    for column, name in enumerate(table.column_names):
        sheet.write_string(0, column, name)
    for start in range(0, table.num_rows, _BATCH):
        for at, row in enumerate(table.slice(start, _BATCH).to_pylist(), start + 1):
            for column, value in enumerate(row.values()):
                if isinstance(value, str):
                    if len(value) > _LONGEST:
                        raise KedgeError(
                            f"row {at} has an id of {len(value):,} characters, more than a cell of Excel holds",
                            remedy="use --format csv",
                        )
                    sheet.write_string(at, column, value)
                elif value is not None:
                    sheet.write_number(at, column, value)
    book.close()
