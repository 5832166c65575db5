"""Edges held out of training, to decide when to stop and to measure how well a fit predicts edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

from kedge.linalg import row_index
from kedge.types import FloatArray, IntArray, Network, is_among, pair_keys

_FEWEST = 10  # with fewer held-out edges their AUC is noise; unmeasured


@dataclass(frozen=True)
class Holdout:
    """The network without its held-out edges, those edges, and as many pairs that are no edges, both [m, 2]."""

    network: Network
    edges: IntArray
    non_edges: IntArray

    def judge(self, X: FloatArray) -> float:
        """The AUC of x_i · x_j: how well vectors [n, d] separate held-out edges from non-edges."""
        return area_under_curve(score_pairs(X, self.edges), score_pairs(X, self.non_edges))


def list_edges(network: Network) -> IntArray:
    """The edges as pairs i < j, int64 [m, 2]."""
    rows = row_index(network.adjacency)
    columns = network.adjacency.indices.astype(np.int64)
    above = rows < columns
    return np.stack([rows[above], columns[above]], axis=1)


def draw_non_edges(network: Network, count: int, rng: np.random.Generator) -> IntArray:
    """Up to `count` pairs i < j that are no edges, drawn uniformly; fewer where the network has hardly any."""
    n = network.n
    edges = list_edges(network)
    known = pair_keys(edges[:, 0], edges[:, 1], n)
    room = n * (n - 1) // 2 - len(edges)
    count = min(count, room)
    found = np.empty(0, np.int64)
    while len(found) < count:
        pairs = np.sort(rng.integers(0, n, (4 * count + 16, 2)), axis=1)
        keys = pair_keys(pairs[:, 0], pairs[:, 1], n)
        keys = keys[(pairs[:, 0] < pairs[:, 1]) & ~np.isin(keys, known)]
        _, first = np.unique(np.concatenate([found, keys]), return_index=True)
        found = np.concatenate([found, keys])[np.sort(first)]
    found = found[:count]
    return np.stack([found // max(n, 1), found % max(n, 1)], axis=1)


def hold_out(network: Network, share: float, rng: np.random.Generator) -> Holdout | None:
    """Hold out about `share` of the edges, never an account's last one; None where these are too few to judge by."""
    edges = list_edges(network)
    left = network.degrees.copy()
    wanted = int(share * len(edges))
    chosen: list[int] = []
    for number in rng.permutation(len(edges)):
        if len(chosen) == wanted:
            break
        i, j = edges[number]
        # An account without edges has no vector: judging by it would judge chance.
        if left[i] > 1 and left[j] > 1:
            left[i] -= 1
            left[j] -= 1
            chosen.append(int(number))
    non_edges = draw_non_edges(network, len(chosen), rng)
    if len(chosen) < _FEWEST or len(non_edges) < _FEWEST:
        return None
    out = edges[np.sort(chosen)]
    A = network.adjacency
    pairs = np.stack([row_index(A), A.indices], axis=1)
    kept = ~is_among(np.sort(pairs, axis=1), out, network.n)
    rest = csr_array((A.data[kept], (pairs[kept, 0], pairs[kept, 1])), shape=A.shape)
    return Holdout(Network(rest, network.ids), out, non_edges)


def score_pairs(X: FloatArray, pairs: IntArray) -> FloatArray:
    """x_i · x_j of each pair, [m]."""
    return np.asarray(np.einsum("ij,ij->i", X[pairs[:, 0]], X[pairs[:, 1]]))


def area_under_curve(positive: FloatArray, negative: FloatArray) -> float:
    """How likely a positive outscores a negative; a tie counts half, so equal vectors get 0.5."""
    rank = rankdata(np.concatenate([positive, negative]))[: len(positive)]
    return float((rank.mean() - (len(positive) + 1) / 2) / len(negative))
