"""A planted social pair: one society, two networks that each show a part of it, and a friend for every account."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.synthetic.counts import Wish, allocate
from kedge.synthetic.friendship import society
from kedge.synthetic.measure import measure
from kedge.synthetic.pair import Planted, checked_count, checked_number, checked_seed, keys, shuffled_network
from kedge.synthetic.venues import BOTH, LEFT, RIGHT, Edges, assign, kinds, natural_shares, pool
from kedge.types import IntArray, KedgeError

_LOCAL_ROUNDS = 4
_IDLE_ROUNDS = 4  # how often chance may fail before the rest counts as unavoidable
_TRIES = 8  # offers that one person looks at in a round


def planted(
    left_nodes: int,
    right_nodes: int,
    anchors: int,
    left_edges: int,
    right_edges: int,
    overlap: float,
    seed: int,
    *,
    communities: int | None = None,
    exponent: float = 2.5,
    cutoff: float = 25.0,
    mixing: float = 0.1,
    circle_share: float = 0.4,
) -> Planted:
    """Two networks of which `anchors` persons are in both, with exact counts of accounts and edges.

    `overlap`: of the left edges between two persons in both networks, the share that exists on the right too.
    `communities`: how many, about (default: so many that a mean one holds 10 persons plus 2.5 times
    the mean number of friends). `exponent`: of the power law of popularity, whose largest value is `cutoff` × the mean.
    `mixing`: the share of friendships with anybody at all; `circle_share`: with one's small circle; the rest
    is with one's community.
    """
    wish = Wish(
        checked_count("left_nodes", left_nodes, 2),
        checked_count("right_nodes", right_nodes, 2),
        checked_count("anchors", anchors, 0),
        checked_count("left_edges", left_edges, 1),
        checked_count("right_edges", right_edges, 1),
        checked_number("overlap", overlap, 0, 1),
    )
    mixing, circle_share = checked_number("mixing", mixing, 0, 1), checked_number("circle_share", circle_share, 0, 1)
    if mixing + circle_share > 1:
        raise KedgeError(f"mixing {mixing} and circle_share {circle_share} exceed 1", remedy="lower one of them")
    exponent = checked_number("exponent", exponent, 1.5, 10)
    cutoff = checked_number("cutoff", cutoff, 1.1, 1e6)
    rng = checked_seed(seed)
    persons = wish.persons
    # What the people of the busier side need; the pool draws more where both sides together show more.
    mean_degree = max(2 * wish.left_edges / wish.left_nodes, 2 * wish.right_edges / wish.right_nodes)
    if communities is None:
        communities = max(1, round(persons / (10 + 2.5 * mean_degree)))
    communities = checked_count("communities", communities, 1)
    if communities > persons:
        raise KedgeError(f"{communities} communities for {persons} persons", remedy=f"give at most {persons}")

    world = society(
        rng,
        persons,
        mean_degree,
        exponent=exponent,
        cutoff=min(cutoff, max(1.1, persons / (4 * mean_degree))),
        communities=communities,
        mixing=mixing,
        circle_share=circle_share,
    )
    kind = kinds(wish, world, rng)
    left_natural, right_natural, found = natural_shares(wish, world, kind, rng)
    counts = allocate(wish, left_natural, right_natural)
    edges = assign(wish, counts, pool(wish, counts, world, kind, found, rng), world, rng)
    _cover(edges, kind, world.community, rng)

    sides = []
    for prefix, side in (("a", LEFT), ("b", RIGHT)):
        shown = (edges.venue & side) != 0
        members = np.flatnonzero(kind & side)
        sides.append(shuffled_network(edges.first[shown], edges.second[shown], members, persons, prefix, rng))
    (left, left_account), (right, right_account) = sides
    del edges
    both: IntArray = rng.permutation(np.flatnonzero(kind == BOTH))
    pairs = np.column_stack([left_account[both], right_account[both]]).astype(np.int64)
    realised = measure(left, right, pairs) | {"communities": world.communities}
    notes = list(counts.notes)
    for name in ("left", "right"):
        if lonely := realised[f"{name}_isolated"]:
            of_all = f"{lonely} of {realised[f'{name}_nodes']} {name} accounts"
            notes.append(f"{of_all} have no edge, because edges are too few; an edge list will not hold them")
    return Planted(left, right, pairs, tuple(notes), realised)


def _cover(edges: Edges, kind: NDArray[np.uint8], community: IntArray, rng: np.random.Generator) -> None:
    """Give every account a friend, since one without edges would vanish from an edge list.

    Moves ends of edges, in place, to persons who have none on a side, as long as that helps.

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
