"""Two columns of ids: what every reader makes of its input, and what networks and anchors are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.types import IntArray, KedgeError

_LONGEST_ID: Final = 4096


@dataclass(frozen=True)
class Columns:
    """Two columns of ids and perhaps one of weights, with what it takes to name a row's place in its source."""

    first: pa.ChunkedArray
    second: pa.ChunkedArray
    weight: pa.ChunkedArray | None = None
    file: str | None = None
    line_of: Callable[[int], int | None] = lambda _row: None
    notes: tuple[str, ...] = ()
    header: bool = False
    comments: int = 0  # lines that begin with # or %, which are no rows
    isolated: pa.Array | None = None  # accounts that the source names without an edge
    ends: tuple[str, str] | None = None  # what messages call the two columns; None where the source has no columns
    doubtful: bool = False  # whether the first row might be a header all the same
    guessed: bool = False  # whether the names of more than two columns leave open which hold ids

    def fault(self, row: int, problem: str, remedy: str) -> KedgeError:
        """The error for one row."""
        if self.file is None:
            return KedgeError(f"row {row}: {problem}", remedy=remedy)
        return KedgeError(problem, file=self.file, line=self.line_of(row), remedy=remedy)


@dataclass(frozen=True)
class Encoded:
    """Both columns as positions in one list of distinct ids."""

    ids: pa.Array
    first: IntArray
    second: IntArray
    trimmed: int


def encode(columns: Columns) -> Encoded:
    """Number the ids of both columns together; empty and hostile ids are refused with their line."""
    rows = len(columns.first)
    # One dictionary over both columns: chunks are encoded in place, nothing is sorted.
    both = pa.chunked_array(columns.first.chunks + columns.second.chunks, type=columns.first.type)
    encoded = both.dictionary_encode()
    ids = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], columns.first.type)
    keys = (
        np.concatenate([np.asarray(chunk.indices) for chunk in encoded.chunks])
        if encoded.num_chunks
        else np.empty(0, np.int32)
    )
    del both, encoded
    first, second = keys[:rows], keys[rows:]

    trimmed_ids = pc.utf8_trim_whitespace(ids)
    changed = int(np.count_nonzero(pc.not_equal(trimmed_ids, ids).to_numpy(zero_copy_only=False)))
    if changed:
        merged = trimmed_ids.dictionary_encode()
        lookup = np.asarray(merged.indices)
        ids, first, second = merged.dictionary, lookup[first], lookup[second]
    _refuse_bad_ids(columns, ids, first, second)
    return Encoded(ids, first, second, changed)


def _refuse_bad_ids(columns: Columns, ids: pa.Array, first: IntArray, second: IntArray) -> None:
    faults = (
        (pc.equal(ids, ""), "an empty id", "give every account an id"),
        (pc.match_substring_regex(ids, "[\\x00-\\x1f\\x7f]"), "an id with a control character", "clean the ids"),
        (
            pc.greater(pc.binary_length(ids), _LONGEST_ID),
            f"an id of more than {_LONGEST_ID} bytes",
            "is the delimiter right? state it with --set read.delimiter=...",
        ),
    )
    for is_bad, problem, remedy in faults:
        bad = is_bad.to_numpy(zero_copy_only=False)
        if bad.any():
            places = np.flatnonzero(bad[first] | bad[second])
            if len(places):
                raise columns.fault(int(places[0]), problem, remedy)
