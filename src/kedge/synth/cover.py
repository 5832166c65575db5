"""Give every account a friend: an account without edges would vanish from an edge list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.synth.pair import keys
from kedge.synth.venues import BOTH, LEFT, RIGHT, Edges
from kedge.types import IntArray

_LOCAL_ROUNDS = 4
_IDLE_ROUNDS = 4  # how often chance may fail before the rest counts as unavoidable
_TRIES = 8  # offers that one person looks at in a round


def cover(edges: Edges, kind: NDArray[np.uint8], community: IntArray, rng: np.random.Generator) -> None:
    """Move ends of edges, in place, to persons who have none on a side, as long as that helps.

    An edge u - v becomes i - v, where i has no edge on that side and u has another one. The venue of the edge
    stays, and an edge among persons in both stays one, so no count and no overlap changes. The first rounds
    look in i's own community; later ones also move edges that show on both sides.
    """
    round_ = idle = 0
    while idle < _IDLE_ROUNDS:
        moved = remaining = 0
        local = round_ < _LOCAL_ROUNDS
        for venue in (LEFT, RIGHT) if round_ < 2 else (LEFT, RIGHT, BOTH):
            lonely = _lonely(edges, kind, venue)
            remaining += len(lonely)
            if len(lonely):
                moved += _move(edges, kind, community, lonely, venue, local, rng)
        if remaining == 0:
            return
        idle = 0 if moved or local else idle + 1
        round_ += 1


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


def _offers(
    edges: Edges, venue: int, n: int, most: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Edges that can be spared: (place in `edges`, who gives it up, who keeps it), in random order.

    Everyone gives at most one edge a round, so that two gifts cannot leave the giver with none.
    """
    usable = np.flatnonzero(edges.venue == venue)
    if len(usable) == 0:
        return usable, usable, usable
    # A sample far larger than the need is enough; the largest pairs have ten million usable edges.
    spot = usable[np.unique(rng.integers(0, len(usable), min(4 * len(usable), most)))]
    turned = rng.random(len(spot)) < 0.5
    giver = np.where(turned, edges.second[spot], edges.first[spot])
    keeper = np.where(turned, edges.first[spot], edges.second[spot])
    spare = np.ones(len(spot), bool)
    for side in (LEFT, RIGHT):
        if venue & side:
            spare &= _degrees(edges, side, n)[giver] >= 2
    spot, giver, keeper = spot[spare], giver[spare], keeper[spare]
    order = rng.permutation(len(spot))
    _, once = np.unique(giver[order], return_index=True)
    once = order[rng.permutation(once)]
    return spot[once], giver[once], keeper[once]


def _earliest(values: IntArray) -> NDArray[np.bool_]:
    """A mask of the first place of each different value."""
    mask = np.zeros(len(values), bool)
    mask[np.unique(values, return_index=True)[1]] = True
    return mask


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
    spot, giver, keeper = _offers(edges, venue, n, 100 * len(lonely) + 1000, rng)
    if len(spot) == 0:
        return 0
    if local:
        # Deal the offers of each community to its lonely ones, _TRIES to each as far as they last.
        order = np.argsort(community[keeper], kind="stable")
        spot, giver, keeper = spot[order], giver[order], keeper[order]
        taker = np.repeat(lonely[np.argsort(community[lonely], kind="stable")], _TRIES)
        home = community[taker]
        place = np.searchsorted(community[keeper], home) + np.arange(len(taker)) - np.searchsorted(home, home)
        fits = place < np.searchsorted(community[keeper], home, side="right")
        place, taker = place[fits], taker[fits]
    else:
        taker = np.repeat(lonely, _TRIES)
        place = rng.integers(0, len(spot), len(taker))
    spot, giver, keeper = spot[place], giver[place], keeper[place]

    shared = kind == BOTH
    fits = ((shared[giver] & shared[keeper]) == (shared[taker] & shared[keeper])) & (taker != keeper)
    # The new edge must not exist on either side: it would be a repeat or change the overlap.
    new = keys(np.minimum(taker, keeper), np.maximum(taker, keeper))
    near = np.zeros(n, bool)
    near[taker] = True
    touching = near[edges.first] | near[edges.second]
    fits &= ~np.isin(new, keys(edges.first[touching], edges.second[touching]))
    for once in (taker, spot, new):  # one gift for a person, one person for a gift
        chosen = np.flatnonzero(fits)
        fits[chosen[~_earliest(once[chosen])]] = False
    edges.first[spot[fits]] = np.minimum(taker, keeper)[fits]
    edges.second[spot[fits]] = np.maximum(taker, keeper)[fits]
    return int(fits.sum())
