"""The loops of evidence propagation, compiled: what a matched account says, and what a candidate hears.

Notation: this side's accounts are u and their neighbours a, the far side's are v and b. An edge (v, b) whose end b is
matched to a neighbour a of u has the likelihood ratio `hit / chance(v, b)`, chance = x / (1 + x), x = d_v d_b / 2m;
without an edge it is `miss = 1 - hit`. Every pair is computed by one thread in one order, so results do not
depend on the number of threads. A thread has the rows from `begin` to `end`. The far side is taken band by band, v in
[first, first + width): `low[b]` to `high[b]` are the places of b's neighbours in the band. What is said to one band
fits into memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["LEAST_RATIO", "advance", "greedy", "grouped_softmax", "hear", "join", "say", "unite"]

LEAST_RATIO = 1.05  # a shared matched neighbour never speaks against a pair, however large the hubs
_Array = NDArray[Any]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def advance(indptr: _Array, indices: _Array, places: _Array, bound: int) -> _Array:
    """For each row the first place from `places` on whose column is at least `bound`; rows are sorted."""
    moved = np.empty(len(places), np.int64)
    for b in range(len(places)):
        j = places[b]
        while j < indptr[b + 1] and indices[j] < bound:
            j += 1
        moved[b] = j
    return moved


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def say(
    begin: int,
    end: int,
    belief_indptr: _Array,
    belief_indices: _Array,
    belief: _Array,
    low: _Array,
    high: _Array,
    far_indices: _Array,
    first: int,
    width: int,
    far_degree: _Array,
    far_ends: float,
    hit: float,
    start: _Array,
    columns: _Array,
    values: _Array,
    lengths: _Array,
) -> None:
    """G[a, v] = log of the mean likelihood ratio of "a's partner is a neighbour of v" over "it is not".

    G[a, v] = log((z + sum_b P(a, b) (ratio(v, b) - miss)) / z),  z = 1 - rho(a) (1 - miss),  b over N(v); rows a are
    written at `start[a]`, `lengths[a]` entries long, v counted from `first`.
    """
    miss = 1.0 - hit
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    for a in range(begin, end):
        base, count, rho = start[a], 0, 0.0
        for i in range(belief_indptr[a], belief_indptr[a + 1]):
            b = belief_indices[i]
            rho += belief[i]
            for j in range(low[b], high[b]):
                v = far_indices[j] - first
                if not seen[v]:
                    seen[v] = True
                    columns[base + count] = v
                    count += 1
                ratio = max(hit * (1.0 + far_ends / (far_degree[first + v] * far_degree[b])), LEAST_RATIO)
                total[v] += belief[i] * (ratio - miss)
        z = 1.0 - min(rho, 1.0) * (1.0 - miss)
        for k in range(base, base + count):
            v = columns[k]
            values[k] = math.log((z + total[v]) / z)
            total[v] = 0.0
            seen[v] = False
        lengths[a] = count


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _worse(x: float, i: int, y: float, j: int) -> bool:
    """Whether candidate i with score x stands behind j with y: lower, or equal with the larger number."""
    return x < y or (x == y and i > j)


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def _push(heap_value: _Array, heap_column: _Array, size: int, x: float, v: int) -> int:
    """Offer (x, v) to a heap of the best candidates whose root is the worst of them; its new size."""
    room = len(heap_value)
    if size < room:
        place = size
        size += 1
        while place > 0:
            parent = (place - 1) // 2
            if not _worse(x, v, heap_value[parent], heap_column[parent]):
                break
            heap_value[place], heap_column[place] = heap_value[parent], heap_column[parent]
            place = parent
    elif _worse(heap_value[0], heap_column[0], x, v):
        place = 0
        while True:
            child = 2 * place + 1
            if child >= room:
                break
            if child + 1 < room and _worse(
                heap_value[child + 1], heap_column[child + 1], heap_value[child], heap_column[child]
            ):
                child += 1
            if not _worse(heap_value[child], heap_column[child], x, v):
                break
            heap_value[place], heap_column[place] = heap_value[child], heap_column[child]
            place = child
    else:
        return size
    heap_value[place], heap_column[place] = x, v
    return size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def hear(
    begin: int,
    end: int,
    indptr: _Array,
    indices: _Array,
    degree: _Array,
    ends: float,
    hit: float,
    belief_indptr: _Array,
    belief_indices: _Array,
    belief: _Array,
    low: _Array,
    high: _Array,
    far_indices: _Array,
    first: int,
    width: int,
    far_rho: _Array,
    start: _Array,
    columns: _Array,
    values: _Array,
    lengths: _Array,
    row_term: _Array,
    profile: _Array,
    row_taken: _Array,
    column_free: _Array,
    prior_indptr: _Array,
    prior_indices: _Array,
    prior: _Array,
    out_columns: _Array,
    out_values: _Array,
    sizes: _Array,
    far_out_columns: _Array,
    far_out_values: _Array,
    far_sizes: _Array,
    far_facts: _Array,
) -> None:
    """The best candidates of each u and v by L(u, v), half from the edges of u (G of `say`), half from those of v.

    What depends on one account alone (misses, squares of the profile) is in `row_term` and in `far_facts` of v: the
    score that an offer must reach, v's term, its profile. They lie together since on large networks a pair costs what
    its reads from far memory cost.
    Offers each pair to heaps [n, K] of columns and values, `sizes` long, of both its accounts; taken ones are left out.
    """
    far = len(low)
    miss = 1.0 - hit
    room = far_out_values.shape[1]
    place = np.full(width, -1, np.int32)  # of v among those touched by u
    touched = np.empty(width, np.int32)
    total = np.empty(width)
    place_of_end = np.full(far, -1, np.int32)
    ends_reached = np.empty(far, np.int32)
    reach = np.empty(far)
    for u in range(begin, end):
        if row_taken[u]:
            continue
        count, many = 0, 0
        for i in range(indptr[u], indptr[u + 1]):
            a = indices[i]
            ratio = max(hit * (1.0 + ends / (degree[u] * degree[a])), LEAST_RATIO)
            for j in range(belief_indptr[a], belief_indptr[a + 1]):
                b = belief_indices[j]
                if place_of_end[b] < 0:
                    place_of_end[b] = many
                    ends_reached[many] = b
                    reach[many] = 0.0
                    many += 1
                reach[place_of_end[b]] += belief[j] * (ratio - miss)
            for k in range(start[a], start[a] + lengths[a]):
                v = columns[k]
                if place[v] < 0:
                    place[v] = count
                    touched[count] = v
                    total[count] = 0.0
                    count += 1
                total[place[v]] += values[k]
        for k in range(many):
            b = ends_reached[k]
            place_of_end[b] = -1
            z = 1.0 - far_rho[b] * (1.0 - miss)
            x = math.log((z + reach[k]) / z)
            for j in range(low[b], high[b]):
                v = far_indices[j] - first
                if place[v] < 0:
                    place[v] = count
                    touched[count] = v
                    total[count] = 0.0
                    count += 1
                total[place[v]] += x
        for j in range(prior_indptr[u], prior_indptr[u + 1]):
            v = prior_indices[j] - first
            if v < 0 or v >= width or not column_free[first + v]:
                continue
            if place[v] < 0:
                place[v] = count
                touched[count] = v
                total[count] = 0.0
                count += 1
            total[place[v]] += 2.0 * prior[j]
        size = sizes[u]
        for k in range(count):
            place[touched[k]] = -1
            v = first + touched[k]
            x = 0.5 * total[k] + row_term[u] + far_facts[v, 1]
            for i in range(profile.shape[1]):
                x += profile[u, i] * far_facts[v, 2 + i]
            size = _push(out_values[u], out_columns[u], size, x, v)
            if x >= far_facts[v, 0]:
                far_sizes[v] = _push(far_out_values[v], far_out_columns[v], far_sizes[v], x, u)
                if far_sizes[v] == room:
                    far_facts[v, 0] = far_out_values[v, 0]
        sizes[u] = size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def join(
    accounts: _Array, scores: _Array, sizes: _Array, more_accounts: _Array, more_scores: _Array, more_sizes: _Array
) -> None:
    """Offer each account the candidates of another list of its."""
    for u in range(len(sizes)):
        for k in range(more_sizes[u]):
            sizes[u] = _push(scores[u], accounts[u], sizes[u], more_scores[u, k], more_accounts[u, k])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def unite(
    accounts: _Array, scores: _Array, sizes: _Array, far_accounts: _Array, far_scores: _Array, far_sizes: _Array
) -> tuple[_Array, _Array, _Array]:
    """(indptr, indices, data) of the pairs that either side kept, rows sorted; both give a pair the same score.

    Right lists are dealt out to the rows in the order of v, so that only the K columns of a left list need
    sorting, by insertion: K is some dozens.
    """
    n, far = len(sizes), len(far_sizes)
    end = np.zeros(n + 1, np.int64)  # of the pairs from right lists in each row, while they are dealt out
    for v in range(far):
        for k in range(far_sizes[v]):
            end[far_accounts[v, k] + 1] += 1
    for u in range(n):
        end[u + 1] += end[u]
    dealt = np.empty(end[n], np.int32)
    dealt_scores = np.empty(end[n])
    for v in range(far):
        for k in range(far_sizes[v]):
            u = far_accounts[v, k]
            dealt[end[u]] = v
            dealt_scores[end[u]] = far_scores[v, k]
            end[u] += 1
    indptr = np.zeros(n + 1, np.int64)
    indices = np.empty(end[n] + sizes.sum(), np.int32)
    data = np.empty(len(indices))
    columns = np.empty(accounts.shape[1], np.int64)
    values = np.empty(accounts.shape[1])
    count = begin = 0
    for u in range(n):
        for k in range(sizes[u]):
            j = k
            while j > 0 and columns[j - 1] > accounts[u, k]:
                columns[j], values[j] = columns[j - 1], values[j - 1]
                j -= 1
            columns[j], values[j] = accounts[u, k], scores[u, k]
        i, k = begin, 0
        while i < end[u] or k < sizes[u]:
            if k == sizes[u] or (i < end[u] and dealt[i] < columns[k]):
                indices[count], data[count] = dealt[i], dealt_scores[i]
                i += 1
            else:
                indices[count], data[count] = columns[k], values[k]
                if i < end[u] and dealt[i] == columns[k]:
                    i += 1
                k += 1
            count += 1
        indptr[u + 1] = count
        begin = end[u]
    return indptr, indices[:count].copy(), data[:count].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def grouped_softmax(values: _Array, group: _Array, groups: int, background: float) -> _Array:
    """Softmax within each group, with `background` further members at 0 (the ones that are not candidates)."""
    peak = np.zeros(groups)
    for i in range(len(values)):
        peak[group[i]] = max(peak[group[i]], values[i])
    mass = background * np.exp(-peak)
    weight = np.empty(len(values))
    for i in range(len(values)):
        weight[i] = math.exp(values[i] - peak[group[i]])
        mass[group[i]] += weight[i]
    for i in range(len(values)):
        weight[i] /= mass[group[i]]
    return weight


@njit(cache=True)  # type: ignore[untyped-decorator, unused-ignore]
def greedy(rows: _Array, columns: _Array, order: _Array, n: int, m: int) -> _Array:
    """Which entries are taken when each, in this order, is taken if both its accounts are still free."""
    row_free = np.ones(n, np.bool_)
    column_free = np.ones(m, np.bool_)
    taken = np.zeros(len(rows), np.bool_)
    for i in order:
        if row_free[rows[i]] and column_free[columns[i]]:
            taken[i] = True
            row_free[rows[i]] = False
            column_free[columns[i]] = False
    return taken
