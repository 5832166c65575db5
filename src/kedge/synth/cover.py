"""Give every account a friend: an account without edges would vanish from an edge list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.synth.pair import keys
from kedge.synth.venues import BOTH, LEFT, RIGHT, Edges
from kedge.types import IntArray

__all__ = ["cover"]

_ROUNDS = 24
_LOCAL_ROUNDS = 6


def cover(edges: Edges, kind: NDArray[np.uint8], community: IntArray, rng: np.random.Generator) -> None:
    """Move ends of edges, in place, to persons who have none on a side, as long as that helps.

    An edge u - v becomes i - v, where i has no edge on that side and u has another one. The venue of the edge
    stays, and an edge among persons in both stays one, so no count and no overlap changes. The first rounds
    look in i's own community; later ones also move edges that show on both sides.
    """
    for round_ in range(_ROUNDS):
        moved = lonely_left = 0
        for venue in (LEFT, RIGHT, BOTH):
            if venue == BOTH and round_ < 2:
                continue
            lonely = _lonely(edges, kind, venue)
            lonely_left += len(lonely)
            if len(lonely):
                moved += _move(edges, kind, community, lonely, venue, round_ < _LOCAL_ROUNDS, rng)
        if lonely_left == 0 or (moved == 0 and round_ >= _LOCAL_ROUNDS):
            return


def _degrees(edges: Edges, side: int, n: int) -> IntArray:
    on = (edges.venue & side) != 0
    return np.asarray(np.bincount(edges.first[on], minlength=n) + np.bincount(edges.second[on], minlength=n))


def _lonely(edges: Edges, kind: NDArray[np.uint8], venue: int) -> IntArray:
    """The persons that an edge of this venue would help."""
    n = len(kind)
    missing = np.zeros(n, bool)
    for side in (LEFT, RIGHT):
        if venue & side:
            missing |= ((kind & side) != 0) & (_degrees(edges, side, n) == 0)
    if venue == BOTH:
        missing &= kind == BOTH
    return np.flatnonzero(missing)


def _move(
    edges: Edges,
    kind: NDArray[np.uint8],
    community: IntArray,
    lonely: IntArray,
    venue: int,
    local: bool,
    rng: np.random.Generator,
) -> int:
    """One round for one venue; how many edges moved."""
    n = len(kind)
    usable = np.flatnonzero(edges.venue == venue)
    if len(usable) == 0:
        return 0
    # A sample far larger than the need is enough; the largest pairs have ten million usable edges.
    spot = usable[np.unique(rng.integers(0, len(usable), min(4 * len(usable), 50 * len(lonely) + 1000)))]
    turned = rng.random(len(spot)) < 0.5
    giver = np.where(turned, edges.second[spot], edges.first[spot])
    keeper = np.where(turned, edges.first[spot], edges.second[spot])
    spare = np.ones(len(spot), bool)
    for side in (LEFT, RIGHT):
        if venue & side:
            spare &= _degrees(edges, side, n)[giver] >= 2
    spot, giver, keeper = spot[spare], giver[spare], keeper[spare]
    # Everyone gives at most one edge a round, so that two gifts cannot leave the giver with none.
    _, once = np.unique(giver, return_index=True)
    once = once[rng.permutation(len(once))]
    spot, giver, keeper = spot[once], giver[once], keeper[once]
    if len(spot) == 0:
        return 0

    order = np.argsort(community[keeper], kind="stable")
    spot, giver, keeper = spot[order], giver[order], keeper[order]
    lonely = lonely[np.argsort(community[lonely], kind="stable")]
    if local:
        begin = np.searchsorted(community[lonely], community[lonely])
        place = np.searchsorted(community[keeper], community[lonely]) + np.arange(len(lonely)) - begin
        fits = place < len(spot)
        place, taker = place[fits], lonely[fits]
        fits = community[keeper[place]] == community[taker]
        place, taker = place[fits], taker[fits]
    else:
        count = min(len(spot), len(lonely))
        place, taker = rng.permutation(len(spot))[:count], rng.permutation(lonely)[:count]
    spot, giver, keeper = spot[place], giver[place], keeper[place]

    shared = kind == BOTH
    fits = ((shared[giver] & shared[keeper]) == (shared[taker] & shared[keeper])) & (taker != keeper)
    new = keys(np.minimum(taker, keeper), np.maximum(taker, keeper))
    # The new edge must not exist on either side: it would be a repeat or change the overlap.
    near = np.zeros(n, bool)
    near[taker] = True
    touching = near[edges.first] | near[edges.second]
    fits &= ~np.isin(new, keys(edges.first[touching], edges.second[touching]))
    _, earliest = np.unique(new, return_index=True)
    only = np.zeros(len(new), bool)
    only[earliest] = True
    fits &= only
    edges.first[spot[fits]] = np.minimum(taker, keeper)[fits]
    edges.second[spot[fits]] = np.maximum(taker, keeper)[fits]
    return int(fits.sum())
