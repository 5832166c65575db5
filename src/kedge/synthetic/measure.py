"""The figures of a planted pair, counted afresh on the finished networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.linalg import row_index
from kedge.synthetic.pair import keys
from kedge.types import IntArray, Network

WEDGES = 200_000  # a share estimated from so many has a standard error of about 0.001


def _sorted_keys(network: Network) -> NDArray[np.int64]:
    """Both directions of every edge, ascending because the CSR is canonical."""
    return keys(row_index(network.adjacency), network.adjacency.indices)


def _contains(ascending: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    if len(ascending) == 0:
        return np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.asarray(ascending[places] == wanted)


def _closed(network: Network, ascending: NDArray[np.int64], centres: IntArray, rng: np.random.Generator) -> float:
    """The share of random pairs of neighbours of the centres that are joined themselves."""
    adjacency = network.adjacency
    degrees = network.degrees[centres]
    one = rng.integers(0, degrees)
    other = (one + rng.integers(1, degrees)) % degrees  # uniform among the other neighbours
    start = adjacency.indptr[centres].astype(np.int64)
    pairs = keys(adjacency.indices[start + one], adjacency.indices[start + other])
    pairs.sort()
    return float(_contains(ascending, pairs).mean())


def clustering(network: Network, ascending: NDArray[np.int64] | None = None) -> tuple[float, float]:
    """(global, mean local) clustering, estimated from 200,000 random wedges each.

    Global: closed wedges among all wedges (3 × triangles / wedges). Local: the mean over accounts of at least
    two neighbours. The wedges come from a fixed seed: the same network has the same figures. 0 without wedges.
    """
    ascending = _sorted_keys(network) if ascending is None else ascending
    rng = np.random.default_rng(0)
    eligible = np.flatnonzero(network.degrees >= 2)
    if len(eligible) == 0:
        return 0.0, 0.0
    degrees = network.degrees[eligible]
    cumulative = np.cumsum(degrees * (degrees - 1) // 2)
    drawn = np.sort(rng.integers(0, cumulative[-1], WEDGES))
    by_wedge = eligible[np.searchsorted(cumulative, drawn, side="right")]
    by_account = np.sort(rng.choice(eligible, WEDGES))
    return _closed(network, ascending, by_wedge, rng), _closed(network, ascending, by_account, rng)


def measure(left: Network, right: Network, anchors: IntArray) -> dict[str, float]:
    """Counts, degrees, clustering and edge overlap of a pair.

    Overlap: of the left edges between two persons in both networks, the share that exists on the right too.
    """
    figures: dict[str, float] = {"anchors": len(anchors)}
    sorted_keys = {}
    for name, network in (("left", left), ("right", right)):
        degrees = network.degrees
        ascending = sorted_keys[name] = _sorted_keys(network)
        overall, local = clustering(network, ascending)
        figures |= {
            f"{name}_nodes": network.n,
            f"{name}_edges": network.edges,
            f"{name}_isolated": int((degrees == 0).sum()),
            f"{name}_mean_degree": float(degrees.mean()),
            f"{name}_median_degree": float(np.median(degrees)),
            f"{name}_max_degree": int(degrees.max()),
            f"{name}_clustering": overall,
            f"{name}_local_clustering": local,
        }
    to_right = np.full(left.n, -1, np.int32)
    to_right[anchors[:, 0]] = anchors[:, 1]
    in_both = np.zeros(right.n, bool)
    in_both[anchors[:, 1]] = True

    ours = sorted_keys.pop("left")
    ends = to_right[ours >> 32], to_right[ours & 0xFFFFFFFF]
    among = (ends[0] >= 0) & (ends[1] > ends[0])  # each edge once, in the order of the right accounts
    wanted = np.sort(keys(ends[0][among], ends[1][among]))
    theirs = sorted_keys.pop("right")
    shared = int(_contains(theirs, wanted).sum())
    right_among = int((in_both[theirs >> 32] & in_both[theirs & 0xFFFFFFFF]).sum()) // 2
    left_among = len(wanted)
    return figures | {
        "left_edges_among_anchors": left_among,
        "right_edges_among_anchors": right_among,
        "shared_edges": shared,
        "overlap": shared / left_among if left_among else float("nan"),
        "overlap_of_right": shared / right_among if right_among else float("nan"),
        "jaccard": shared / (left_among + right_among - shared) if left_among + right_among else float("nan"),
        "degree_correlation": _correlation(left.degrees[anchors[:, 0]], right.degrees[anchors[:, 1]]),
    }


def _correlation(left: IntArray, right: IntArray) -> float:
    """Pearson's correlation of log(1 + degree) over the anchors; NaN where a side does not vary."""
    if len(left) < 2 or left.min() == left.max() or right.min() == right.max():
        return float("nan")
    return float(np.corrcoef(np.log1p(left), np.log1p(right))[0, 1])
