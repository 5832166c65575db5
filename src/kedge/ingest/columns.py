"""Two columns of ids: what every reader makes of its input, and what networks and anchors are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.types import BoolArray, FloatArray, IntArray, KedgeError

_LONGEST_ID: Final = 4096
# Weights are float32 in a network. Between this and its inverse even sums of products of two of them stay in its range
# (decision 30); beyond, a weight would become infinite, or 0 and its edge would be none.
LEAST_WEIGHT: Final = 1e-15
_SHOWN: Final = 5  # lines in a note


@dataclass
class BadRows:
    """Rows that were skipped: how many, the lines of the first ones, and what is wrong with the first."""

    count: int = 0
    lines: list[int] = field(default_factory=list)
    first: str = ""

    def add(self, line_of: Callable[[], int | None], problem: str) -> None:
        """One more; its line is asked for only if the note shows it."""
        self.count += 1
        self.first = self.first or problem
        if len(self.lines) < _SHOWN and (line := line_of()) is not None:
            self.lines.append(line)

    def merge(self, other: BadRows) -> None:
        """Those of another reader of the same file too."""
        self.count, self.first = self.count + other.count, self.first or other.first
        self.lines = [*self.lines, *other.lines][:_SHOWN]

    def note(self) -> tuple[str, ...]:
        """One line for the user, or none."""
        if not self.count:
            return ()
        more = ", ..." if self.count > len(self.lines) else ""
        shown = (
            f" (line{'s' if self.count > 1 else ''} {', '.join(map(str, sorted(self.lines)))}{more})"
            if self.lines
            else ""
        )
        rows = "row was" if self.count == 1 else "rows were"
        return (f"{self.count:,} bad {rows} skipped{shown}; the first: {self.first}",)


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
    directed: bool = False  # whether the source states that its edges have a direction
    bad: BadRows = field(default_factory=BadRows)  # rows that the reader skipped

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
    for is_bad, problem, remedy in id_faults(ids):
        bad = is_bad.to_numpy(zero_copy_only=False)
        if bad.any():
            places = np.flatnonzero(bad[first] | bad[second])
            if len(places):
                raise columns.fault(int(places[0]), problem, remedy)


def id_faults(ids: Any) -> tuple[tuple[Any, str, str], ...]:
    """Which ids cannot be taken, with what is wrong with them and the remedy."""
    return (
        (pc.equal(ids, ""), "an empty id", "give every account an id"),
        (pc.match_substring_regex(ids, "[\\x00-\\x1f\\x7f]"), "an id with a control character", "clean the ids"),
        (
            pc.greater(pc.binary_length(ids), _LONGEST_ID),
            f"an id of more than {_LONGEST_ID} bytes",
            "is the delimiter right? state it with --set read.delimiter=...",
        ),
    )


def weight_faults(values: FloatArray) -> tuple[tuple[BoolArray, str], ...]:
    """Which weights cannot be taken, with what is wrong with them."""
    return (
        (~np.isfinite(values), "is not a finite number"),
        (values < 0, "is negative"),
        (values > 1 / LEAST_WEIGHT, f"is above {1 / LEAST_WEIGHT:g}"),
        ((values > 0) & (values < LEAST_WEIGHT), f"is below {LEAST_WEIGHT:g} and not 0"),
    )
