"""A planted social pair: one society, two networks that each show a part of it."""

from __future__ import annotations

import numpy as np

from kedge.synth.counts import Wish, allocate
from kedge.synth.cover import cover
from kedge.synth.friendship import society
from kedge.synth.measure import measure
from kedge.synth.pair import Planted, checked_count, checked_number, checked_seed, shuffled_network
from kedge.synth.venues import BOTH, LEFT, RIGHT, assign, kinds, natural_shares, pool
from kedge.types import IntArray, KedgeError


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
    cover(edges, kind, world.community, rng)

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
