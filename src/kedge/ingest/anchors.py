"""From columns of ids to pairs of accounts: found, unknown, repeated, contradictory, swapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kedge.ingest.alike import Alike, find_alike
from kedge.ingest.columns import Columns, encode
from kedge.ingest.formulas import unguard
from kedge.types import BoolArray, IntArray, KedgeError, Network, Problem, is_among, pair_keys

_FEWEST: Final = 8  # accounts from which a network without any path of two edges is doubted; unmeasured


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
    sides = ((encoded.first, left), (encoded.second, right))
    ids = [_without_guards(encoded.ids.take(pa.array(side)), network) for side, network in sides]
    rows = np.arange(len(ids[0]))
    pairs = np.column_stack([left.find(ids[0]), right.find(ids[1])])
    notes = list(columns.notes)
    if not columns.header and _is_unknown_header(pairs):
        notes.append(f"the first row ({ids[0][0]}, {ids[1][0]}) names no accounts: taken as a header")
        ids, rows, pairs = [side[1:] for side in ids], rows[1:], pairs[1:]
    if len(rows) == 0:
        raise KedgeError(f"no {what}", file=columns.file, remedy="give at least one pair of ids")
    known: BoolArray = np.asarray((pairs >= 0).all(axis=1))
    alike = None if known.all() else find_alike(ids, (left, right), known)
    if known.mean() <= 0.5:
        bad = int(np.flatnonzero(~known)[0])
        example = f"{ids[0][bad].as_py()!r}, {ids[1][bad].as_py()!r}"
        raise _misfit(columns, what, left, right, known, _elsewhere(ids, left, right), alike, int(rows[bad]), example)
    if alike is not None:
        notes.append(
            f"{alike.rows:,} of {len(known):,} {what} match if {alike.ignored}, and {int(known.sum()):,} as they are: "
            f"{alike.listed!r} is {alike.known!r} in the network; write them alike"
        )

    # Repeats are judged by id, so that pairs of unknown accounts count too.
    names = pa.chunked_array(ids).dictionary_encode()
    a, b = (np.asarray(chunk.indices).astype(np.int64) for chunk in names.chunks)
    kept = np.sort(np.unique(pair_keys(a, b, int(max(a.max(), b.max())) + 1), return_index=True)[1])
    clash = _more_than_once(a[kept]) | _more_than_once(b[kept])
    first_ids, second_ids = (side.take(pa.array(kept)) for side in ids)
    report = AnchorReport(
        rows=len(rows),
        found=int(known[kept].sum()),
        unknown=int((~known[kept]).sum()),
        repeated=len(rows) - len(kept),
        contradictory=int(clash.sum()),
        equal_ids=int(np.count_nonzero(np.asarray(first_ids) == np.asarray(second_ids))),
        notes=tuple(notes),
    )
    return ResolvedPairs(first_ids, second_ids, pairs[kept], rows[kept], np.flatnonzero(clash), report)


def _without_guards(ids: pa.Array, network: Network) -> pa.Array:
    """The ids of a file that kedge may have exported: without the apostrophe where the network has that id."""
    plain = unguard(ids)
    if plain.equals(ids):
        return ids
    return pc.if_else(pa.array((network.find(ids) < 0) & (network.find(plain) >= 0)), plain, ids)


def _is_unknown_header(pairs: IntArray) -> bool:
    """Whether the first row has no known account while most rows below have two."""
    return len(pairs) > 1 and bool((pairs[0] < 0).all()) and bool((pairs[1:] >= 0).all(axis=1).mean() > 0.5)


def _more_than_once(values: IntArray) -> BoolArray:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(count[place] > 1)


def _elsewhere(ids: list[pa.Array], left: Network, right: Network) -> dict[str, int]:
    """How many rows would be known in other ways: exchanged, or with both ids of one network."""
    ends = {
        "exchanged": (right.find(ids[0]), left.find(ids[1])),
        "left": (left.find(ids[0]), left.find(ids[1])),
        "right": (right.find(ids[0]), right.find(ids[1])),
    }
    return {name: int(((one >= 0) & (other >= 0)).sum()) for name, (one, other) in ends.items()}


def _misfit(
    columns: Columns,
    what: str,
    left: Network,
    right: Network,
    known: BoolArray,
    elsewhere: dict[str, int],
    alike: Alike | None,
    row: int,
    example: str,
) -> KedgeError:
    """Why at most half of the pairs are known: if more would be another way, that is what is wrong."""
    for side, network in (("left", left), ("right", right)):
        if network.n >= _FEWEST and (network.degrees <= 1).all():
            return KedgeError(
                f"no account of the {side} network has more than one edge: it looks like a list of {what}",
                file=columns.file,
                remedy="give the two networks first, and the known pairs with --anchors",
            )
    way = max(elsewhere, key=lambda name: elsewhere[name])
    most = elsewhere[way]
    if most > max(0.5 * len(known), known.sum()):
        if way == "exchanged":
            return KedgeError(
                f"the columns look swapped: {most} of {len(known)} rows have a right account first and a left account "
                "second",
                file=columns.file,
                remedy="exchange the two columns, or the two networks on the command line",
            )
        return KedgeError(
            f"both ids of {most} of {len(known)} rows are accounts of the {way} network: this looks like a network and "
            f"not like {what}",
            file=columns.file,
            remedy="give pairs of a left id and a right id, or name their columns with --anchor-columns",
        )
    unknown = f"{int((~known).sum())} of {len(known)} {what} name accounts that are in no edge"
    if alike is not None and alike.rows > max(0.5 * len(known), known.sum()):
        return columns.fault(
            row,
            f"{unknown}, but {alike.rows} of {len(known)} match if {alike.ignored}: {alike.listed!r} is "
            f"{alike.known!r} in the network",
            "write ids alike in all files: they are not changed",
        )
    return columns.fault(
        row,
        f"{unknown}, the first {example}",
        "check that the ids are written as in the networks (01 is not 1), or name their columns with --anchor-columns",
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
                f"{resolved.report.contradictory} anchors give one account several partners{_edges(resolved)}",
                "keep one partner for each account, or drop all of them with --set read.contradictory=drop",
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


def _edges(resolved: ResolvedPairs) -> str:
    """What most contradictions come from."""
    most = resolved.report.contradictory > 0.5 * len(resolved.pairs)
    return " (is this a network, and not a list of known pairs?)" if most else ""


def resolve_test(columns: Columns, problem: Problem) -> tuple[IntArray, tuple[str, ...]]:
    """Held-out pairs as accounts (-1: in no edge), without those that are anchors too; and notes."""
    resolved = resolve_pairs(columns, problem.left, problem.right, "test pairs")
    known = (resolved.pairs >= 0).all(axis=1)
    seen = known & is_among(resolved.pairs, problem.anchors, problem.right.n)
    notes = list(resolved.report.notes)
    if seen.any():
        notes.append(f"{int(seen.sum())} test pairs are anchors too and are not used in the evaluation")
    if seen.all():
        raise KedgeError("every test pair is an anchor too", file=columns.file, remedy="hold out other pairs")
    pairs = resolved.pairs[~seen]
    return pairs[np.lexsort(pairs.T[::-1])], tuple(
        notes
    )  # the order of a file has no effect on what is drawn or summed
