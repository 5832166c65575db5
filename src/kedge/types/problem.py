"""Two networks with observed anchors, and the held-out pairs apart from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from kedge.errors import KedgeError
from kedge.types.arrays import BoolArray, IntArray, as_pairs, is_among, read_only
from kedge.types.networks import Hypergraph, Network


@dataclass(frozen=True)
class Problem:
    """Two networks and the OBSERVED anchors, int64 [m, 2] of (left account, right account).

    A held-out pair is not reachable from here, so no method can learn from one: only `evaluate` is handed
    `Split.test`. `rejected` are pairs that a reviewer has ruled out; `hypergraphs` the user's own hyperedges of the
    left and of the right network, None where they are to be drawn from its edges.
    """

    left: Network
    right: Network
    anchors: IntArray
    rejected: IntArray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    hypergraphs: tuple[Hypergraph | None, Hypergraph | None] = (None, None)

    def __post_init__(self) -> None:
        for own, network in zip(self.hypergraphs, (self.left, self.right), strict=True):
            if own is not None and own.n != network.n:
                raise ValueError(f"a hypergraph of {own.n} accounts for a network of {network.n}")
        for name in ("anchors", "rejected"):
            pairs = as_pairs(getattr(self, name))
            if len(pairs) and (
                pairs.min() < 0 or pairs[:, 0].max() >= self.left.n or pairs[:, 1].max() >= self.right.n
            ):
                raise ValueError(f"{name} name accounts outside the networks")
            object.__setattr__(self, name, read_only(pairs))
        for side, network in enumerate((self.left, self.right)):
            if len(np.unique(self.anchors[:, side])) != len(self.anchors):
                account = int(np.bincount(self.anchors[:, side]).argmax())
                raise KedgeError(
                    f"account {network.name(account)!r} stands in more than one anchor",
                    remedy="keep one partner for each account",
                )

    def hold_out(self, rows: IntArray) -> tuple[Problem, IntArray]:
        """The problem without the anchors in these rows, and these anchors: validation anchors."""
        return replace(self, anchors=np.delete(self.anchors, rows, axis=0)), self.anchors[rows]

    def folds(self, count: int, seed: int, most: int | None = None) -> Iterator[tuple[Problem, IntArray]]:
        """`hold_out` of `count` disjoint parts of the anchors, or of `most` of them; drawn at random."""
        for fold in np.array_split(np.random.default_rng(seed).permutation(len(self.anchors))[:most], count):
            yield self.hold_out(fold)

    def is_rejected(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs [m, 2] a reviewer has ruled out."""
        return is_among(pairs, self.rejected, self.right.n)


@dataclass(frozen=True)
class Split:
    """A problem and the held-out pairs that only `evaluate` may see; -1 is an account in neither network."""

    problem: Problem
    test: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "test", read_only(as_pairs(self.test)))
