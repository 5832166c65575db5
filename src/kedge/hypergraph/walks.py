"""The loops behind the neighbourhood hypergraphs, compiled: breadth-first balls and truncated random walks."""

from __future__ import annotations

import numba
import numpy as np

from kedge.types import FloatArray, IntArray

__all__ = ["count_ball", "list_ball", "walk_nearest"]


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
def _keep_largest(accounts, size, mass, keep, moved):  # type: ignore[no-untyped-def] # pragma: no cover
    """Drop all but the `keep` heaviest accounts of a walk's front; equal masses keep the smaller number."""
    if size <= keep:
        return size
    front = np.sort(accounts[:size])
    order = np.argsort(-mass[front], kind="mergesort")
    for place in range(keep, size):
        mass[front[order[place]]] = 0.0
    for place in range(keep):
        moved[place] = front[order[place]]
    accounts[:keep] = moved[:keep]
    return keep


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
    their number), and how many there are of each, [c]; a walk does not leave an isolated account.
    """
    n = len(indptr) - 1
    strength = np.zeros(n)
    for account in range(n):
        for entry in range(indptr[account], indptr[account + 1]):
            strength[account] += weights[entry]
    nearest = np.zeros((len(centres), k), np.int32)
    masses = np.zeros((len(centres), k))
    counts = np.zeros(len(centres), np.int64)
    total = np.zeros(n)
    reached = np.empty(n, np.int64)
    mass = np.zeros(n)
    spread = np.zeros(n)
    front = np.empty(n, np.int64)
    ahead = np.empty(n, np.int64)
    for i in range(len(centres)):
        centre = centres[i]
        front[0], size = centre, 1
        mass[centre] = 1.0
        reached[0], held = centre, 1
        total[centre] = restart
        share = restart
        for _ in range(hops):
            share *= 1.0 - restart
            found = 0
            for place in range(size):
                account = front[place]
                if strength[account] > 0:
                    flow = mass[account] / strength[account]
                    for entry in range(indptr[account], indptr[account + 1]):
                        neighbour = indices[entry]
                        if spread[neighbour] == 0.0:
                            ahead[found] = neighbour
                            found += 1
                        spread[neighbour] += flow * weights[entry]
                mass[account] = 0.0
            size = _keep_largest(ahead, found, spread, keep, front)
            for place in range(size):
                account = ahead[place]
                front[place] = account
                mass[account] = spread[account]
                spread[account] = 0.0
                if total[account] == 0.0:
                    reached[held] = account
                    held += 1
                total[account] += share * mass[account]
            if size == 0:
                break
        for place in range(size):
            mass[front[place]] = 0.0
        own = total[centre]
        total[centre] = np.inf  # the centre stands first whatever its mass
        chosen = np.sort(reached[:held])
        order = np.argsort(-total[chosen], kind="mergesort")
        count = min(k, held)
        counts[i] = count
        for place in range(count):
            nearest[i, place] = chosen[order[place]]
            masses[i, place] = total[nearest[i, place]]
        masses[i, 0] = own
        for place in range(held):
            total[reached[place]] = 0.0
    return nearest, masses, counts
