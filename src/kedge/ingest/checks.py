"""What is in the data, what will it cost, and what looks wrong: the facts behind `kedge check`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import pdtrc

from kedge.ingest.anchors import AnchorReport
from kedge.ingest.build import EdgeReport
from kedge.linalg import pattern
from kedge.types import IntArray, Network

# Fitted to benchmarks/growth.py and full_size.py, all with planted pairs: a rough guide.
_CPU_SECONDS_FLOOR: Final = 5.0
_CPU_SECONDS_PER_ACCOUNT: Final = 3.5e-4
_CPU_SECONDS_PER_EDGE: Final = 2e-5
_REFINEMENT_PER_ACCOUNT: Final = 1.5e-4  # CPU seconds of a search of near accounts, and of evidence with a prior
_REFINEMENT_PER_EDGE: Final = 2.5e-5
_BYTES_FLOOR: Final = 700_000_000
_BYTES_PER_ACCOUNT: Final = 2_400
_BYTES_PER_EMBEDDED: Final = 7_500  # more for each account whose near ones are searched for
_BYTES_PER_EDGE: Final = 40
# With profiles: benchmarks/profiles.py. Their weight is chosen by more runs, and each has more candidates.
_PROFILES_REPEAT: Final = 2.0
_CPU_SECONDS_PER_VALUE: Final = 4e-5  # of one field of one account, compared
_BYTES_PER_VALUE: Final = 700
FEWEST_EDGES: Final = 10  # edges among anchors; from fewer, how often an edge is on both sides is mostly assumed
_LEVEL: Final = 0.05  # of the test whether edges are in both networks more often than by chance; unmeasured


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
    """All that `kedge check` shows."""

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
    refinements: int = 0,
    fields: int = 0,
) -> CheckReport:
    """Describe two networks and their anchors (accounts, -1 for unknown ones); `refinements` and `fields` as in
    `estimate_cost`."""
    facts = [_describe(*side) for side in (left, right)]
    known = None if anchors is None else _describe_anchors(left[0], right[0], *anchors)
    seconds, megabytes = estimate_cost(left[0], right[0], refinements, fields)
    warnings = [
        *_network_warnings("left", left[0], facts[0]),
        *_network_warnings("right", right[0], facts[1]),
        *_size_warnings(*facts),
        *([SAME_NETWORK] if left[0].is_same_as(right[0]) else []),
        *([] if known is None else _anchor_warnings(known)),
    ]
    return CheckReport(facts[0], facts[1], known, cpu_seconds=seconds, peak_mb=megabytes, warnings=tuple(warnings))


def estimate_cost(left: Network, right: Network, refinements: int = 0, fields: int = 0) -> tuple[float, float]:
    """Roughly how many CPU seconds and megabytes `kedge match` will take with the default settings.

    For evidence alone, plus so many refinements of evidence and prior over all of its runs; with so many compared
    fields of profiles.
    """
    accounts, edges = left.n + right.n, left.edges + right.edges
    refinement = accounts * _REFINEMENT_PER_ACCOUNT + edges * _REFINEMENT_PER_EDGE
    each = _BYTES_PER_ACCOUNT + (_BYTES_PER_EMBEDDED if refinements else 0)
    alone = _CPU_SECONDS_FLOOR + accounts * _CPU_SECONDS_PER_ACCOUNT + edges * _CPU_SECONDS_PER_EDGE
    all_bytes = _BYTES_FLOOR + accounts * each + edges * _BYTES_PER_EDGE
    seconds = alone + refinements * refinement
    if fields:
        seconds = _PROFILES_REPEAT * seconds + accounts * fields * _CPU_SECONDS_PER_VALUE
        all_bytes += accounts * fields * _BYTES_PER_VALUE
    return round(seconds, 1), round(all_bytes / 1e6)


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
    edges = edges_among(left, right, known)
    either = edges.left + edges.right - edges.both
    return AnchorFacts(
        listed=listed,
        left_share=len(known) / max(1, left.n),
        right_share=len(known) / max(1, right.n),
        edges_left=edges.left,
        edges_right=edges.right,
        edges_both=edges.both,
        overlap=edges.both / either if either else None,
    )


class EdgesAmong(NamedTuple):
    """How many edges join two of the anchored accounts: on the left, on the right, and in both networks."""

    left: int
    right: int
    both: int


def edges_among(left: Network, right: Network, anchors: IntArray) -> EdgesAmong:
    """The edges among anchored accounts, counted."""
    inside = [
        pattern(csr_array(network.adjacency[accounts][:, accounts]), np.int8)
        for network, accounts in zip((left, right), anchors.T, strict=True)
    ]
    # Both are numbered by anchor, so an edge of both networks stands in the same cell.
    both = csr_array(inside[0].multiply(inside[1]))
    return EdgesAmong(*(int(matrix.nnz // 2) for matrix in (*inside, both)))


def misfit_warning(edges: EdgesAmong, anchors: int) -> str | None:
    """A warning where enough edges join anchored accounts, and no more of them than by chance are in both networks."""
    expected = edges.left * edges.right / max(1, anchors * (anchors - 1) / 2)
    if min(edges.left, edges.right) < FEWEST_EDGES or (edges.both and pdtrc(edges.both - 1, expected) <= _LEVEL):
        return None
    among = f"{edges.both:,} of the {edges.left:,} and {edges.right:,} edges among the anchors"
    return (
        f"{among} are in both networks, no more than by chance ({expected:.2g}): anchors or columns that do not fit, "
        "or networks with nothing in common"
    )


def _network_warnings(side: str, network: Network, facts: NetworkFacts) -> Iterator[str]:
    yield from (f"{side}: {note}" for note in facts.read.notes)
    if facts.edges == 0:
        yield f"{side}: no edges are left, so nothing can be matched by structure"
        return
    if hub := hub_warning(side, network):
        yield hub
    if facts.largest_component < 0.5 * facts.accounts:
        share = facts.largest_component / facts.accounts
        yield (
            f"{side}: the largest of {facts.components} components holds only {share:.0%} of the accounts; "
            "evidence does not cross components"
        )
    if facts.read.repeated > 0.02 * facts.read.rows:
        yield f"{side}: {facts.read.repeated:,} rows repeat an edge (also reversed); each counts once"
    if alike := _alike_ids(network.ids):
        yield f"{side}: {alike}"


def hub_warning(side: str, network: Network) -> str | None:
    """A warning where one account is joined to most others: to have it as a common neighbour is little evidence."""
    others, most = network.n - 1, int(network.degrees.max()) if network.n else 0
    if most <= 0.5 * others or others < 20:
        return None
    return f"{side}: one account is joined to {most / others:.0%} of all the others, which is little evidence"


def _alike_ids(ids: pa.Array) -> str | None:
    """Ids that people would read as one: equal but for Unicode form, or but for leading zeros or `.0`."""
    composed = len(ids) - len(pc.unique(pc.utf8_normalize(ids, "NFC")))
    if composed:
        return f"{composed} ids differ from another only in their Unicode form (NFC/NFD); they are kept apart"
    numeric = ids.filter(pc.match_substring_regex(ids, r"^[0-9]+(\.0)?$"))
    plain = pc.replace_substring_regex(pc.replace_substring_regex(numeric, r"\.0$", ""), r"^0+([0-9])", r"\1")
    merged = len(numeric) - len(pc.unique(plain))
    return (
        f"{merged} ids differ from another only in leading zeros or a final .0; they are kept apart" if merged else None
    )


SAME_NETWORK: Final = "the left and the right network are the same: is one of the two files the wrong one?"


def _size_warnings(left: NetworkFacts, right: NetworkFacts) -> list[str]:
    small, large = sorted((left.accounts, right.accounts))
    if small and large > 10 * small:
        return [f"the networks are of very unequal size ({large / small:.0f} to 1); most accounts have no counterpart"]
    return []


def _anchor_warnings(facts: AnchorFacts) -> list[str]:
    listed, overlap = facts.listed, facts.overlap
    equal = listed.equal_ids / max(1, listed.found + listed.unknown)
    misfit = misfit_warning(EdgesAmong(facts.edges_left, facts.edges_right, facts.edges_both), listed.found)
    warnings = {
        f"ids are equal on {equal:.0%} of the anchors; kedge does not use ids, but joining on them may already answer "
        "your question": equal > 0.5,
        f"{listed.unknown} name an account that is in no edge; they carry no evidence": listed.unknown,
        f"{listed.repeated} rows repeat a pair; each counts once": listed.repeated,
        f"{listed.contradictory} give one account several partners; `match` refuses them": listed.contradictory,
        f"{listed.found} are too few to estimate how far the networks agree": listed.found < 10,
        f"the networks share only {overlap or 0:.1%} of the edges among them; expect weak matches": overlap is not None
        and overlap < 0.02
        and misfit is None,
        "no edge joins two of them, so the agreement of the networks cannot be measured": overlap is None
        and listed.found >= 2,
        misfit or "": misfit is not None,
    }
    return [f"anchors: {text}" for text in (*listed.notes, *(text for text, holds in warnings.items() if holds))]
