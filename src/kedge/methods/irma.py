"""IRMA (Babayov, Louzoun; 2022, arXiv 2208.09164): percolation, repaired again and again.

Expand-when-stuck percolation gives a first matching. In a repair the matching is made anew from the anchors: a pair's
priority is the greater of the marks that the last matching gives it and of those that the new one has given so far,
and the free pair with the highest, at least r = 2, the more alike in degree among equals, is matched next. A wrong pair
has few neighbours that were matched to each other, so that later repairs drop it.

Repairs go on while the edges that the matching has in common grow by a fiftieth, four at least; then one with r = 1,
which reaches accounts of low degree though it errs often, and four more with r = 2, which correct it.

Compared with the authors' published code. Deviations: what still ties is decided by a draw from the seed; of the last
matching's marks only the `baselines.keep` best pairs of each account wait; a pair of hubs with more than
`baselines.hub_pairs` pairs around it gives no marks in the new matching. The result ranks pairs by their witnesses,
matched pairs first.

Cost: of each repair twice Σ over matched pairs of d_u d_v, at most `baselines.rounds` + 5 repairs; no n × n matrix.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.typed import Dict

from kedge.config import BaselineConfig, Config
from kedge.context import RunContext
from kedge.linalg import SparseAlignment, row_index
from kedge.methods.percolation import complete, grow
from kedge.methods.shared.marks import as_graphs, match_marked, push_pair, start_from
from kedge.methods.shared.pairs import count_marks, rank_by_witnesses
from kedge.types import IntArray, Problem

_MARKS, _NOISY_MARKS = 2, 1
_EXPANSIONS, _GROWTH = 4, 1.02  # repairs at least, and what one must add to the common edges for another
_REDUCTIONS = 4


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """All pairs by their witnesses in the repaired matching; `seed` decides between equals."""
    settings = config.baselines
    links = grow(problem, settings.work, settings.hub_pairs, config.seed)
    links = _expand(problem, links, settings, config.seed)
    for least in (_NOISY_MARKS, *[_MARKS] * _REDUCTIONS):
        links = repair(problem, links, least, settings, config.seed)
    links = np.concatenate([links, complete(problem, links, settings.keep, config.seed)])
    return rank_by_witnesses(problem, links, settings.keep)


def _expand(problem: Problem, links: IntArray, settings: BaselineConfig, seed: int) -> IntArray:
    """Repairs while they pay."""
    common = common_edges(problem, links)
    for count in range(1, settings.rounds + 1):
        links = repair(problem, links, _MARKS, settings, seed)
        before, common = common, common_edges(problem, links)
        if count >= _EXPANSIONS and common < before * _GROWTH:
            break
    return links


def common_edges(problem: Problem, links: IntArray) -> int:
    """The edges of the left network that are edges of the right one too, between the partners."""
    left, right = links.T
    A, B = problem.left.adjacency[left][:, left], problem.right.adjacency[right][:, right]
    return int((A.astype(bool)).multiply(B.astype(bool)).sum()) // 2


def repair(problem: Problem, links: IntArray, least: int, settings: BaselineConfig, seed: int) -> IntArray:
    """The matching [m, 2] made anew from the anchors, with the marks of the last one."""
    marks = count_marks(problem, links, settings.keep)
    waiting = marks.data >= least
    keys = row_index(marks)[waiting].astype(np.int64) * problem.right.n + marks.indices[waiting]
    left, right = as_graphs(problem, seed)
    partner = _repair(left, right, problem.anchors.copy(), keys, marks.data[waiting], (least, settings.hub_pairs))
    matched = np.flatnonzero(partner >= 0)
    return np.column_stack([matched, partner[matched]])


@njit(cache=True)
def _repair(left, right, seeds, keys, counts, limits):  # type: ignore[no-untyped-def]
    """The right partner of each left account, or -1; `keys` and `counts` are the marks of the last matching."""
    marks = Dict.empty(types.int64, types.int64)
    used = Dict.empty(types.int64, types.int64)
    heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
    heap.pop()
    start_from(seeds, left, right, marks, used, limits, heap)
    for place in range(len(keys)):
        push_pair(counts[place], keys[place], left, right, heap)
    match_marked(left, right, marks, used, limits, heap)
    return left.partner
