"""Rows that cannot be read: with `read.bad_rows = "skip"` they are skipped and counted, else the first is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.ingest.columns import Columns, id_faults, weight_faults


def skip_bad_cells(columns: Columns) -> Columns:
    """The columns without rows whose ids or weight would be refused, and a note on all that was skipped."""
    problem = np.full(len(columns.first), "", object)
    for column in (columns.first, columns.second):
        for is_bad, what, _ in id_faults(pc.utf8_trim_whitespace(column)):
            problem[is_bad.to_numpy() & (problem == "")] = what
    if columns.weight is not None:
        for is_faulty, what in weight_faults(np.asarray(columns.weight.to_numpy(), np.float64)):
            problem[is_faulty & (problem == "")] = f"a weight that {what}"
    kept, line_of = np.flatnonzero(problem == ""), columns.line_of
    for row in np.flatnonzero(problem != "").tolist():
        columns.bad.add(partial(line_of, row), problem[row])
    if len(kept) < len(problem):
        places = pa.array(kept)
        columns = replace(
            columns,
            first=columns.first.take(places),
            second=columns.second.take(places),
            weight=None if columns.weight is None else columns.weight.take(places),
            line_of=lambda row: line_of(int(kept[row])),
        )
    return replace(columns, notes=(*columns.notes, *columns.bad.note()))
