"""The loops behind the neighbourhood hypergraphs, compiled: breadth-first balls and truncated random walks."""

from __future__ import annotations

from typing import Final

import numba
import numpy as np

from kedge.types import FloatArray, IntArray

__all__ = ["count_ball", "list_ball", "walk_nearest"]

_TOP_BITS: Final = int(np.float64(2.0).view(np.int64))
_BUCKET_SHIFT: Final = 49  # of 52 bits of mantissa: eight buckets an octave
_BUCKETS: Final = 512


@numba.njit(cache=True)
def _ball(indptr, indices, centre, hops, seen, stamp, queue):  # type: ignore[no-untyped-def] # pragma: no cover
    """Fill `queue` with the accounts within `hops` of the centre; `seen` holds the last stamp of each."""
    queue[0] = centre
    seen[centre] = stamp
    first, size = 0, 1
    for _ in range(hops):
        last = size
        for place in range(first, last):
            account = queue[place]
            for entry in range(indptr[account], indptr[account + 1]):
                neighbour = indices[entry]
                if seen[neighbour] != stamp:
                    seen[neighbour] = stamp
                    queue[size] = neighbour
                    size += 1
        if size == last:
            break
        first = last
    return size


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def count_ball(indptr: IntArray, indices: IntArray, centres: IntArray, hops: int) -> IntArray:
    """How many accounts stand within `hops` of each centre, itself included, int64 [c]."""
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    sizes = np.empty(len(centres), np.int64)
    for i in range(len(centres)):
        sizes[i] = _ball(indptr, indices, centres[i], hops, seen, i, queue)
    return sizes


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def list_ball(indptr: IntArray, indices: IntArray, centres: IntArray, hops: int, ends: IntArray) -> IntArray:
    """The accounts within `hops` of each centre, one after another; `ends` are the running sums of their counts."""
    n = len(indptr) - 1
    seen = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    members = np.empty(ends[-1], np.int32)
    start = 0
    for i in range(len(centres)):
        size = _ball(indptr, indices, centres[i], hops, seen, i, queue)
        members[start : start + size] = np.sort(queue[:size])
        start += size
    return members


@numba.njit(cache=True)
def _keep_largest(accounts, size, mass, keep, weights, bucket, counts):  # type: ignore[no-untyped-def] # pragma: no cover
    """Move the `keep` heaviest accounts to the front and return how many; equal masses keep the smaller number.

    By selection, not by sorting: a walk's front has thousands of accounts, of which a hundred go on. Masses are counted
    by their leading bits first (eight buckets an octave), so only one bucket has to be looked at closely. The last
    three arguments are room to work in.
    """
    if size <= keep:
        return size
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
def _spread(indptr, indices, weights, even, front, size, mass, strength, spread, ahead):  # type: ignore[no-untyped-def] # pragma: no cover
    """One step of the walk from the first `size` accounts of `front`: fills `spread` and lists where in `ahead`."""
    found = 0
    for place in range(size):
        account = front[place]
        if strength[account] > 0:
            flow = mass[account] / strength[account]
            for entry in range(indptr[account], indptr[account + 1]):
                neighbour = indices[entry]
                # Written always and counted only if new: no branch to guess.
                ahead[found] = neighbour
                found += spread[neighbour] == 0.0
                spread[neighbour] += flow if even else flow * weights[entry]
        mass[account] = 0.0
    return found


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def walk_nearest(
    indptr: IntArray,
    indices: IntArray,
    weights: FloatArray,
    centres: IntArray,
    hops: int,
    restart: float,
    k: int,
    keep: int,
) -> tuple[IntArray, FloatArray, IntArray]:
    """The k accounts with the largest π_c = Σ_t restart (1 - restart)^t P^t e_c over t = 0..hops, for each centre c.

    P is the random walk by weight. Each step keeps the `keep` heaviest accounts of its front, so the cost a centre
    is at most hops · keep · degree. Returns accounts and π, [c, k], centre first, then by falling π (equal ones by
    their number), and how many there are of each, [c]; a walk does not leave an isolated account. Unsigned `indices`
    are quickest: they need no check for counting from the end.
    """
    n = len(indptr) - 1
    strength = np.zeros(n)
    for account in range(n):
        for entry in range(indptr[account], indptr[account + 1]):
            strength[account] += weights[entry]
    even = bool((weights == 1.0).all())
    nearest = np.zeros((len(centres), k), np.int32)
    masses = np.zeros((len(centres), k))
    counts = np.zeros(len(centres), np.int64)
    total = np.zeros(n)
    reached = np.empty(n, np.int64)
    mass = np.zeros(n)
    spread = np.zeros(n)
    front = np.empty(n, np.int64)
    ahead = np.empty(n + 1, np.int64)
    touched = np.empty(n, np.int64)
    reached_now = np.empty(n, np.int64)
    room = (np.empty(n), np.empty(n, np.int64), np.empty(_BUCKETS, np.int64))
    for i in range(len(centres)):
        centre = centres[i]
        front[0], size = centre, 1
        mass[centre] = 1.0
        reached[0], held = centre, 1
        total[centre] = restart
        share = restart
        for _ in range(hops):
            share *= 1.0 - restart
            found = _spread(indptr, indices, weights, even, front, size, mass, strength, spread, ahead)
            touched[:found] = ahead[:found]
            size = _keep_largest(ahead, found, spread, keep, *room)
            for place in range(size):
                account = ahead[place]
                front[place] = account
                mass[account] = spread[account]
                if total[account] == 0.0:
                    reached[held] = account
                    held += 1
                total[account] += share * mass[account]
            for place in range(found):
                spread[touched[place]] = 0.0
            if size == 0:
                break
        for place in range(size):
            mass[front[place]] = 0.0
        own = total[centre]
        reached_now[:held] = reached[:held]
        total[centre] = np.inf  # the centre stands first whatever its mass
        count = _keep_largest(reached_now, held, total, k, *room)
        chosen = np.sort(reached_now[:count])
        order = np.argsort(-total[chosen], kind="mergesort")
        counts[i] = count
        for place in range(count):
            nearest[i, place] = chosen[order[place]]
            masses[i, place] = total[nearest[i, place]]
        masses[i, 0] = own
        for place in range(held):
            total[reached[place]] = 0.0
    return nearest, masses, counts
