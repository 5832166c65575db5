"""Percolation's step, compiled: matched pairs give marks to the pairs of their neighbours, most marks are matched next.

A heap has (-marks, difference of degrees, draw, key) of pairs with enough marks; key = left account · n_2 + right one.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit

from kedge.types import IntArray, Problem


class Graph(NamedTuple):
    """A network as a kernel reads it: CSR, a drawn order of its accounts, and the partner of each, or -1."""

    indptr: IntArray
    indices: IntArray
    draw: IntArray
    partner: IntArray


def as_graphs(problem: Problem, seed: int) -> tuple[Graph, Graph]:
    """Both networks without partners; `seed` draws the orders."""
    rng = np.random.default_rng(seed)
    left, right = (
        Graph(
            network.adjacency.indptr.astype(np.int64),
            network.adjacency.indices.astype(np.int64),
            rng.permutation(network.n),
            np.full(network.n, -1, np.int64),
        )
        for network in (problem.left, problem.right)
    )
    return left, right


@njit(cache=True)
def degree_of(graph, account):  # type: ignore[no-untyped-def]
    """The number of neighbours."""
    return graph.indptr[account + 1] - graph.indptr[account]


@njit(cache=True)
def push_pair(count, key, left, right, heap):  # type: ignore[no-untyped-def]
    """A pair with so many marks into the heap."""
    n2 = len(right.partner)
    u, v = key // n2, key % n2
    apart = abs(degree_of(left, u) - degree_of(right, v))
    heappush(heap, (-count, apart, left.draw[u] * n2 + right.draw[v], key))


@njit(cache=True)
def mark_around(key, left, right, marks, least, heap):  # type: ignore[no-untyped-def]
    """A mark from a pair to every pair of its neighbours whose accounts are both free; `least` marks enter the heap."""
    n2 = len(right.partner)
    u, v = key // n2, key % n2
    for i in range(left.indptr[u], left.indptr[u + 1]):
        a = left.indices[i]
        if left.partner[a] >= 0:
            continue
        for j in range(right.indptr[v], right.indptr[v + 1]):
            b = right.indices[j]
            if right.partner[b] >= 0:
                continue
            count = marks.get(a * n2 + b, np.int64(0)) + 1
            marks[a * n2 + b] = count
            if count >= least:
                push_pair(count, a * n2 + b, left, right, heap)


@njit(cache=True)
def start_from(seeds, left, right, marks, used, limits, heap):  # type: ignore[no-untyped-def]
    """Match the seeds; then each gives its marks. `limits`: the least marks, and a hub's most pairs of neighbours."""
    least, hub_pairs = limits
    n2 = len(right.partner)
    for s in range(len(seeds)):
        left.partner[seeds[s, 0]], right.partner[seeds[s, 1]] = seeds[s, 1], seeds[s, 0]
    for s in range(len(seeds)):
        u, v = seeds[s, 0], seeds[s, 1]
        used[u * n2 + v] = 1
        if degree_of(left, u) * degree_of(right, v) <= hub_pairs:
            mark_around(u * n2 + v, left, right, marks, least, heap)


@njit(cache=True)
def match_marked(left, right, marks, used, limits, heap):  # type: ignore[no-untyped-def]
    """Match the pairs with most marks until none is left; each that has not done so gives its own marks.

    An entry whose pair has got more marks since needs no check: the later entry has come out before it.
    """
    least, hub_pairs = limits
    n2 = len(right.partner)
    while len(heap) > 0:
        _, _, _, key = heappop(heap)
        u, v = key // n2, key % n2
        if left.partner[u] >= 0 or right.partner[v] >= 0:
            continue
        left.partner[u], right.partner[v] = v, u
        if key in used:
            continue
        used[key] = 1
        if degree_of(left, u) * degree_of(right, v) <= hub_pairs:
            mark_around(key, left, right, marks, least, heap)
