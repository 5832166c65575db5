"""Edges left out of training, to tell when to stop and how well a fit foresees edges it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

from kedge.types import FloatArray, IntArray, Network

__all__ = ["Holdout", "area_under_curve", "draw_non_edges", "hold_out", "list_edges", "score_pairs"]

_FEWEST = 10  # with fewer edges left out their AUC is noise


@dataclass(frozen=True)
class Holdout:
    """The network without the edges left out, those edges, and as many pairs that are no edges, both [m, 2]."""

    network: Network
    edges: IntArray
    non_edges: IntArray


def list_edges(network: Network) -> IntArray:
    """The edges as pairs i < j, int64 [m, 2]."""
    rows = np.repeat(np.arange(network.n), network.degrees)
    columns = network.adjacency.indices.astype(np.int64)
    above = rows < columns
    return np.stack([rows[above], columns[above]], axis=1)


def draw_non_edges(network: Network, count: int, rng: np.random.Generator) -> IntArray:
    """Up to `count` pairs i < j that are no edges, drawn uniformly; fewer where the network has hardly any."""
    n = network.n
    edges = list_edges(network)
    known = np.sort(edges[:, 0] * n + edges[:, 1])
    room = n * (n - 1) // 2 - len(edges)
    count = min(count, room)
    found = np.empty(0, np.int64)
    while len(found) < count:
        pairs = np.sort(rng.integers(0, n, (4 * count + 16, 2)), axis=1)
        keys = pairs[:, 0] * n + pairs[:, 1]
        keys = keys[(pairs[:, 0] < pairs[:, 1]) & ~_stand_in(known, keys)]
        _, first = np.unique(np.concatenate([found, keys]), return_index=True)
        found = np.concatenate([found, keys])[np.sort(first)]
    found = found[:count]
    return np.stack([found // max(n, 1), found % max(n, 1)], axis=1)


def _stand_in(known: IntArray, keys: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    return known[place] == keys if len(known) else np.zeros(len(keys), np.bool_)


def hold_out(network: Network, share: float, rng: np.random.Generator) -> Holdout | None:
    """Leave out about `share` of the edges, never an account's last one; None where that leaves too few to judge by."""
    edges = list_edges(network)
    left = network.degrees.copy()
    wanted = int(share * len(edges))
    chosen: list[int] = []
    for number in rng.permutation(len(edges)):
        if len(chosen) == wanted:
            break
        i, j = edges[number]
        # An account without edges cannot be placed at all: judging by it would judge chance.
        if left[i] > 1 and left[j] > 1:
            left[i] -= 1
            left[j] -= 1
            chosen.append(int(number))
    non_edges = draw_non_edges(network, len(chosen), rng)
    if len(chosen) < _FEWEST or len(non_edges) < _FEWEST:
        return None
    out = edges[np.sort(chosen)]
    ends = np.concatenate([out, out[:, ::-1]])
    gone = csr_array((np.ones(len(ends), np.float32), (ends[:, 0], ends[:, 1])), shape=network.adjacency.shape)
    kept = network.adjacency - network.adjacency.multiply(gone)
    kept = csr_array(kept)
    kept.eliminate_zeros()
    return Holdout(Network(kept, network.ids), out, non_edges)


def score_pairs(X: FloatArray, pairs: IntArray) -> FloatArray:
    """x_i · x_j of each pair, [m]."""
    scores: FloatArray = np.einsum("ij,ij->i", X[pairs[:, 0]], X[pairs[:, 1]])
    return scores


def area_under_curve(positive: FloatArray, negative: FloatArray) -> float:
    """How likely a positive outscores a negative; a tie counts half, so vectors that say nothing get 0.5."""
    rank = rankdata(np.concatenate([positive, negative]))[: len(positive)]
    return float((rank.mean() - (len(positive) + 1) / 2) / len(negative))
