"""How alike the positions of two accounts among all anchors are, near and far: defined for any pair of accounts.

Evidence exists only for pairs with matched neighbours. Where the networks share few edges most true pairs have none,
yet both accounts are among the same anchors:

    X_0[a] = Y_0[b] = r_i for each anchor i = (a, b), 0 elsewhere;      X_k = D^-1/2 A D^-1/2 X_{k-1}, likewise Y_k
    reach_k(u, v) = cos(X_k[u], Y_k[v])

With r_i the unit vectors this is the cosine of how often walks of k steps from u and from v end at each anchor. More
than `_WIDTH` anchors are sketched: r_i are random signs then, which keep every inner product within about
1 / sqrt(width) (Johnson and Lindenstrauss). Cost: edges × width × hops; memory: two n × width matrices per side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from kedge.linalg import symmetric_walk, unit_rows
from kedge.types import FloatArray, IntArray, Problem, as_pairs

_WIDTH: Final = 512
_CELLS: Final = 1 << 25  # entries of one matrix at most (128 MB): larger networks get narrower sketches
_LEAST_WIDTH: Final = 32
_OTHERS: Final = 1000  # accounts that a pair is compared with
_BLOCK: Final = 4096
_EQUAL: Final = 1e-5  # cosines this close are equal: two ways to add up the same product differ by rounding


def _marks(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """r_i, [anchors, width]."""
    count = len(problem.anchors)
    most = max(problem.left.n, problem.right.n, 1)
    width = int(np.clip(_CELLS // most, _LEAST_WIDTH, _WIDTH))
    if count <= width:
        return np.eye(count, dtype=np.float32)
    return (rng.integers(0, 2, (count, width)) * 2 - 1).astype(np.float32)


def _compare(X: FloatArray, Y: FloatArray, pairs: IntArray, rivals: Sequence[IntArray]) -> FloatArray:
    """For each pair its cosine, and the shares of rivals on the right, then on the left, that come closer, [m, 3].

    Block by block: the vectors of a large network's test pairs would need more memory than the network.
    """
    near_left, near_right = unit_rows(X[rivals[0]]), unit_rows(Y[rivals[1]])
    result = np.empty((len(pairs), 3))
    for start in range(0, len(pairs), _BLOCK):
        part = pairs[start : start + _BLOCK]
        u, v = unit_rows(X[part[:, 0]]), unit_rows(Y[part[:, 1]])
        score = np.einsum("ij,ij->i", u, v)
        closer = [
            (mine @ others.T > score[:, None] + _EQUAL).mean(axis=1)
            for mine, others in ((u, near_right), (v, near_left))
        ]
        result[start : start + _BLOCK] = np.column_stack([score, *closer])
    return result


def reach(problem: Problem, pairs: IntArray, hops: int) -> FloatArray:
    """For each pair [m, 3 · hops]: reach_1, ..., and for each of them the log share of 1,000 random accounts on the
    right (then on the left) that come closer."""
    pairs = as_pairs(pairs)
    # Any fixed draw will do: the same marks on both sides, the same rivals for all pairs.
    rng = np.random.default_rng(0)
    marks = _marks(problem, rng)
    sides, rivals = [], []
    for side, network in enumerate((problem.left, problem.right)):
        X = np.zeros((network.n, marks.shape[1]), np.float32)
        X[problem.anchors[:, side]] = marks
        sides.append((symmetric_walk(network), X))
        rivals.append(rng.integers(max(network.n, 1), size=_OTHERS if network.n else 0))
    found: list[FloatArray] = []
    for _ in range(hops):
        sides = [(walk, walk @ X) for walk, X in sides]
        found.append(_compare(sides[0][1], sides[1][1], pairs, rivals))
    if not found:
        return np.empty((len(pairs), 0))
    return np.column_stack([hop[:, 0] for hop in found] + [np.log(hop[:, 1:] + 1 / _OTHERS) for hop in found])
