"""Expand-when-stuck percolation (Kazemi, Hassani, Grossglauser; VLDB 2015): a matching from few seeds.

A matched pair gives a mark to every pair of its neighbours. The unmatched pair with most marks, at least r = 2, the
more alike in degree among equals, is matched next. When none is left, every pair with a mark whose accounts are both
free gives its own marks, though it may be wrong, and matching goes on.

Deviations: what still ties is decided by a draw from the seed; when stuck, pairs of fewest neighbours speak first and
at most `baselines.work` marks are given; a pair of hubs with more than `baselines.hub_pairs` pairs around it gives
none. A pair with one mark only is never matched by the paper, though an account of one edge can get no second: at the
end who is left free is matched by witnesses in the matching, most first, be it one. The result ranks pairs by their
witnesses, matched pairs first.

Cost: Σ over matched pairs of d_u d_v marks, each an entry of a hash table and a step in a heap; no n × n matrix.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit, types
from numba.typed import Dict
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.link.assign import assign
from kedge.methods.witnesses import rank_by_witnesses
from kedge.types import IntArray, Problem

__all__ = ["align", "grow"]

_LEAST_MARKS = 2
_DRAW = 1e-6  # far below what one witness, or a difference of degrees, counts


def align(problem: Problem, config: Config, seed: int) -> SparseAlignment:
    """All pairs by their witnesses in the grown matching; `seed` decides between equals."""
    links = grow(problem, config.baselines.work, config.baselines.hub_pairs, seed)
    links = np.concatenate([links, _complete(problem, links, config.baselines.keep, seed)])
    return rank_by_witnesses(problem, links, config.baselines.keep)


def _complete(problem: Problem, links: IntArray, keep: int, seed: int) -> IntArray:
    """Accounts left free, matched greedily by their witnesses among the links; equals by a draw."""
    scores = rank_by_witnesses(problem, links, keep).scores.tocoo()
    free = ~np.isin(scores.row, links[:, 0]) & ~np.isin(scores.col, links[:, 1])
    gain = scores.data[free] + _DRAW * np.random.default_rng(seed).random(int(free.sum()))
    return assign(csr_array((gain, (scores.row[free], scores.col[free])), shape=scores.shape), "greedy")


def grow(problem: Problem, work: int, hub_pairs: int, seed: int) -> IntArray:
    """The anchors and the pairs matched from them, [m, 2]."""
    rng = np.random.default_rng(seed)
    left, right = problem.left, problem.right
    partner = _grow(
        left.adjacency.indptr.astype(np.int64),
        left.adjacency.indices.astype(np.int64),
        right.adjacency.indptr.astype(np.int64),
        right.adjacency.indices.astype(np.int64),
        problem.anchors.copy(),
        rng.permutation(left.n),
        rng.permutation(right.n),
        work,
        hub_pairs,
    )
    matched = np.flatnonzero(partner >= 0)
    return np.column_stack([matched, partner[matched]])


@njit(cache=True)
def _mark(u, v, starts, ends, other_starts, other_ends, partner, holder, draw, other_draw, marks, heap):  # type: ignore[no-untyped-def]
    """A mark from (u, v) to every pair of their neighbours whose accounts are both free."""
    n2 = len(other_starts) - 1
    for i in range(starts[u], starts[u + 1]):
        a = ends[i]
        if partner[a] >= 0:
            continue
        degree = starts[a + 1] - starts[a]
        for j in range(other_starts[v], other_starts[v + 1]):
            b = other_ends[j]
            if holder[b] >= 0:
                continue
            key = a * n2 + b
            count = marks.get(key, np.int64(0)) + 1
            marks[key] = count
            if count >= _LEAST_MARKS:
                apart = abs(degree - (other_starts[b + 1] - other_starts[b]))
                heappush(heap, (-count, apart, draw[a] * n2 + other_draw[b], key))


@njit(cache=True)
def _grow(starts, ends, other_starts, other_ends, seeds, draw, other_draw, work, hub_pairs):  # type: ignore[no-untyped-def]
    """The right partner of each left account, or -1."""
    n1, n2 = len(starts) - 1, len(other_starts) - 1
    partner, holder = np.full(n1, -1, np.int64), np.full(n2, -1, np.int64)
    marks = Dict.empty(types.int64, types.int64)
    used = Dict.empty(types.int64, types.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
    heap.pop()
    for s in range(len(seeds)):
        partner[seeds[s, 0]], holder[seeds[s, 1]] = seeds[s, 1], seeds[s, 0]
    for s in range(len(seeds)):
        u, v = seeds[s, 0], seeds[s, 1]
        used[u * n2 + v] = 1
        if (starts[u + 1] - starts[u]) * (other_starts[v + 1] - other_starts[v]) <= hub_pairs:
            _mark(u, v, starts, ends, other_starts, other_ends, partner, holder, draw, other_draw, marks, heap)
    while True:
        while len(heap) > 0:
            count, _, _, key = heappop(heap)
            u, v = key // n2, key % n2
            if partner[u] >= 0 or holder[v] >= 0 or marks[key] != -count:
                continue
            partner[u], holder[v] = v, u
            if key in used:
                continue
            used[key] = 1
            if (starts[u + 1] - starts[u]) * (other_starts[v + 1] - other_starts[v]) <= hub_pairs:
                _mark(u, v, starts, ends, other_starts, other_ends, partner, holder, draw, other_draw, marks, heap)
        # Stuck: pairs that have a mark and were never heard speak, those with fewest pairs around them first.
        waiting = np.array(
            [key for key in marks if partner[key // n2] < 0 and holder[key % n2] < 0 and key not in used], np.int64
        )
        u, v = waiting // n2, waiting % n2
        around = (starts[u + 1] - starts[u]) * (other_starts[v + 1] - other_starts[v])
        drawn = np.argsort(draw[u] * n2 + other_draw[v])
        order = drawn[np.argsort(around[drawn], kind="mergesort")]
        spoken = 0
        for place in order:
            if around[place] > hub_pairs or around[place] > work:
                break
            work -= around[place]
            spoken += 1
            used[waiting[place]] = 1
            _mark(
                u[place], v[place], starts, ends, other_starts, other_ends, partner, holder, draw, other_draw,
                marks, heap,
            )  # fmt: skip
        if spoken == 0:
            return partner
