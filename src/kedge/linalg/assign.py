"""One-to-one assignment: which candidate pairs to take so that the total gain is largest.

    maximise Σ gain(u, v) over the pairs taken,  each left and each right account in at most one of them

over sparse candidates. Leaving both accounts free gains 0, so a pair with gain ≤ 0 is never taken: "no counterpart" is
an answer, not a failure.

Optimal assignment is by successive shortest paths on exact integers: gains are scaled to 2^52 steps of the largest
(float32 gains within a factor of 2^28 of it stay exact), so prices carry no rounding error and ties are real ties.
A bidding phase (Jonker and Volgenant's augmenting row reduction, the no-match option being one more bid) assigns nearly
all accounts; Dijkstra's search, cut off where staying free is better, assigns the rest.

Ties. `greedy` takes the pair of larger gain, then of lower left, then of lower right account. `many-to-one` takes the
lower right account. `optimal` prefers the same among equally good assignments as far as the order of work allows: left
accounts are served by their best gain, then by number, and each looks at its candidates by gain, then by number. The
result is a function of the gains and the numbering alone; the total does not depend on the numbering.
"""

from __future__ import annotations

import heapq
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from kedge.linalg.sparse import row_index
from kedge.types import IntArray

How = Literal["optimal", "greedy", "many-to-one"]

_STEPS = float(1 << 52)
_BIDS_PER_ROW = 8  # how long accounts may outbid each other before the exact search takes over; speed alone
_FAR = 1 << 62


class _Market(NamedTuple):
    """Candidates of the left accounts as CSR, each row by falling gain, in integer steps; and who has whom: the right
    partner of each left account, the left holder of each right one (-1: none), and its price in steps."""

    indptr: Any
    columns: Any
    steps: Any
    partner: Any
    holder: Any
    price: Any


class _Paths(NamedTuple):
    """Shortest paths to right accounts: their length, the left account before each, whether it is final; the right
    accounts reached, and a heap of (length, account)."""

    distance: Any
    source: Any
    done: Any
    reached: Any
    heap: Any


class _End(NamedTuple):
    """The best end of a path so far: its loss, its right account (-1: none), and the left account that it leaves free
    (-1: none, the right account was free)."""

    loss: Any
    account: Any
    freed: Any


def assign(gain: csr_array, how: How = "optimal") -> IntArray:
    """The pairs taken [m, 2], by left account, out of the stored entries of `gain` (left × right)."""
    gain = csr_array(gain)
    if not (gain.data < np.inf).all():
        raise ValueError("a gain must be a number below infinity")
    rows = row_index(gain)
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
            # A positive gain stays positive, however small it is compared with the largest.
            largest = max(values.max(), _STEPS * np.finfo(np.float64).tiny)  # or the quotient is infinite
            steps = np.maximum(np.rint(values * (_STEPS / largest)), 1).astype(np.int64)
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


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _best_offer(market: _Market, u: int) -> Any:
    """u's best profit at the current prices, its second best, and the candidate of the best (-1: none above 0)."""
    best, second, choice = np.int64(0), np.int64(0), np.int64(-1)
    for e in range(market.indptr[u], market.indptr[u + 1]):
        v = market.columns[e]
        profit = market.steps[e] - market.price[v]
        # An equal offer without a holder is as good, and no other account loses its partner.
        if profit > best or (profit == best and choice >= 0 and market.holder[choice] >= 0 and market.holder[v] < 0):
            second = best
            best, choice = profit, v
        elif profit > second:
            second = profit
    return best, second, choice


@njit(cache=True)  # type: ignore[untyped-decorator]
def _bid(market: _Market, served: Any) -> Any:
    """Let one account after the other take its best candidate and raise its price by the lead over the second best.

    Exact: after every bid each account holds its best offer at the current prices, and a price above 0 has a holder. An
    account with no lead (a tie with a held candidate) is left to the search. Returns the accounts still to be assigned.
    """
    left_over = []
    budget = _BIDS_PER_ROW * len(served)
    for start in served:
        u = start
        while True:
            best, second, choice = _best_offer(market, u)
            if choice < 0:
                break  # every candidate is worth more to another account: stays free
            displaced = market.holder[choice]
            if displaced >= 0 and (second == best or budget <= 0):
                left_over.append(u)
                break
            budget -= 1
            market.price[choice] += best - second
            market.holder[choice], market.partner[u] = u, choice
            if displaced < 0:
                break
            market.partner[displaced] = -1
            u = displaced
    return left_over


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _relax(market: _Market, paths: _Paths, u: int, base: int, end: Any) -> Any:
    """Extend the path that reaches u (`base`: its length and u's profit) to u's candidates; the best end afterwards."""
    for e in range(market.indptr[u], market.indptr[u + 1]):
        v = market.columns[e]
        if paths.done[v]:
            continue
        length = base - (market.steps[e] - market.price[v])
        if length < paths.distance[v] and length < end.loss:
            if paths.distance[v] == _FAR:
                paths.reached.append(v)
            paths.distance[v], paths.source[v] = length, u
            if market.holder[v] < 0:
                end = _End(length, v, np.int64(-1))
            else:
                heapq.heappush(paths.heap, (length, v))
    return end


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _nearest(paths: _Paths) -> Any:
    """The nearest right account that is not final yet and its distance; account -1: none."""
    while len(paths.heap) > 0:
        base, v = heapq.heappop(paths.heap)
        if not paths.done[v] and base == paths.distance[v]:
            return base, v
    return np.int64(0), np.int64(-1)


@njit(cache=True, forceinline=True)  # type: ignore[untyped-decorator]
def _profit_of(market: _Market, u: int, v: int) -> Any:
    """u's profit from its candidate v at the current prices."""
    profit = np.int64(0)
    for e in range(market.indptr[u], market.indptr[u + 1]):
        if market.columns[e] == v:
            profit = market.steps[e] - market.price[v]
    return profit


@njit(cache=True)  # type: ignore[untyped-decorator]
def _shortest_path(market: _Market, paths: _Paths, start: int) -> Any:
    """The end of the path from `start` that loses least against the best offers on it.

    A path may end at a free right account, at an account that gives up its partner, or at once: `start` stays free.
    """
    profit = np.int64(0)
    for e in range(market.indptr[start], market.indptr[start + 1]):
        profit = max(profit, market.steps[e] - market.price[market.columns[e]])
    end = _End(profit, np.int64(-1), start)
    u, base = start, np.int64(0)
    while True:
        end = _relax(market, paths, u, base + profit, end)
        base, v = _nearest(paths)
        if v < 0 or base >= end.loss:
            break
        paths.done[v] = True
        u = market.holder[v]
        profit = _profit_of(market, u, v)
        if base + profit < end.loss:  # it may give up its partner and stay free
            end = _End(base + profit, v, u)
    return end


@njit(cache=True)  # type: ignore[untyped-decorator]
def _augment(market: _Market, paths: _Paths, start: int, end: Any) -> None:
    """Pass partners on along the path, from its end back to `start`."""
    v = end.account
    if end.freed >= 0 and v >= 0:
        market.partner[end.freed] = -1
    while v >= 0:
        u = paths.source[v]
        before = market.partner[u]
        market.partner[u], market.holder[v] = v, u
        v = before if u != start else np.int64(-1)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _forget(paths: _Paths) -> None:
    """Make the paths ready for the next search."""
    for v in paths.reached:
        paths.distance[v], paths.source[v], paths.done[v] = _FAR, -1, False
    paths.reached.clear()
    paths.heap.clear()


@njit(cache=True)  # type: ignore[untyped-decorator]
def _optimal(indptr: Any, columns: Any, steps: Any, served: Any, n_right: int) -> Any:
    """The right partner of each left account, or -1; rows of (columns, steps) are sorted by falling gain."""
    free = np.full(len(indptr) - 1, -1, np.int64), np.full(n_right, -1, np.int64)
    market = _Market(indptr, columns, steps, free[0], free[1], np.zeros(n_right, np.int64))
    distance = np.full(n_right, _FAR, np.int64)
    # One entry each, removed again by `_forget`: numba infers the types from it.
    reached, heap = [np.int64(0)], [(np.int64(0), np.int64(0))]
    paths = _Paths(distance, np.full(n_right, -1, np.int64), np.zeros(n_right, np.bool_), reached, heap)
    _forget(paths)
    for start in _bid(market, served):
        end = _shortest_path(market, paths, start)
        for v in paths.reached:
            if paths.done[v]:
                market.price[v] += end.loss - distance[v]
        _augment(market, paths, start, end)
        _forget(paths)
    return market.partner
