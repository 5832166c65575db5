"""How many edges of each kind a planted pair gets, or why the wished-for overlap cannot be had."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from kedge.errors import KedgeError


@dataclass(frozen=True)
class Wish:
    """What the user asked for."""

    left_nodes: int
    right_nodes: int
    anchors: int
    left_edges: int
    right_edges: int
    overlap: float

    def __post_init__(self) -> None:
        smaller = min(self.left_nodes, self.right_nodes)
        if self.anchors > smaller:
            raise KedgeError(
                f"{self.anchors} anchors, but the smaller network has {smaller} accounts",
                remedy=f"give at most {smaller} anchors",
            )
        for side in ("left", "right"):
            nodes, edges = getattr(self, f"{side}_nodes"), getattr(self, f"{side}_edges")
            if edges > pairs(nodes):
                raise KedgeError(
                    f"{edges} {side} edges, but {nodes} accounts have only {pairs(nodes)} pairs",
                    remedy=f"give at most {pairs(nodes)} edges or more accounts",
                )

    @property
    def persons(self) -> int:
        """How many persons there are in all."""
        return self.left_nodes + self.right_nodes - self.anchors


@dataclass(frozen=True)
class Counts:
    """Edges among persons in both networks: on the left, on the right, on both; and what had to be moved."""

    left_among: int
    right_among: int
    both: int
    notes: tuple[str, ...]


def pairs(n: int) -> int:
    """The number of unordered pairs of n things."""
    return n * (n - 1) // 2


def _range(nodes: int, edges: int, anchors: int) -> tuple[int, int]:
    """The fewest and the most of a side's edges that can lie among the anchors.

    Persons of that side alone need edges too: half an edge each, where there are so many.
    """
    fewest = max(0, edges - (pairs(nodes) - pairs(anchors)))
    most = min(pairs(anchors), edges - ceil((nodes - anchors) / 2))
    return fewest, max(fewest, most)


def allocate(wish: Wish, left_natural: float, right_natural: float) -> Counts:
    """The edge counts nearest to the natural shares that give the stated overlap.

    With x left and y right edges among the anchors, w = overlap and P pairs of anchors: w x of them are on both
    sides, so w x <= y and x + y - w x <= P. `left_natural` and `right_natural` are the shares of a side's edges
    that lie among anchors before any adjustment.
    """
    x_least, x_most = _range(wish.left_nodes, wish.left_edges, wish.anchors)
    y_least, y_most = _range(wish.right_nodes, wish.right_edges, wish.anchors)
    capacity, w = pairs(wish.anchors), wish.overlap
    x_least = max(1, x_least)
    if x_most < 1:
        lowest, highest = 0.0, 0.0
    else:
        lowest = max(0.0, (x_least + y_least - capacity) / x_least)
        highest = min(1.0, y_most / x_least)
    if not lowest - 1e-9 <= w <= highest + 1e-9:
        # rounded inwards, so that the ends of the printed range are themselves accepted
        low, high = ceil(lowest * 1e4) / 1e4, floor(highest * 1e4) / 1e4
        raise KedgeError(
            f"overlap {w:g} cannot be had with these counts of accounts, anchors and edges",
            remedy=f"give an overlap from {low:g} to {high:g}" if low < high else f"give overlap {lowest:.9g}",
        )
    if x_most < 1:
        y = min(max(round(right_natural * wish.right_edges), y_least), y_most)
        return Counts(0, y, 0, ("no left edge joins two persons who are in both networks: overlap means nothing",))

    x_natural = min(max(round(left_natural * wish.left_edges), x_least), x_most)
    y_natural = min(max(round(right_natural * wish.right_edges), y_least), y_most)
    x = x_natural
    if w * x > y_most:
        x = max(x_least, floor(y_most / w))
    if x + y_least - w * x > capacity:
        x = max(x_least, floor((capacity - y_least) / (1 - w)))
    both = min(max(round(w * x), x + y_least - capacity, 0), x, y_most)
    y = min(max(y_natural, y_least, both), y_most, capacity - x + both)
    notes = []
    for side, chosen, natural in (("left", x, x_natural), ("right", y, y_natural)):
        if abs(chosen - natural) > 0.05 * max(natural, 1):
            notes.append(
                f"{chosen} {side} edges lie among persons in both networks, not about {natural} as chance would have "
                f"it: overlap {w:g} needs that"
            )
    if abs(both / x - w) > 0.02:
        notes.append(
            f"{x} left edges among persons in both networks are too few for overlap {w:g}: it is {both / x:.3f}"
        )
    return Counts(x, y, both, tuple(notes))
