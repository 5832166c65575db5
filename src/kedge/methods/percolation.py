"""Expand-when-stuck percolation (Kazemi, Hassani, Grossglauser; VLDB 2015): a matching from few seeds.

A matched pair gives a mark to every pair of its neighbours. The unmatched pair with most marks, at least r = 2, the
more alike in degree among equals, is matched next. When none is left, every pair with a mark whose accounts are both
free gives its own marks, though it may be wrong, and matching goes on.

Deviations: what still ties is decided by a draw from the seed; when stuck, pairs of fewest neighbours come first and
at most `baselines.work` marks are given; a pair of hubs with more than `baselines.hub_pairs` pairs around it gives
none. A pair with one mark only is never matched by the paper, though an account of one edge can get no second: at the
end who is left free is matched by witnesses in the matching, most first, even by one. The result ranks pairs by their
witnesses, matched pairs first.

Cost: Σ over matched pairs of d_u d_v marks, each an entry of a hash table and a step in a heap; no n × n matrix.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.typed import Dict
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import SparseAlignment
from kedge.linalg.assign import assign
from kedge.methods.shared.pairs import rank_by_witnesses
from kedge.types import IntArray, Problem

_LEAST_MARKS = 2  # the paper's
_DRAW = 1e-6  # far below what one witness, or a difference of degrees, counts


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """All pairs by their witnesses in the grown matching; `seed` decides between equals."""
    links = grow(problem, config.baselines.work, config.baselines.hub_pairs, config.seed)
    links = np.concatenate([links, _complete(problem, links, config.baselines.keep, config.seed)])
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
    sides = [
        _Graph(
            network.adjacency.indptr.astype(np.int64),
            network.adjacency.indices.astype(np.int64),
            rng.permutation(network.n),
            np.full(network.n, -1, np.int64),
        )
        for network in (problem.left, problem.right)
    ]
    partner = _grow(sides[0], sides[1], problem.anchors.copy(), work, hub_pairs)
    matched = np.flatnonzero(partner >= 0)
    return np.column_stack([matched, partner[matched]])


class _Graph(NamedTuple):
    """A network as a kernel reads it: CSR, a drawn order of its accounts, and the partner of each, or -1."""

    indptr: IntArray
    indices: IntArray
    draw: IntArray
    partner: IntArray


@njit(cache=True)
def _degree(graph, account):  # type: ignore[no-untyped-def]
    return graph.indptr[account + 1] - graph.indptr[account]


@njit(cache=True)
def _mark(u, v, left, right, marks, heap):  # type: ignore[no-untyped-def]
    """A mark from (u, v) to every pair of their neighbours whose accounts are both free."""
    n2 = len(right.partner)
    for i in range(left.indptr[u], left.indptr[u + 1]):
        a = left.indices[i]
        if left.partner[a] >= 0:
            continue
        for j in range(right.indptr[v], right.indptr[v + 1]):
            b = right.indices[j]
            if right.partner[b] >= 0:
                continue
            key = a * n2 + b
            count = marks.get(key, np.int64(0)) + 1
            marks[key] = count
            if count >= _LEAST_MARKS:
                apart = abs(_degree(left, a) - _degree(right, b))
                heappush(heap, (-count, apart, left.draw[a] * n2 + right.draw[b], key))


@njit(cache=True)
def _match_marked(left, right, marks, used, heap, hub_pairs):  # type: ignore[no-untyped-def]
    """Match the pairs with most marks until none is left; each gives its own marks."""
    n2 = len(right.partner)
    while len(heap) > 0:
        count, _, _, key = heappop(heap)
        u, v = key // n2, key % n2
        if left.partner[u] >= 0 or right.partner[v] >= 0 or marks[key] != -count:
            continue
        left.partner[u], right.partner[v] = v, u
        if key in used:
            continue
        used[key] = 1
        if _degree(left, u) * _degree(right, v) <= hub_pairs:
            _mark(u, v, left, right, marks, heap)


@njit(cache=True)
def _grow(left, right, seeds, work, hub_pairs):  # type: ignore[no-untyped-def]
    """The right partner of each left account, or -1."""
    n2 = len(right.partner)
    marks = Dict.empty(types.int64, types.int64)
    used = Dict.empty(types.int64, types.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
    heap.pop()
    for s in range(len(seeds)):
        left.partner[seeds[s, 0]], right.partner[seeds[s, 1]] = seeds[s, 1], seeds[s, 0]
    for s in range(len(seeds)):
        u, v = seeds[s, 0], seeds[s, 1]
        used[u * n2 + v] = 1
        if _degree(left, u) * _degree(right, v) <= hub_pairs:
            _mark(u, v, left, right, marks, heap)
    while True:
        _match_marked(left, right, marks, used, heap, hub_pairs)
        # Stuck: pairs that have a mark and have given none give theirs, those with fewest pairs around them first.
        waiting = np.array(
            [key for key in marks if left.partner[key // n2] < 0 and right.partner[key % n2] < 0 and key not in used],
            np.int64,
        )
        u, v = waiting // n2, waiting % n2
        around = (left.indptr[u + 1] - left.indptr[u]) * (right.indptr[v + 1] - right.indptr[v])
        drawn = np.argsort(left.draw[u] * n2 + right.draw[v])
        order = drawn[np.argsort(around[drawn], kind="mergesort")]
        given = 0
        for place in order:
            if around[place] > hub_pairs or around[place] > work:
                break
            work -= around[place]
            given += 1
            used[waiting[place]] = 1
            _mark(u[place], v[place], left, right, marks, heap)
        if given == 0:
            return left.partner
