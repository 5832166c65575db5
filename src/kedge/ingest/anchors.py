"""From columns of ids to pairs of accounts: found, unknown, repeated, contradictory, swapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from kedge.errors import KedgeError
from kedge.ingest.columns import Columns, encode
from kedge.types import BoolArray, IntArray, Network, Problem

__all__ = ["AnchorReport", "ResolvedPairs", "build_problem", "resolve_pairs", "resolve_test"]


@dataclass(frozen=True)
class AnchorReport:
    """What became of the listed pairs. `unknown` name an account that is in no edge of its network."""

    rows: int
    found: int
    unknown: int
    repeated: int
    contradictory: int
    equal_ids: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ResolvedPairs:
    """Distinct pairs of ids in the order listed, with the account of each (-1: in no edge) and the row it is from."""

    left_ids: pa.Array
    right_ids: pa.Array
    pairs: IntArray
    rows: IntArray
    contradictory: IntArray
    report: AnchorReport


def resolve_pairs(columns: Columns, left: Network, right: Network, what: str = "anchors") -> ResolvedPairs:
    """Find the pairs' accounts; exchanged columns and files that do not fit are refused by name."""
    encoded = encode(columns)
    first_ids = encoded.ids.take(pa.array(encoded.first))
    second_ids = encoded.ids.take(pa.array(encoded.second))
    rows = np.arange(len(first_ids)) if encoded.kept is None else encoded.kept
    notes = list(columns.notes)
    in_left, in_right = left.find(first_ids), right.find(second_ids)
    if len(rows) > 1 and not columns.header and in_left[0] < 0 and in_right[0] < 0:
        known_below = ((in_left[1:] >= 0) & (in_right[1:] >= 0)).mean()
        if known_below > 0.5:
            notes.append(f"the first row ({first_ids[0]}, {second_ids[0]}) names no accounts: taken as a header")
            first_ids, second_ids, rows = first_ids[1:], second_ids[1:], rows[1:]
            in_left, in_right = in_left[1:], in_right[1:]
    total = len(rows)
    if total == 0:
        raise KedgeError(f"no {what}", file=columns.file, remedy="give at least one pair of ids")
    pairs = np.column_stack([in_left, in_right])
    known: BoolArray = np.asarray((pairs >= 0).all(axis=1))
    _refuse_misfit(columns, what, known, first_ids, second_ids, left, right, rows)

    # Repeats are judged by id, so that pairs of unknown accounts count too.
    names = pa.chunked_array([first_ids, second_ids]).dictionary_encode()
    a, b = (np.asarray(chunk.indices).astype(np.int64) for chunk in names.chunks)
    key = a * (int(max(a.max(), b.max())) + 1) + b
    _, first_places = np.unique(key, return_index=True)
    kept = np.sort(first_places)
    clash = _more_than_once(a[kept]) | _more_than_once(b[kept])
    first_ids, second_ids = first_ids.take(pa.array(kept)), second_ids.take(pa.array(kept))
    equal = int(np.count_nonzero(np.asarray(first_ids) == np.asarray(second_ids)))
    report = AnchorReport(
        rows=total,
        found=int(known[kept].sum()),
        unknown=int((~known[kept]).sum()),
        repeated=total - len(kept),
        contradictory=int(clash.sum()),
        equal_ids=equal,
        notes=tuple(notes),
    )
    return ResolvedPairs(first_ids, second_ids, pairs[kept], rows[kept], np.flatnonzero(clash), report)


def _more_than_once(values: IntArray) -> BoolArray:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(count[place] > 1)


def _refuse_misfit(
    columns: Columns,
    what: str,
    known: BoolArray,
    first_ids: pa.Array,
    second_ids: pa.Array,
    left: Network,
    right: Network,
    rows: IntArray,
) -> None:
    """Half of the pairs must be known; if they would be known the other way round, the columns are swapped."""
    if known.mean() > 0.5:
        return
    swapped = (right.find(first_ids) >= 0) & (left.find(second_ids) >= 0)
    if swapped.mean() > max(0.5, known.mean()):
        raise KedgeError(
            f"the columns look swapped: {int(swapped.sum())} of {len(rows)} rows have a right account first and a left "
            "account second",
            file=columns.file,
            remedy="exchange the two columns, or the two networks on the command line",
        )
    first_bad = int(np.flatnonzero(~known)[0])
    raise columns.fault(
        int(rows[first_bad]),
        f"{int((~known).sum())} of {len(rows)} {what} name accounts that are in no edge, the first "
        f"{first_ids[first_bad].as_py()!r}, {second_ids[first_bad].as_py()!r}",
        "check that the ids are written as in the networks (01 is not 1)",
    )


def build_problem(
    left: Network,
    right: Network,
    resolved: ResolvedPairs,
    columns: Columns,
    contradictory: Literal["error", "drop"] = "error",
) -> Problem:
    """The problem that methods see. Anchored accounts that are in no edge are added as isolated ones: they are known,
    and their partners are taken."""
    keep = np.ones(len(resolved.pairs), bool)
    if len(resolved.contradictory):
        place = int(resolved.contradictory[0])
        if contradictory == "error":
            raise columns.fault(
                int(resolved.rows[place]),
                f"anchor ({resolved.left_ids[place]}, {resolved.right_ids[place]}) contradicts another: "
                f"{resolved.report.contradictory} anchors give one account several partners",
                "keep one partner for each account, or leave all of them out with --set read.contradictory=drop",
            )
        keep[resolved.contradictory] = False
        if not keep.any():
            raise KedgeError(
                f"no anchors are left: all {len(keep)} contradict each other",
                file=columns.file,
                remedy="keep one partner for each account",
            )
    chosen = pa.array(keep)
    left_ids, right_ids = resolved.left_ids.filter(chosen), resolved.right_ids.filter(chosen)
    left, right = left.with_isolated(left_ids), right.with_isolated(right_ids)
    return Problem(left, right, np.column_stack([left.find(left_ids), right.find(right_ids)]))


def resolve_test(columns: Columns, problem: Problem) -> tuple[IntArray, tuple[str, ...]]:
    """Held-out pairs as accounts (-1: in no edge), without those that are anchors too; and what was left out."""
    resolved = resolve_pairs(columns, problem.left, problem.right, "test pairs")
    anchors = {(int(u), int(v)) for u, v in problem.anchors}
    seen = np.array([(int(u), int(v)) in anchors for u, v in resolved.pairs], bool)
    notes = list(resolved.report.notes)
    if seen.any():
        notes.append(f"{int(seen.sum())} test pairs are anchors too and were left out of the evaluation")
    if seen.all():
        raise KedgeError("every test pair is an anchor too", file=columns.file, remedy="hold out other pairs")
    return resolved.pairs[~seen], tuple(notes)
