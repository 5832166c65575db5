"""Node clique numbers: the size of the largest clique that each account is in, exact within a budget.

A greedy clique is a lower bound, core number + 1 an upper one. Where they differ, the neighbours that could be in a
larger clique are searched by branch and bound with greedy colouring on bit sets (Tomita and Seki, DMTCS 2003; San
Segundo et al., Computers and Operations Research 2011): a set that can be coloured with c colours has no clique of more
than c. A clique that is found is a lower bound for all its members, so most accounts need no search of their own.
"""

from __future__ import annotations

from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray

from kedge.types import BoolArray, IntArray, Network

BRANCHES: Final = 20_000  # per account at most; `benchmarks/clique_numbers.py` has what that leaves open
_WIDEST: Final = 16_384  # neighbours that are searched at most: 32 MB of bit sets
_DE_BRUIJN: Final = 0x03F79D71B4CB0A89  # multiplied by a power of two, its six leading bits show the power
_PLACES: Final = np.array([((1 << i) * _DE_BRUIJN % (1 << 64)) >> 58 for i in range(64)]).argsort().astype(np.int64)

Bits = NDArray[np.uint64]


def clique_numbers(network: Network, branches: int = BRANCHES) -> tuple[IntArray, BoolArray]:
    """The clique number of every account, and whether it is proved; else it is a lower bound, both [n]."""
    A = network.adjacency.copy()
    A.sort_indices()
    indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    sizes, proved = _measure(indptr, indices, _cores(indptr, indices), branches)
    return sizes, proved


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cores(indptr: IntArray, indices: IntArray) -> IntArray:
    """The core number of each account (Batagelj and Zaversnik, 2003)."""
    n = len(indptr) - 1
    degree = np.diff(indptr)
    start = np.zeros(n + 2, np.int64)
    for v in range(n):
        start[degree[v] + 1] += 1
    for d in range(1, n + 2):
        start[d] += start[d - 1]
    order, place, fill = np.empty(n, np.int64), np.empty(n, np.int64), start.copy()
    for v in range(n):
        place[v] = fill[degree[v]]
        order[place[v]] = v
        fill[degree[v]] += 1
    for i in range(n):
        v = order[i]
        for entry in range(indptr[v], indptr[v + 1]):
            u = indices[entry]
            if degree[u] > degree[v]:
                first = start[degree[u]]
                w = order[first]
                order[place[u]], place[w] = w, place[u]
                order[first], place[u] = u, first
                start[degree[u]] += 1
                degree[u] -= 1
    return degree


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _greedy(indptr: IntArray, indices: IntArray, cores: IntArray, sizes: IntArray) -> None:
    """Lower bounds: around each account a clique that takes the neighbour of the highest core again and again."""
    mark = np.full(len(sizes), -1, np.int64)
    for v in range(len(sizes)):
        near = indices[indptr[v] : indptr[v + 1]]
        left = near[np.argsort(-cores[near], kind="mergesort")]
        members = np.empty(len(left) + 1, np.int64)
        members[0], size = v, 1
        while len(left):
            chosen = left[0]
            members[size] = chosen
            size += 1
            for entry in range(indptr[chosen], indptr[chosen + 1]):
                mark[indices[entry]] = chosen
            left = left[mark[left] == chosen]
        mark[indices[indptr[v] : indptr[v + 1]]] = -1
        for u in members[:size]:
            sizes[u] = max(sizes[u], size)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _measure(
    indptr: IntArray, indices: IntArray, cores: IntArray, branches: int
) -> tuple[IntArray, BoolArray]:  # pragma: no cover
    n = len(indptr) - 1
    sizes, proved = np.ones(n, np.int64), np.ones(n, np.bool_)
    _greedy(indptr, indices, cores, sizes)
    number = np.full(n, -1, np.int64)
    # Those in the densest surroundings first: the cliques they are in are the largest for most of their members.
    for v in np.argsort(-cores, kind="mergesort"):
        if sizes[v] > cores[v]:
            continue
        near = indices[indptr[v] : indptr[v + 1]]
        near = _could_be(indptr, indices, near[cores[near] >= sizes[v]], sizes[v], number)
        if len(near) < sizes[v]:
            continue
        if len(near) > _WIDEST:
            proved[v] = False
            continue
        bits = _link(indptr, indices, near, number)
        found, count, proved[v] = _search(bits, len(near), sizes[v] - 1, branches)
        for place in range(count):
            u = near[found[place]]
            sizes[u] = max(sizes[u], count + 1)
        sizes[v] = max(sizes[v], count + 1)
    return sizes, proved


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _could_be(
    indptr: IntArray, indices: IntArray, near: IntArray, size: int, number: IntArray
) -> IntArray:  # pragma: no cover
    """The neighbours that are adjacent to `size` - 1 others of them, by falling number of those."""
    while True:
        for u in near:
            number[u] = 1
        links = np.zeros(len(near), np.int64)
        for place, u in enumerate(near):
            for entry in range(indptr[u], indptr[u + 1]):
                links[place] += number[indices[entry]] == 1
        for u in near:
            number[u] = -1
        kept = links >= size - 1
        if kept.all():
            return near[np.argsort(-links, kind="mergesort")]
        near = near[kept]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _link(indptr: IntArray, indices: IntArray, near: IntArray, number: IntArray) -> Bits:  # pragma: no cover
    """The edges among some accounts as bit sets, one row for each."""
    bits = np.zeros((len(near), (len(near) + 63) // 64), np.uint64)
    for place, u in enumerate(near):
        number[u] = place
    for place, u in enumerate(near):
        for entry in range(indptr[u], indptr[u + 1]):
            other = number[indices[entry]]
            if other >= 0:
                bits[place, other >> 6] |= np.uint64(1) << np.uint64(other & 63)
    for u in near:
        number[u] = -1
    return bits


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _colour(bits: Bits, P: Bits, least: int, order: IntArray, colours: IntArray) -> int:  # pragma: no cover
    """Colour the set P greedily; lists the members of colours above `least`, by rising colour, and counts them."""
    words = len(P)
    U, Q = P.copy(), np.empty(words, np.uint64)
    colour, count, left = 0, 0, True
    while left:
        colour += 1
        Q[:] = U
        left = False
        for word in range(words):
            while Q[word]:
                low = Q[word] & (~Q[word] + np.uint64(1))
                v = (word << 6) + _PLACES[(low * np.uint64(_DE_BRUIJN)) >> np.uint64(58)]
                U[word] ^= low
                Q[word] ^= low
                for other in range(word, words):
                    Q[other] &= ~bits[v, other]
                if colour > least:
                    order[count], colours[count] = v, colour
                    count += 1
            left = left or U[word] != 0
    return count


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _search(bits: Bits, n: int, size: int, branches: int) -> tuple[IntArray, int, bool]:  # pragma: no cover
    """A largest clique of more than `size`: its members, how many (0: there is none), and whether it is proved."""
    words = bits.shape[1]
    deepest = n + 1
    best, count, spent = np.empty(n, np.int64), 0, 0
    P = [np.full(words, ~np.uint64(0), np.uint64)]
    if n & 63:
        P[0][words - 1] = (np.uint64(1) << np.uint64(n & 63)) - np.uint64(1)
    orders, colours = [np.empty(n, np.int64)], [np.empty(n, np.int64)]
    open_, chosen = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    open_[0] = _colour(bits, P[0], size, orders[0], colours[0])
    depth = 0
    while depth >= 0:
        last = open_[depth] - 1
        if last < 0 or depth + colours[depth][last] <= size:
            depth -= 1
            if depth >= 0:
                v = chosen[depth]
                P[depth][v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
            continue
        spent += 1
        if spent > branches:
            return best, count, False
        v = orders[depth][last]
        chosen[depth] = v
        open_[depth] = last
        narrowed = P[depth] & bits[v]
        if not narrowed.any():
            if depth + 1 > size:
                size = count = depth + 1
                best[:count] = chosen[:count]
            P[depth][v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
            continue
        depth += 1
        if depth == len(P):
            P.append(narrowed)
            orders.append(np.empty(n, np.int64))
            colours.append(np.empty(n, np.int64))
        else:
            P[depth] = narrowed
        open_[depth] = _colour(bits, P[depth], size - depth, orders[depth], colours[depth])
    return best, count, True
