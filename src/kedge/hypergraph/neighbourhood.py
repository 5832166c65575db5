"""Neighbourhood hypergraphs: one hyperedge around each account (the paper's first construction).

The loops, breadth-first balls and truncated random walks, are compiled.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network

_TOP_BITS: Final = int(np.float64(2.0).view(np.int64))
_BUCKET_SHIFT: Final = 49  # of 52 bits of mantissa: eight buckets per octave
_BUCKETS: Final = 512


def build(
    network: Network,
    config: HypergraphConfig,
    seed: int = 0,
    anchors: IntArray | None = None,
    shared_values: Hypergraph | None = None,
) -> Hypergraph:
    """One hyperedge around every account, n × n: its `hops` neighbourhood, or the `nearest` accounts in it."""
    del seed, anchors, shared_values  # nothing is drawn, and every account is a centre
    return surround(network, config, np.arange(network.n))


def surround(network: Network, config: HypergraphConfig, centres: IntArray) -> Hypergraph:
    """One hyperedge around each centre, n × c.

    With `nearest = 0` as the paper writes: all accounts within `hops`, p = 1. Otherwise the `nearest` accounts by
    personalised PageRank within `hops`, p = their probability scaled so that the centre has 1 (and at most 1), to the
    power `sharpness`.
    """
    A = network.adjacency
    if not (np.isfinite(A.data).all() and (A.data >= 0).all()):  # a walk counts on it, and does not check
        raise KedgeError("a network has a weight that is negative or not finite", remedy="mend its weights")
    centres = np.asarray(centres, np.int64)
    shape = (network.n, len(centres))
    if config.nearest == 0:
        sizes = _count_balls(A.indptr, A.indices, centres, config.hops)
        entries = int(sizes.sum())
        if entries > config.max_entries:
            raise KedgeError(
                f"{config.hops}-hop hyperedges hold {entries:,} accounts in all, more than {config.max_entries:,} "
                f"(coverage {entries / max(1, shape[0] * shape[1]):.2f})",
                remedy="set hypergraph.nearest to 32, or hypergraph.hops lower",
            )
        members = _list_balls(A.indptr, A.indices, centres, config.hops, entries)
        edges = np.repeat(np.arange(len(centres)), sizes)
        return Hypergraph(csr_array((np.ones(entries, np.float32), (members, edges)), shape=shape), centres)
    k = min(config.nearest, network.n)
    # Unsigned indices are quickest: they need no check for counting from the end.
    graph = Graph(A.indptr, A.indices.astype(np.uint32), A.data.astype(np.float64), bool((A.data == 1.0).all()))
    nearest, mass, counts = walk_nearest(graph, centres, Walk(config.hops, config.restart, k, max(config.front, k)))
    stored = np.arange(k) < counts[:, None]
    scaled = np.minimum(mass / np.maximum(mass[:, :1], np.finfo(np.float64).tiny), 1.0)
    # Most of a walk's probability stays at its centre; a power below 1 lets the other members count for more.
    p = (scaled**config.sharpness).astype(np.float32)
    edges = np.broadcast_to(np.arange(len(centres))[:, None], stored.shape)
    return Hypergraph(csr_array((p[stored], (nearest[stored], edges[stored])), shape=shape), centres)


@numba.njit(cache=True)
def _ball(indptr, indices, centre, hops, room):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill the queue with the accounts within `hops` of the centre and return their number; room is (seen, queue)."""
    seen, queue = room
    queue[0] = centre
    seen[centre] = True
    first, size = 0, 1
    for _ in range(hops):
        last = size
        for place in range(first, last):
            account = queue[place]
            for entry in range(indptr[account], indptr[account + 1]):
                neighbour = indices[entry]
                if not seen[neighbour]:
                    seen[neighbour] = True
                    queue[size] = neighbour
                    size += 1
        if size == last:
            break
        first = last
    for place in range(size):
        seen[queue[place]] = False
    return size


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _count_balls(indptr: IntArray, indices: IntArray, centres: IntArray, hops: int) -> IntArray:
    """How many accounts are within `hops` of each centre, itself included, int64 [c]."""
    room = (np.zeros(len(indptr) - 1, np.bool_), np.empty(len(indptr) - 1, np.int64))
    sizes = np.empty(len(centres), np.int64)
    for i in range(len(centres)):
        sizes[i] = _ball(indptr, indices, centres[i], hops, room)
    return sizes


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _list_balls(indptr: IntArray, indices: IntArray, centres: IntArray, hops: int, entries: int) -> IntArray:
    """The accounts within `hops` of each centre, one ball after another; `entries` in all."""
    room = (np.zeros(len(indptr) - 1, np.bool_), np.empty(len(indptr) - 1, np.int64))
    members = np.empty(entries, np.int32)
    start = 0
    for i in range(len(centres)):
        size = _ball(indptr, indices, centres[i], hops, room)
        members[start : start + size] = np.sort(room[1][:size])
        start += size
    return members


class Graph(NamedTuple):
    """A network as CSR; `even` where every weight is 1."""

    indptr: IntArray
    indices: IntArray
    weights: FloatArray
    even: bool


class Walk(NamedTuple):
    """A truncated random walk: steps, probability of returning, accounts returned, accounts carried on per step."""

    hops: int
    restart: float
    k: int
    keep: int


class _State(NamedTuple):
    """What a walk works in, each [n]: `mass` at its front, `spread` one step ahead, `total` over all steps."""

    strength: FloatArray
    mass: FloatArray
    spread: FloatArray
    total: FloatArray
    front: IntArray
    ahead: IntArray
    touched: IntArray
    reached: IntArray


@numba.njit(cache=True)
def _keep_largest(accounts, size, mass, keep, room):  # type: ignore[no-untyped-def] # pragma: no cover
    """Move the `keep` heaviest accounts to the front and return how many; equal masses keep the smaller number.

    By selection, not by sorting: a walk's front has thousands of accounts, of which a hundred go on. Masses are counted
    by their leading bits first (eight buckets per octave), so only one bucket has to be looked at closely.
    """
    if size <= keep:
        return size
    weights, bucket, counts = room
    bits = weights.view(np.int64)
    counts[:] = 0
    for place in range(size):
        weights[place] = mass[accounts[place]]
        level = min(max((_TOP_BITS - bits[place]) >> _BUCKET_SHIFT, 0), _BUCKETS - 1)
        bucket[place] = level
        counts[level] += 1
    split, above = 0, 0
    while above + counts[split] < keep:
        above += counts[split]
        split += 1
    close = np.empty(counts[split])
    found = 0
    for place in range(size):
        if bucket[place] == split:
            close[found] = weights[place]
            found += 1
    least = np.partition(close, found - (keep - above))[found - (keep - above)]
    kept, level = 0, 0
    tied = np.empty(found, np.int64)
    for place in range(size):
        if bucket[place] > split:
            continue
        if weights[place] > least:
            accounts[kept] = accounts[place]
            kept += 1
        elif weights[place] == least:
            tied[level] = accounts[place]
            level += 1
    accounts[kept:keep] = np.sort(tied[:level])[: keep - kept]
    return keep


@numba.njit(cache=True)
def _spread(graph, state, size):  # type: ignore[no-untyped-def] # pragma: no cover
    """One step of the walk from the first `size` accounts of the front: fills `spread`, lists where in `ahead`."""
    found = 0
    for place in range(size):
        account = state.front[place]
        if state.strength[account] > 0:
            flow = state.mass[account] / state.strength[account]
            for entry in range(graph.indptr[account], graph.indptr[account + 1]):
                neighbour = graph.indices[entry]
                added = flow if graph.even else flow * graph.weights[entry]
                # Written always and counted only if new: no branch to predict. What underflows to 0 is nowhere new, or
                # it would be counted again, and more often than there are accounts.
                state.ahead[found] = neighbour
                found += (state.spread[neighbour] == 0.0) & (added > 0.0)
                state.spread[neighbour] += added
        state.mass[account] = 0.0
    return found


@numba.njit(cache=True)
def _walk_from(graph, centre, walk, state, room):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill `total` by one walk and return how many accounts of `reached` it has."""
    state.front[0], size = centre, 1
    state.mass[centre] = 1.0
    state.reached[0], held = centre, 1
    state.total[centre] = walk.restart
    share = walk.restart
    for _ in range(walk.hops):
        share *= 1.0 - walk.restart
        found = _spread(graph, state, size)
        state.touched[:found] = state.ahead[:found]
        size = _keep_largest(state.ahead, found, state.spread, walk.keep, room)
        for place in range(size):
            account = state.ahead[place]
            state.front[place] = account
            state.mass[account] = state.spread[account]
            added = share * state.mass[account]
            if state.total[account] == 0.0 and added > 0.0:
                state.reached[held] = account
                held += 1
            state.total[account] += added
        for place in range(found):
            state.spread[state.touched[place]] = 0.0
        if size == 0:
            break
    for place in range(size):
        state.mass[state.front[place]] = 0.0
    return held


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def walk_nearest(graph: Graph, centres: IntArray, walk: Walk) -> tuple[IntArray, FloatArray, IntArray]:
    """The k accounts with the largest π_c = Σ_t restart (1 - restart)^t P^t e_c over t = 0..hops, for each centre c.

    P is the random walk by weight. Each step keeps the `keep` heaviest accounts of its front, so the cost per centre is
    at most hops · keep · degree. Returns accounts and π, [c, k], centre first, then by falling π (equal ones by their
    number), and how many there are of each, [c]; a walk does not leave an isolated account.
    """
    n = len(graph.indptr) - 1
    strength = np.zeros(n)
    for account in range(n):
        for entry in range(graph.indptr[account], graph.indptr[account + 1]):
            strength[account] += graph.weights[entry]
    state = _State(
        strength, np.zeros(n), np.zeros(n), np.zeros(n),
        np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
    )  # fmt: skip
    room = (np.empty(n), np.empty(n, np.int64), np.empty(_BUCKETS, np.int64))
    nearest = np.zeros((len(centres), walk.k), np.int32)
    masses = np.zeros((len(centres), walk.k))
    counts = np.zeros(len(centres), np.int64)
    for i in range(len(centres)):
        centre = centres[i]
        held = _walk_from(graph, centre, walk, state, room)
        own = state.total[centre]
        state.total[centre] = np.inf  # the centre is first whatever its mass
        best = state.reached[:held].copy()
        count = _keep_largest(best, held, state.total, walk.k, room)
        chosen = np.sort(best[:count])
        order = np.argsort(-state.total[chosen], kind="mergesort")
        counts[i] = count
        for place in range(count):
            nearest[i, place] = chosen[order[place]]
            masses[i, place] = state.total[nearest[i, place]]
        masses[i, 0] = own
        for place in range(held):
            state.total[state.reached[place]] = 0.0
    return nearest, masses, counts
