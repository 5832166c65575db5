"""Which friendship shows on which network: everyone's and every community's habits, plus chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kedge.synthetic.counts import Counts, Wish
from kedge.synthetic.friendship import Layer, Society, distinct, draw
from kedge.synthetic.pair import keys
from kedge.types import FloatArray, IntArray

LEFT, RIGHT, BOTH = 1, 2, 3  # bits: a person or an edge is on the left, on the right, on both
_ROUNDS = 8

# How much of a leaning to one network comes from whom, next to a friendship's own chance of 1. Habits of whole
# blocks keep triangles together; habits of persons and blocks make degrees on the two sides differ.
PERSON_LEANS = 0.3
COMMUNITY_LEANS = 0.5
CIRCLE_LEANS = 0.5
COMMUNITY_JOINS = 0.5


@dataclass
class Edges:
    """Each friendship that shows somewhere, once: persons `first` < `second`, and `venue` LEFT, RIGHT or BOTH."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    venue: NDArray[np.uint8]


@dataclass(frozen=True)
class Pool:
    """Friendships as keys, by where they could show: `left` and `right` only there, `both` on either."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    both: NDArray[np.int64]


def lowest(values: FloatArray, k: int) -> NDArray[np.bool_]:
    """A mask of the k lowest values; of equal ones the earlier. Does not depend on how a machine sorts."""
    if k <= 0:
        return np.zeros(len(values), bool)
    if k >= len(values):
        return np.ones(len(values), bool)
    border = np.partition(values, k - 1)[k - 1]
    mask = np.asarray(values < border)
    mask[np.flatnonzero(values == border)[: k - int(mask.sum())]] = True
    return mask


def kinds(wish: Wish, world: Society, rng: np.random.Generator) -> NDArray[np.uint8]:
    """LEFT, RIGHT or BOTH for each person, in exact numbers; a community leans to one network or the other."""
    # Few shared persons would hardly meet if they were strewn over all communities: the fewer, the closer together.
    own_will = min(1 / COMMUNITY_JOINS, 12 * (wish.anchors / wish.persons) ** 2)
    leaning = own_will * rng.standard_normal(wish.persons)
    leaning += rng.standard_normal(world.communities)[world.community]
    order = np.argsort(leaning, kind="stable")
    kind = np.full(wish.persons, BOTH, np.uint8)
    kind[order[: wish.left_nodes - wish.anchors]] = LEFT
    kind[order[wish.left_nodes :]] = RIGHT
    return kind


def _where(key: NDArray[np.int64], kind: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Where a friendship could show: 0 between a left-only and a right-only person."""
    return np.asarray(kind[key >> 32] & kind[key & 0xFFFFFFFF])


def _draws(layers: tuple[Layer, ...], edges: float, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """About `edges` draws, dealt to the layers by what persons spend there."""
    spent = np.array([layer.weight.sum() for layer in layers])
    return [draw(layer, round(edges * w), rng) for layer, w in zip(layers, spent / max(spent.sum(), 1e-9), strict=True)]


def natural_shares(
    wish: Wish, world: Society, kind: NDArray[np.uint8], rng: np.random.Generator
) -> tuple[float, float, IntArray]:
    """The share of the left's and of the right's friendships among persons in both; and the counts behind it."""
    some = min(200_000, 1000 + 10 * (wish.left_edges + wish.right_edges))
    drawn = np.concatenate(_draws(world.layers, some, rng))
    found = np.bincount(_where(drawn, kind), minlength=4).astype(np.int64)
    return (
        float(found[BOTH] / max(1, found[BOTH] + found[LEFT])),
        float(found[BOTH] / max(1, found[BOTH] + found[RIGHT])),
        found,
    )


def pool(
    wish: Wish, counts: Counts, world: Society, kind: NDArray[np.uint8], found: IntArray, rng: np.random.Generator
) -> Pool:
    """At least as many friendships of each kind as the networks will show.

    The weights set who knows whom; the number of draws follows the scarcest kind. A kind that is short gets draws
    among its own persons, and where even that does not help (a dense or a tiny pair) pairs drawn evenly.
    """
    need = {
        LEFT: wish.left_edges - counts.left_among,
        RIGHT: wish.right_edges - counts.right_among,
        BOTH: counts.left_among + counts.right_among - counts.both,
    }
    useful = max(1, int(found.sum() - found[0]))
    draws = max(need[place] * found.sum() / max(1, found[place]) for place in need)
    # A kind that is hardly ever found must not blow up the pool: it gets draws of its own below.
    draws = min(draws, 1.5 * sum(need.values()) * found.sum() / useful)
    known = distinct(*_draws(world.layers, 1.05 * draws, rng))
    members = {place: (kind & place) == place for place in need}
    for _ in range(_ROUNDS):
        have = np.bincount(_where(known, kind), minlength=4)
        short = {place: need[place] - int(have[place]) for place in need if need[place] > have[place]}
        if not short:
            break
        before = int(have[1:].sum())
        for place, missing in short.items():
            own = found[place] / max(1, found[place] + found[BOTH]) if place != BOTH else 1.0
            layers = tuple(Layer(layer.start, np.where(members[place], layer.weight, 0.0)) for layer in world.layers)
            known = distinct(known, *_draws(layers, 1.2 * missing / max(own, 0.1) + 20, rng))
        if np.count_nonzero(_where(known, kind)) - before < 0.2 * sum(short.values()):
            break  # blocks are full: further draws mostly repeat what is known
    where = _where(known, kind)
    parts = {place: _filled(known[where == place], need[place], place, kind, rng) for place in need}
    return Pool(parts[LEFT], parts[RIGHT], parts[BOTH])


def _filled(
    known: NDArray[np.int64], need: int, place: int, kind: NDArray[np.uint8], rng: np.random.Generator
) -> NDArray[np.int64]:
    """`known` with further pairs of one kind, drawn evenly, until there are `need`."""
    if len(known) >= need:
        return known
    shared = np.flatnonzero(kind == BOTH)
    own = shared if place == BOTH else np.flatnonzero(kind == place)
    others = shared if place == BOTH else np.concatenate([own, shared])
    if need > len(own) * len(others) // 20:
        # So many of the few pairs are wanted that listing all is cheaper than hitting the last by chance.
        a, b = np.repeat(own, len(others)), np.tile(others, len(own))
        every = distinct(keys(np.minimum(a, b), np.maximum(a, b))[a != b])
        free = np.setdiff1d(every, known, assume_unique=True)
        return distinct(known, free[rng.permutation(len(free))[: need - len(known)]])
    while len(known) < need:
        some = 2 * (need - len(known)) + 16
        a, b = rng.choice(own, some), rng.choice(others, some)
        fresh = distinct(keys(np.minimum(a, b), np.maximum(a, b))[a != b])
        fresh = np.setdiff1d(fresh, known, assume_unique=True)
        known = distinct(known, fresh[rng.permutation(len(fresh))[: need - len(known)]])
    return known


def assign(wish: Wish, counts: Counts, pooled: Pool, world: Society, rng: np.random.Generator) -> Edges:
    """The friendships that show, each with its venue, in exact numbers.

    A friendship leans to the left or the right as its two persons and their community do, plus noise of its
    own. Among persons in both, the ones that lean most show on that side only and the middle shows on both.
    """
    person = np.float32(PERSON_LEANS) * rng.standard_normal(wish.persons, np.float32)
    habits = [
        (home, np.float32(leans) * rng.standard_normal(int(home[-1]) + 1, np.float32))
        for home, leans in ((world.community, COMMUNITY_LEANS), (world.circle, CIRCLE_LEANS))
    ]

    def leaning(key: NDArray[np.int64]) -> NDArray[np.float32]:
        a, b = key >> 32, key & 0xFFFFFFFF
        lean = rng.standard_normal(len(key), np.float32)
        lean += person[a] + person[b]
        for home, habit in habits:
            lean += np.where(home[a] == home[b], habit[home[a]], np.float32(0))
        return lean

    left = pooled.left[lowest(leaning(pooled.left), wish.left_edges - counts.left_among)]
    right = pooled.right[lowest(-leaning(pooled.right), wish.right_edges - counts.right_among)]
    union = counts.left_among + counts.right_among - counts.both
    among = pooled.both
    if len(among) > union:
        among = among[lowest(rng.random(len(among)), union)]
    lean = leaning(among)
    venue = np.full(len(among), BOTH, np.uint8)
    venue[lowest(lean, counts.left_among - counts.both)] = LEFT
    venue[~lowest(lean, counts.left_among)] = RIGHT  # the complement, so that ties cannot fall to both
    key = np.concatenate([left, right, among])
    venues = np.concatenate([np.full(len(left), LEFT, np.uint8), np.full(len(right), RIGHT, np.uint8), venue])
    return Edges((key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32), venues)
