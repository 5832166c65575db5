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

import numpy as np
from numba import njit, types
from numba.typed import Dict
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.linalg import SparseAlignment
from kedge.linalg.assign import assign
from kedge.methods.shared.marks import as_graphs, mark_around, match_marked, start_from
from kedge.methods.shared.pairs import rank_by_witnesses
from kedge.types import IntArray, Problem

_LEAST_MARKS = 2  # the paper's
_DRAW = 1e-6  # far below what one witness, or a difference of degrees, counts


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """All pairs by their witnesses in the grown matching; `seed` decides between equals."""
    links = grow(problem, config.baselines.work, config.baselines.hub_pairs, config.seed)
    links = np.concatenate([links, complete(problem, links, config.baselines.keep, config.seed)])
    return rank_by_witnesses(problem, links, config.baselines.keep)


def complete(problem: Problem, links: IntArray, keep: int, seed: int) -> IntArray:
    """Accounts left free, matched greedily by their witnesses among the links; equals by a draw."""
    scores = rank_by_witnesses(problem, links, keep).scores.tocoo()
    free = ~np.isin(scores.row, links[:, 0]) & ~np.isin(scores.col, links[:, 1])
    gain = scores.data[free] + _DRAW * np.random.default_rng(seed).random(int(free.sum()))
    return assign(csr_array((gain, (scores.row[free], scores.col[free])), shape=scores.shape), "greedy")


def grow(problem: Problem, work: int, hub_pairs: int, seed: int) -> IntArray:
    """The anchors and the pairs matched from them, [m, 2]."""
    left, right = as_graphs(problem, seed)
    partner = _grow(left, right, problem.anchors.copy(), work, hub_pairs)
    matched = np.flatnonzero(partner >= 0)
    return np.column_stack([matched, partner[matched]])


@njit(cache=True)
def _grow(left, right, seeds, work, hub_pairs):  # type: ignore[no-untyped-def]
    """The right partner of each left account, or -1."""
    n2 = len(right.partner)
    marks = Dict.empty(types.int64, types.int64)
    used = Dict.empty(types.int64, types.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
    heap.pop()
    limits = (_LEAST_MARKS, hub_pairs)
    start_from(seeds, left, right, marks, used, limits, heap)
    while True:
        match_marked(left, right, marks, used, limits, heap)
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
            mark_around(waiting[place], left, right, marks, _LEAST_MARKS, heap)
        if given == 0:
            return left.partner
