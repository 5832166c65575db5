"""An alignment that ranks by one set of scores and believes by another."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.alignment import Alignment
from kedge.types import FloatArray, IntArray, Side

__all__ = ["GradedAlignment"]


@dataclass(frozen=True)
class GradedAlignment:
    """Ranks as `ranked`; probabilities are estimated from the scores of `believed`, which knows the same candidates."""

    ranked: Alignment
    believed: Alignment

    def score(self, pairs: IntArray) -> FloatArray:
        """The ranking score."""
        return self.ranked.score(pairs)

    def top(self, nodes: IntArray, k: int, side: Side = "left") -> tuple[IntArray, FloatArray]:
        """The best by ranking score."""
        return self.ranked.top(nodes, k, side)

    def count_above(self, pairs: IntArray, side: Side = "left") -> tuple[IntArray, IntArray]:
        """Counts by ranking score."""
        return self.ranked.count_above(pairs, side)

    def strength(self, pairs: IntArray) -> FloatArray:
        """The score that belief rests on."""
        return self.believed.score(pairs)
