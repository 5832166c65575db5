"""What is in the data, what will it cost, and what looks wrong: the facts behind `kedge check`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kedge.ingest.anchors import AnchorReport
from kedge.ingest.edges import EdgeReport
from kedge.types import IntArray, Network

__all__ = ["AnchorFacts", "CheckReport", "NetworkFacts", "check", "edges_among", "estimate_cost", "hub_warning"]

# Fitted to benchmarks/growth.py and full_size.py, planted pairs all; a rough guide, said as such.
_CPU_SECONDS_FLOOR: Final = 5.0
_CPU_SECONDS_PER_ACCOUNT: Final = 3.5e-4
_CPU_SECONDS_PER_EDGE: Final = 2e-5
_TURN_PER_ACCOUNT: Final = 1.5e-4  # CPU seconds of a search of near accounts, and of evidence with a prior
_TURN_PER_EDGE: Final = 2.5e-5
_BYTES_FLOOR: Final = 700_000_000
_BYTES_PER_ACCOUNT: Final = 2_400
_BYTES_PER_EMBEDDED: Final = 7_500  # more for each account whose near ones are searched for
_BYTES_PER_EDGE: Final = 40


@dataclass(frozen=True)
class NetworkFacts:
    """Size and shape of one network, and what was dropped on reading it."""

    accounts: int
    edges: int
    degree_mean: float
    degree_median: float
    degree_max: int
    isolated: int
    components: int
    largest_component: int
    read: EdgeReport


@dataclass(frozen=True)
class AnchorFacts:
    """The known pairs, and how far the two networks agree on the edges between them.

    `edges_left`, `edges_right` and `edges_both` count edges whose two ends are anchored; `overlap` is both / either.
    """

    listed: AnchorReport
    left_share: float
    right_share: float
    edges_left: int
    edges_right: int
    edges_both: int
    overlap: float | None


@dataclass(frozen=True)
class CheckReport:
    """All that `kedge check` says."""

    left: NetworkFacts
    right: NetworkFacts
    anchors: AnchorFacts | None
    cpu_seconds: float
    peak_mb: float
    warnings: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def check(
    left: tuple[Network, EdgeReport],
    right: tuple[Network, EdgeReport],
    anchors: tuple[IntArray, AnchorReport] | None,
    turns: int = 0,
) -> CheckReport:
    """Describe two networks and their anchors (accounts, -1 for unknown ones); `turns` as in `estimate_cost`."""
    facts = [_describe(*side) for side in (left, right)]
    known = None if anchors is None else _describe_anchors(left[0], right[0], *anchors)
    seconds, megabytes = estimate_cost(left[0], right[0], turns)
    warnings = [
        *_network_warnings("left", left[0], facts[0]),
        *_network_warnings("right", right[0], facts[1]),
        *_size_warnings(*facts),
        *([] if known is None else _anchor_warnings(known)),
    ]
    return CheckReport(
        facts[0],
        facts[1],
        known,
        cpu_seconds=seconds,
        peak_mb=megabytes,
        warnings=tuple(warnings),
    )


def estimate_cost(left: Network, right: Network, turns: int = 0) -> tuple[float, float]:
    """Roughly how many CPU seconds and megabytes `kedge match` will take with the default settings.

    By evidence alone, and by so many turns of evidence and prior in all its runs.
    """
    accounts, edges = left.n + right.n, left.edges + right.edges
    turn = accounts * _TURN_PER_ACCOUNT + edges * _TURN_PER_EDGE
    each = _BYTES_PER_ACCOUNT + (_BYTES_PER_EMBEDDED if turns else 0)
    alone = _CPU_SECONDS_FLOOR + accounts * _CPU_SECONDS_PER_ACCOUNT + edges * _CPU_SECONDS_PER_EDGE
    return (
        round(alone + turns * turn, 1),
        round((_BYTES_FLOOR + accounts * each + edges * _BYTES_PER_EDGE) / 1e6),
    )


def _describe(network: Network, read: EdgeReport) -> NetworkFacts:
    degrees = network.degrees
    if network.n == 0:
        return NetworkFacts(0, 0, 0.0, 0.0, 0, 0, 0, 0, read)
    count, label = connected_components(network.adjacency, directed=False)
    return NetworkFacts(
        accounts=network.n,
        edges=network.edges,
        degree_mean=float(degrees.mean()),
        degree_median=float(np.median(degrees)),
        degree_max=int(degrees.max()),
        isolated=int((degrees == 0).sum()),
        components=int(count),
        largest_component=int(np.bincount(label).max()),
        read=read,
    )


def _describe_anchors(left: Network, right: Network, pairs: IntArray, listed: AnchorReport) -> AnchorFacts:
    known = pairs[(pairs >= 0).all(axis=1)]
    inside = [edges_among(left, known[:, 0]), edges_among(right, known[:, 1])]
    # Both are numbered by anchor, so an edge of both networks stands in the same cell.
    both = int(inside[0].multiply(inside[1]).nnz // 2)
    either = int((inside[0].nnz + inside[1].nnz) // 2 - both)
    return AnchorFacts(
        listed=listed,
        left_share=len(known) / max(1, left.n),
        right_share=len(known) / max(1, right.n),
        edges_left=int(inside[0].nnz // 2),
        edges_right=int(inside[1].nnz // 2),
        edges_both=both,
        overlap=both / either if either else None,
    )


def edges_among(network: Network, accounts: IntArray) -> csr_array:
    """1 where an edge joins two of the accounts, numbered as they are given, each edge in both directions."""
    inside = csr_array(network.adjacency[accounts][:, accounts])
    return csr_array((np.ones(inside.nnz, np.int8), inside.indices, inside.indptr), shape=inside.shape)


def _network_warnings(side: str, network: Network, facts: NetworkFacts) -> list[str]:
    said = [f"{side}: {note}" for note in facts.read.notes]
    if facts.edges == 0:
        said.append(f"{side}: no edges are left, so nothing can be matched by structure")
        return said
    hub = hub_warning(side, network)
    if hub:
        said.append(hub)
    if facts.largest_component < 0.5 * facts.accounts:
        said.append(
            f"{side}: the largest of {facts.components} components holds only "
            f"{facts.largest_component / facts.accounts:.0%} of the accounts; evidence does not cross components"
        )
    if facts.read.repeated > 0.02 * facts.read.rows:
        said.append(f"{side}: {facts.read.repeated:,} rows repeat an edge (also reversed); each counts once")
    alike = _alike_ids(network.ids)
    if alike:
        said.append(f"{side}: {alike}")
    return said


def hub_warning(side: str, network: Network) -> str | None:
    """Said where one account is joined to most others: that two accounts both know it says next to nothing."""
    others, most = network.n - 1, int(network.degrees.max()) if network.n else 0
    if most <= 0.5 * others or others < 20:
        return None
    return f"{side}: one account is joined to {most / others:.0%} of all the others, so knowing it says little"


def _alike_ids(ids: pa.Array) -> str | None:
    """Ids that people would read as one: equal but for Unicode form, or but for leading zeros or `.0`."""
    composed = len(ids) - len(pc.unique(pc.utf8_normalize(ids, "NFC")))
    if composed:
        return f"{composed} ids differ from another only in their Unicode form (NFC/NFD); they are kept apart"
    numeric = ids.filter(pc.match_substring_regex(ids, r"^[0-9]+(\.0)?$"))
    plain = pc.replace_substring_regex(pc.replace_substring_regex(numeric, r"\.0$", ""), r"^0+([0-9])", r"\1")
    merged = len(numeric) - len(pc.unique(plain))
    if merged:
        return f"{merged} ids differ from another only in leading zeros or a final .0; they are kept apart"
    return None


def _size_warnings(left: NetworkFacts, right: NetworkFacts) -> list[str]:
    small, large = sorted((left.accounts, right.accounts))
    if small and large > 10 * small:
        return [f"the networks are of very unequal size ({large / small:.0f} to 1); most accounts have no counterpart"]
    return []


def _anchor_warnings(facts: AnchorFacts) -> list[str]:
    listed = facts.listed
    said = [f"anchors: {note}" for note in listed.notes]
    distinct = listed.found + listed.unknown
    if listed.equal_ids > 0.5 * distinct:
        said.append(
            f"anchors: ids are equal on {listed.equal_ids / distinct:.0%} of the anchors; kedge does not use ids, "
            "but joining on them may already answer your question"
        )
    if listed.unknown:
        said.append(f"anchors: {listed.unknown} name an account that is in no edge; they carry no evidence")
    if listed.repeated:
        said.append(f"anchors: {listed.repeated} rows repeat a pair; each counts once")
    if listed.contradictory:
        said.append(f"anchors: {listed.contradictory} give one account several partners; `match` refuses them")
    if listed.found < 10:
        said.append(f"anchors: {listed.found} are too few to estimate how far the networks agree")
    if facts.overlap is not None and facts.overlap < 0.02:
        said.append(
            f"anchors: the networks share only {facts.overlap:.1%} of the edges among them; expect weak matches"
        )
    if facts.overlap is None and listed.found >= 2:
        said.append("anchors: no edge joins two of them, so the agreement of the networks cannot be measured")
    return said
