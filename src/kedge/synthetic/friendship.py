"""The friendships of all persons: heavy-tailed, in circles within communities within one world.

A layered Chung-Lu graph. Persons stand in a row; the row is cut into communities of power-law sizes and each
community into small circles. Person i has a weight theta_i from a power law, cut off, and spends it on the
circle, the community and the world. A block holds only so many friends: what a circle cannot hold goes to the
community, what that cannot hold goes to the world, so that a popular person in a small block stays popular.
Within a block the ends of an edge are drawn in proportion to what persons spend there, hence
P(i ~ j) = 1 - exp(-w_i w_j / sum of w). Small dense blocks make the triangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kedge.synthetic.pair import keys
from kedge.types import FloatArray, IntArray

# The share of a block that one person may know: a circle becomes nearly a clique, a community stays looser.
CIRCLE_FILL = 0.9
COMMUNITY_FILL = 0.7
# How much of one's popularity comes from the surroundings, next to one's own part of 1.
COMMUNITY_TOGETHER = 1.0
CIRCLE_TOGETHER = 0.5


@dataclass(frozen=True)
class Layer:
    """One cut of the row of persons: `start` [b + 1] block borders, `weight` [n] what persons spend there."""

    start: IntArray
    weight: FloatArray


@dataclass(frozen=True)
class Society:
    """Layers from the smallest blocks to the one world, and the community and circle of each person."""

    layers: tuple[Layer, ...]
    community: IntArray
    circle: IntArray

    @property
    def communities(self) -> int:
        """How many communities there are."""
        return int(self.community[-1]) + 1


def power_law(rng: np.random.Generator, n: int, exponent: float, least: float, most: float) -> FloatArray:
    """n draws of density ~ x^-exponent on [least, most], by inversion."""
    u = rng.random(n)
    if abs(exponent - 1) < 1e-9:
        return np.asarray(least * (most / least) ** u)
    power = 1 - exponent
    return np.asarray((least**power + u * (most**power - least**power)) ** (1 / power))


def _cut(rng: np.random.Generator, n: int, blocks: int, exponent: float, spread: float) -> IntArray:
    """Borders of at most `blocks` blocks of 0..n with power-law sizes, the largest up to `spread` × the smallest."""
    sizes = power_law(rng, blocks, exponent, 1.0, spread)
    borders = np.rint(np.cumsum(sizes) * (n / sizes.sum())).astype(np.int64)
    return np.unique(np.concatenate([[0], borders, [n]]))


def society(
    rng: np.random.Generator,
    persons: int,
    mean_degree: float,
    *,
    exponent: float,
    cutoff: float,
    communities: int,
    mixing: float,
    circle_share: float,
) -> Society:
    """Layers whose weights sum to persons × mean_degree.

    `cutoff`: the largest weight over the mean one. `mixing`: the share of friendships spent on the world.
    """
    coarse = _cut(rng, persons, communities, exponent=2.0, spread=50.0)
    circle_size = 4 + mean_degree / 2
    fine = _cut(rng, persons, max(1, round(persons / circle_size)), exponent=2.0, spread=10.0)
    fine = np.unique(np.concatenate([coarse, fine]))
    world = np.array([0, persons])
    theta = power_law(rng, persons, exponent, 1.0, _largest(exponent, cutoff))
    theta *= mean_degree / theta.mean()
    theta = _seated(rng, theta, coarse, fine)

    layers: list[Layer] = []
    spent = np.zeros(persons)
    steps = ((fine, circle_share, CIRCLE_FILL), (coarse, 1 - mixing, COMMUNITY_FILL), (world, 1.0, np.inf))
    for start, share, fill in steps:
        sizes = np.diff(start)
        room = np.repeat(fill * (sizes - 1.0) if np.isfinite(fill) else np.full(len(sizes), np.inf), sizes)
        weight = np.minimum(share * theta - spent, room).clip(min=0)
        spent += weight
        layers.append(Layer(start, weight))
    return Society(tuple(layers), _block(coarse), _block(fine))


def _block(start: IntArray) -> IntArray:
    """The block of each person, ascending."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))


def _seated(rng: np.random.Generator, theta: FloatArray, coarse: IntArray, fine: IntArray) -> FloatArray:
    """The same weights, dealt so that popular persons sit together and in the larger communities.

    Popularity is a matter of one's surroundings, too: without that the friends of a popular person would hardly
    know each other, and the network as a whole would have few triangles.
    """
    score = rng.standard_normal(len(theta))
    for start, togetherness in ((coarse, COMMUNITY_TOGETHER), (fine, CIRCLE_TOGETHER)):
        sizes = np.diff(start)
        block = np.log(sizes) + rng.standard_normal(len(sizes)) if start is coarse else rng.standard_normal(len(sizes))
        member = np.repeat(block, sizes)
        score += togetherness * (member - member.mean()) / max(float(member.std()), 1e-9)
    dealt = np.empty_like(theta)
    dealt[np.argsort(score, kind="stable")] = np.sort(theta)
    return dealt


def _largest(exponent: float, cutoff: float) -> float:
    """The largest over the smallest weight such that the largest is `cutoff` × the mean, by fixed point."""
    largest = cutoff
    for _ in range(60):
        largest = cutoff * _power_law_mean(exponent, largest)
    return float(largest)


def _power_law_mean(exponent: float, largest: float) -> float:
    """The mean of the density ~ x^-exponent on [1, largest]."""

    def integral(power: float) -> float:
        return float(np.log(largest)) if abs(power + 1) < 1e-9 else float((largest ** (power + 1) - 1) / (power + 1))

    return integral(1 - exponent) / integral(-exponent) if largest > 1 else 1.0


def draw(layer: Layer, edges: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """About `edges` random edges of one layer as keys (smaller person, larger person); loops dropped, repeats not."""
    cumulative = np.concatenate([[0.0], np.cumsum(layer.weight)])
    if edges <= 0 or cumulative[-1] <= 0:
        return np.empty(0, np.int64)
    # Ascending draws walk through memory in order, which makes the two searches several times faster.
    place = rng.random(edges)
    place.sort()
    place *= cumulative[-1]
    last = len(layer.weight) - 1
    first = np.minimum(np.searchsorted(cumulative, place, side="right") - 1, last).astype(np.int32)
    block = _block(layer.start)[first]
    low, high = cumulative[layer.start[:-1]], cumulative[layer.start[1:]]
    place = rng.random(edges)
    place *= (high - low)[block]
    place += low[block]
    second = np.minimum(np.searchsorted(cumulative, place, side="right") - 1, last).astype(np.int32)
    # Rounding may carry a draw over its block's border; the border belongs to the block.
    np.clip(second, layer.start[block], layer.start[block + 1] - 1, out=second, casting="unsafe")
    apart = first != second
    first, second = first[apart], second[apart]
    return keys(np.minimum(first, second), np.maximum(first, second))


def distinct(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different keys of all parts, ascending."""
    merged = np.concatenate(parts)
    merged.sort()
    return merged[np.concatenate([[True], merged[1:] != merged[:-1]])] if len(merged) else merged
