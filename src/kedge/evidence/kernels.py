"""The compiled loops of a round: messages of matched left accounts, and the scores of candidates that they reach.

Notation: left accounts are u and their neighbours a, right accounts are v and their neighbours b. An edge (v, b) whose
end b is matched to a neighbour a of u has the likelihood ratio `hit / chance(v, b)`, chance = x / (1 + x),
x = d_v d_b / 2m; without an edge it is `miss = 1 - hit`.

Every pair is computed by one thread in one order, so results do not depend on the number of threads. A thread sends the
messages of the left accounts of `rows`, from the first to before the second number, and scores those of a list. The
right side is taken band by band, so that the messages to one band fit into memory.

Kernels take NamedTuples and unpack them before the loops. The innermost loops call no function with arrays: either
would count references there, atomically, which cost a third of the CPU when it was tried.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LEAST_RATIO = 1.05  # a shared matched neighbour is never evidence against a pair, however large the hubs; unmeasured
_Array = NDArray[Any]


class Entries(NamedTuple):
    """A sparse matrix as CSR, left accounts × right accounts."""

    indptr: _Array
    indices: _Array
    values: _Array


class LeftSide(NamedTuple):
    """The left network and what is known of its accounts.

    `indptr`, `indices` its edges; `degree` [n_1]; `ends` 2m_1; `hit` P(edge here | edge on the right, ends matched);
    `term` [n_1] and `features` [n_1, k] what an account alone adds to a score, and its part of a dot product;
    `anchored` [n_1].
    """

    indptr: _Array
    indices: _Array
    degree: _Array
    ends: float
    hit: float
    term: _Array
    features: _Array
    anchored: _Array


class RightSide(NamedTuple):
    """The right network: as on the left, and `mass` [n_2] the sum of beliefs in an account, at most 1; `free` [n_2]
    the accounts without an anchor. Edges are in `Band`, terms and features in `Lists`."""

    degree: _Array
    ends: float
    hit: float
    mass: _Array
    free: _Array


class Inputs(NamedTuple):
    """All that a round starts from: both sides, the beliefs P and the log-odds from elsewhere."""

    left: LeftSide
    right: RightSide
    beliefs: Entries
    prior: Entries


class Fixed(NamedTuple):
    """What blocks read in every round; as in `Inputs` but for `term` and `mass`, which `Current` has.

    `indptr`, `neighbours`: the edges of the right network to accounts without an anchor; `right_features` [n_2, k].
    """

    left: LeftSide
    right: RightSide
    prior: Entries
    indptr: _Array
    neighbours: _Array
    right_features: _Array


class Current(NamedTuple):
    """What one round starts from: beliefs, what each account alone adds to a score, [n_1] and [n_2], and `mass`."""

    beliefs: Entries
    left_term: _Array
    right_term: _Array
    mass: _Array


class Band(NamedTuple):
    """The right accounts from `first` on, `width` of them; the neighbours of b among them are
    `neighbours[low[b] : high[b]]`."""

    first: int
    width: int
    low: _Array
    high: _Array
    neighbours: _Array


class Messages(NamedTuple):
    """G of `send_messages`: row a has `lengths[a]` entries from `start[a]` on; accounts are counted from the band's
    first."""

    start: _Array
    accounts: _Array
    values: _Array
    lengths: _Array


class BestLists(NamedTuple):
    """The best candidates of each account as a heap: accounts and scores, both [n, K], and how many there are [n]."""

    accounts: _Array
    scores: _Array
    sizes: _Array


class Lists(NamedTuple):
    """Where a thread writes: lists of left accounts from the `first` on, its own lists of right accounts, and what it
    reads of each v.

    `facts` [n_2, 2 + k]: the score that an offer must reach, v's term, v's features. They are in one row since on large
    networks a pair costs as much as its reads from distant memory.
    """

    of_left: BestLists
    of_right: BestLists
    facts: _Array
    first: int


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
def send_messages(rows: tuple[int, int], inputs: Inputs, band: Band, messages: Messages) -> None:
    """G[a, v] = log of the mean likelihood ratio of "a's partner is a neighbour of v" over "it is not".

    G[a, v] = log((z + sum_b P(a, b) (ratio(v, b) - miss)) / z),  z = 1 - rho(a) (1 - miss),  b over N(v)
    """
    indptr, indices, belief = inputs.beliefs
    first, width, low, high, neighbours = band
    start, accounts, values, lengths = messages
    degree, ends, hit = inputs.right.degree, inputs.right.ends, inputs.right.hit
    miss = 1.0 - hit
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    for a in range(rows[0], rows[1]):
        base, count, rho = start[a], 0, 0.0
        if start[a + 1] == base:  # no room: they are not asked for
            continue
        for i in range(indptr[a], indptr[a + 1]):
            b = indices[i]
            rho += belief[i]
            for j in range(low[b], high[b]):
                v = neighbours[j] - first
                if not seen[v]:
                    seen[v] = True
                    accounts[base + count] = v
                    count += 1
                ratio = max(hit * (1.0 + ends / (degree[first + v] * degree[b])), LEAST_RATIO)
                total[v] += belief[i] * (ratio - miss)
        z = 1.0 - min(rho, 1.0) * (1.0 - miss)
        for k in range(base, base + count):
            v = accounts[k]
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
def score_candidates(chosen: _Array, inputs: Inputs, band: Band, messages: Messages, lists: Lists) -> None:
    """Offer each pair (u, v) that evidence or the prior reaches to the lists of both its accounts, with its L(u, v); u
    of the `chosen` accounts.

    L(u, v) is half the sum over the edges of u (messages), half the sum over the edges of v, and what the accounts add
    by themselves. Anchored accounts are no candidates.
    """
    left, right = inputs.left, inputs.right
    indptr, indices, degree, ends = left.indptr, left.indices, left.degree, left.ends
    term, features, anchored = left.term, left.features, left.anchored
    mass, free = right.mass, right.free
    belief_indptr, belief_indices, belief = inputs.beliefs
    prior_indptr, prior_indices, prior = inputs.prior
    first, width, low, high, neighbours = band
    start, message_accounts, message_values, lengths = messages
    list_accounts, list_scores, sizes = lists.of_left
    right_accounts, right_scores, right_sizes = lists.of_right
    facts, first_row = lists.facts, lists.first
    room = right_scores.shape[1]
    hit, miss = left.hit, 1.0 - left.hit
    place, reached, total = np.full(width, -1, np.int32), np.empty(width, np.int32), np.empty(width)
    n_right = len(low)
    end_place, ends_reached, end_total = np.full(n_right, -1, np.int32), np.empty(n_right, np.int32), np.empty(n_right)
    for u in chosen:
        if anchored[u]:
            continue
        count, end_count = 0, 0
        # The edges of u: messages of its neighbours a; and how much a's beliefs in b count for the edges of v.
        for i in range(indptr[u], indptr[u + 1]):
            a = indices[i]
            ratio = max(hit * (1.0 + ends / (degree[u] * degree[a])), LEAST_RATIO)
            for j in range(belief_indptr[a], belief_indptr[a + 1]):
                b = belief_indices[j]
                if end_place[b] < 0:
                    end_place[b], ends_reached[end_count], end_total[end_count] = end_count, b, 0.0
                    end_count += 1
                end_total[end_place[b]] += belief[j] * (ratio - miss)
            for k in range(start[a], start[a] + lengths[a]):
                v = message_accounts[k]
                if place[v] < 0:
                    place[v], reached[count], total[count] = count, v, 0.0
                    count += 1
                total[place[v]] += message_values[k]
        # The edges of v: each end b that a neighbour of u may be matched to.
        for k in range(end_count):
            b = ends_reached[k]
            end_place[b] = -1
            z = 1.0 - mass[b] * (1.0 - miss)
            x = math.log((z + end_total[k]) / z)
            for j in range(low[b], high[b]):
                v = neighbours[j] - first
                if place[v] < 0:
                    place[v], reached[count], total[count] = count, v, 0.0
                    count += 1
                total[place[v]] += x
        for j in range(prior_indptr[u], prior_indptr[u + 1]):
            v = prior_indices[j] - first
            if 0 <= v < width and free[first + v]:
                if place[v] < 0:
                    place[v], reached[count], total[count] = count, v, 0.0
                    count += 1
                total[place[v]] += 2.0 * prior[j]
        row = u - first_row
        size = sizes[row]
        for k in range(count):
            place[reached[k]] = -1
            v = first + reached[k]
            x = 0.5 * total[k] + term[u] + facts[v, 1]
            for i in range(features.shape[1]):
                x += features[u, i] * facts[v, 2 + i]
            size = _push(list_scores[row], list_accounts[row], size, x, v)
            if x >= facts[v, 0]:
                right_sizes[v] = _push(right_scores[v], right_accounts[v], right_sizes[v], x, u)
                if right_sizes[v] == room:
                    facts[v, 0] = right_scores[v, 0]
        sizes[row] = size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def sum_over_neighbours(indptr: _Array, indices: _Array, values: _Array) -> _Array:
    """The sum of the values [n] of each account's neighbours, [n]."""
    result = np.empty(len(indptr) - 1)
    for u in range(len(result)):
        total = 0.0
        for i in range(indptr[u], indptr[u + 1]):
            total += values[indices[i]]
        result[u] = total
    return result


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def join(best: BestLists, more: BestLists) -> None:
    """Offer each account the candidates of its other list; which list was first does not matter."""
    accounts, scores, sizes = best
    more_accounts, more_scores, more_sizes = more
    for u in range(len(sizes)):
        for k in range(more_sizes[u]):
            sizes[u] = _push(scores[u], accounts[u], sizes[u], more_scores[u, k], more_accounts[u, k])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def deal(of_right: BestLists, n_left: int) -> Entries:
    """The pairs in the lists of the right accounts as rows of the left ones, sorted."""
    accounts, scores, sizes = of_right
    indptr = np.zeros(n_left + 1, np.int64)
    for v in range(len(sizes)):
        for k in range(sizes[v]):
            indptr[accounts[v, k] + 1] += 1
    for u in range(n_left):
        indptr[u + 1] += indptr[u]
    end = indptr[:-1].copy()
    dealt = np.empty(indptr[n_left], np.int32)
    values = np.empty(indptr[n_left], scores.dtype)
    for v in range(len(sizes)):
        for k in range(sizes[v]):
            u = accounts[v, k]
            dealt[end[u]] = v
            values[end[u]] = scores[v, k]
            end[u] += 1
    return Entries(indptr, dealt, values)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def unite(of_left: BestLists, dealt: Entries, first: int) -> tuple[_Array, _Array, _Array]:
    """(indptr, indices, data) of the pairs in the lists of either side, rows sorted; both give a pair the same score.

    `of_left` has the lists of the left accounts from the `first` on. Only their K columns need sorting, by insertion: K
    is some dozens.
    """
    accounts, scores, sizes = of_left
    begin, other, other_scores = dealt
    n = len(sizes)
    indptr = np.zeros(n + 1, np.int64)
    indices = np.empty(begin[first + n] - begin[first] + sizes.sum(), np.int32)
    data = np.empty(len(indices), scores.dtype)
    columns = np.empty(accounts.shape[1], np.int64)
    values = np.empty(accounts.shape[1], scores.dtype)
    count = 0
    for u in range(n):
        for k in range(sizes[u]):
            j = k
            while j > 0 and columns[j - 1] > accounts[u, k]:
                columns[j], values[j] = columns[j - 1], values[j - 1]
                j -= 1
            columns[j], values[j] = accounts[u, k], scores[u, k]
        i, end, k = begin[first + u], begin[first + u + 1], 0
        while i < end or k < sizes[u]:
            if k == sizes[u] or (i < end and other[i] < columns[k]):
                indices[count], data[count] = other[i], other_scores[i]
                i += 1
            else:
                indices[count], data[count] = columns[k], values[k]
                if i < end and other[i] == columns[k]:
                    i += 1
                k += 1
            count += 1
        indptr[u + 1] = count
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def raise_peaks(values: _Array, group: _Array, peak: _Array) -> None:
    """`grouped_softmax` in three steps, for values that come in blocks. First the largest of each group, at least 0."""
    for i in range(len(values)):
        peak[group[i]] = max(peak[group[i]], values[i])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def background_masses(peak: _Array, background: float) -> _Array:
    """What members at 0 add to the mass of each group; compiled, since numpy's exp differs in the last digit."""
    return background * np.exp(-peak)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_masses(values: _Array, group: _Array, peak: _Array, mass: _Array) -> None:
    """Then what the weights of each group add to its mass, which starts from its background."""
    for i in range(len(values)):
        mass[group[i]] += math.exp(values[i] - peak[group[i]])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def weights_of(values: _Array, group: _Array, peak: _Array, mass: _Array) -> _Array:
    """Then the share of each value in its group."""
    weight = np.empty(len(values))
    for i in range(len(values)):
        weight[i] = math.exp(values[i] - peak[group[i]]) / mass[group[i]]
    return weight
