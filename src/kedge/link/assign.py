"""One-to-one assignment: which candidate pairs to keep so that the total gain is largest.

    maximise Σ gain(u, v) over the kept pairs,  each left and each right account in at most one of them

over sparse candidates. Leaving both accounts free gains 0, so a pair with gain ≤ 0 is never kept: "no counterpart" is
an answer, not a failure.

Optimal assignment is by successive shortest paths on exact integers: gains are scaled to 2^52 steps of the largest
(float32 gains within a factor of 2^28 of it stay exact), so prices carry no rounding error and ties are real ties.
A bidding phase (Jonker and Volgenant's augmenting row reduction, the no-match option being one more bid) settles nearly
all accounts; Dijkstra's search, cut off where staying free is better, settles the rest.

Ties. `greedy` takes the pair of larger gain, then of lower left, then of lower right account. `many-to-one` takes the
lower right account. `optimal` prefers the same among equally good assignments as far as the order of work allows: left
accounts are served by their best gain, then by number, and each looks at its candidates by gain, then by number. The
result is a function of the gains and the numbering alone; the total does not depend on the numbering.
"""

from __future__ import annotations

import heapq
from typing import Any, Literal

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from kedge.types import IntArray

__all__ = ["How", "assign"]

How = Literal["optimal", "greedy", "many-to-one"]

_STEPS = float(1 << 52)
_BIDS_PER_ROW = 8  # how long accounts may outbid each other before the exact search takes over


def assign(gain: csr_array, how: How = "optimal") -> IntArray:
    """The kept pairs [m, 2], by left account, out of the stored entries of `gain` (left × right)."""
    gain = csr_array(gain)
    if not (gain.data < np.inf).all():
        raise ValueError("a gain must be a number below infinity")
    rows = np.repeat(np.arange(gain.shape[0]), np.diff(gain.indptr))
    kept = gain.data > 0
    rows, columns, values = rows[kept], gain.indices[kept].astype(np.int64), gain.data[kept].astype(np.float64)
    if len(rows) == 0:
        return np.empty((0, 2), np.int64)
    if how == "greedy":
        order = np.lexsort((columns, rows, -values))
        partner = _greedy(rows[order], columns[order], *gain.shape)
    elif how in ("optimal", "many-to-one"):
        order = np.lexsort((columns, -values, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        indptr = np.searchsorted(rows, np.arange(gain.shape[0] + 1))
        if how == "optimal":
            # A positive gain stays positive, however small it is beside the largest.
            steps = np.maximum(np.rint(values * (_STEPS / values.max())), 1).astype(np.int64)
            served = np.flatnonzero(np.diff(indptr))
            served = served[np.lexsort((served, -steps[indptr[served]]))]
            partner = _optimal(indptr, columns, steps, served, gain.shape[1])
        else:
            partner = np.full(gain.shape[0], -1, np.int64)
            filled = np.flatnonzero(np.diff(indptr))
            partner[filled] = columns[indptr[filled]]
    else:
        raise ValueError(f"no assignment {how!r}; choose optimal, greedy or many-to-one")
    chosen = np.flatnonzero(partner >= 0)
    return np.column_stack([chosen, partner[chosen]])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _greedy(rows: Any, columns: Any, n_left: int, n_right: int) -> Any:
    """Take each pair in the given order whose two accounts are both still free."""
    partner = np.full(n_left, -1, np.int64)
    taken = np.zeros(n_right, np.bool_)
    for i in range(len(rows)):
        u, v = rows[i], columns[i]
        if partner[u] < 0 and not taken[v]:
            partner[u] = v
            taken[v] = True
    return partner


@njit(cache=True)  # type: ignore[untyped-decorator]
def _bid(indptr: Any, columns: Any, steps: Any, served: Any, partner: Any, holder: Any, price: Any, rounds: int) -> Any:
    """Let each account in turn take its best candidate and raise its price by the lead over the second best.

    Exact: after every bid each account holds its best offer at the current prices, and a price above 0 has a holder. An
    account with no lead (a tie with a held candidate) is left to the search. Returns the accounts still to be settled.
    """
    left_over = []
    budget = rounds * len(served)
    for start in served:
        u = start
        while True:
            best, second, choice = np.int64(0), np.int64(0), np.int64(-1)
            for e in range(indptr[u], indptr[u + 1]):
                profit = steps[e] - price[columns[e]]
                # An equal offer that nobody holds is as good and costs nobody a partner.
                if profit > best or (profit == best and choice >= 0 and holder[choice] >= 0 and holder[columns[e]] < 0):
                    second = best
                    best, choice = profit, columns[e]
                elif profit > second:
                    second = profit
            if choice < 0:
                break  # every candidate is worth more to another account: stays free
            displaced = holder[choice]
            if displaced >= 0 and (second == best or budget <= 0):
                left_over.append(u)
                break
            budget -= 1
            price[choice] += best - second
            holder[choice], partner[u] = u, choice
            if displaced < 0:
                break
            partner[displaced] = -1
            u = displaced
    return left_over


@njit(cache=True)  # type: ignore[untyped-decorator]
def _optimal(indptr: Any, columns: Any, steps: Any, served: Any, n_right: int) -> Any:
    """The right partner of each left account, or -1; rows of (columns, steps) are sorted by falling gain."""
    n_left = len(indptr) - 1
    partner = np.full(n_left, -1, np.int64)
    holder = np.full(n_right, -1, np.int64)
    price = np.zeros(n_right, np.int64)
    left_over = _bid(indptr, columns, steps, served, partner, holder, price, _BIDS_PER_ROW)

    far = np.int64(1) << 62
    distance = np.full(n_right, far, np.int64)
    source = np.full(n_right, -1, np.int64)  # the left account from which a right one was reached
    done = np.zeros(n_right, np.bool_)
    for start in left_over:
        # The loss against the best offer that each account on the path accepts; `stop` is the least loss known.
        profit = np.int64(0)
        for e in range(indptr[start], indptr[start + 1]):
            profit = max(profit, steps[e] - price[columns[e]])
        stop, end, freed = profit, np.int64(-1), start  # to stay free itself loses its whole profit
        heap = [(np.int64(0), np.int64(-1))]
        heap.pop()
        reached = [np.int64(0)]
        reached.pop()
        u, base = start, np.int64(0)
        while True:
            for e in range(indptr[u], indptr[u + 1]):
                v = columns[e]
                if done[v]:
                    continue
                length = base + profit - (steps[e] - price[v])
                if length < distance[v] and length < stop:
                    if distance[v] == far:
                        reached.append(v)
                    distance[v], source[v] = length, u
                    if holder[v] < 0:
                        stop, end, freed = length, v, np.int64(-1)
                    else:
                        heapq.heappush(heap, (length, v))
            v = np.int64(-1)
            while len(heap) > 0:
                base, v = heapq.heappop(heap)
                if not done[v] and base == distance[v]:
                    break
                v = np.int64(-1)
            if v < 0 or base >= stop:
                break
            done[v] = True
            u = holder[v]
            profit = np.int64(0)
            for e in range(indptr[u], indptr[u + 1]):
                if columns[e] == v:
                    profit = steps[e] - price[v]
            if base + profit < stop:  # it may give up its partner and stay free
                stop, end, freed = base + profit, v, u
        for v in reached:
            if done[v]:
                price[v] += stop - distance[v]
        # Walk back from the end; the account at the far end is freed, or takes the free candidate.
        v = end
        if freed >= 0 and v >= 0:
            partner[freed] = -1
        while v >= 0:
            u = source[v]
            before = partner[u]
            partner[u], holder[v] = v, u
            v = before if u != start else np.int64(-1)
        for v in reached:
            distance[v], source[v], done[v] = far, -1, False
    return partner
