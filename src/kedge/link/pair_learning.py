"""Teach the pair network from pairs that its vectors have not seen (unseen.py)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import PairingConfig
from kedge.link.pair_examples import Examples, draw_examples
from kedge.link.pair_network import PairNetwork, fit_pair_network
from kedge.link.unseen import Unseen
from kedge.types import IntArray, Side

__all__ = ["learn"]


def learn(folds: Iterable[Unseen], config: PairingConfig, rng: np.random.Generator, seed: int) -> PairNetwork:
    """The pair network of all folds but the first, which tells when to stop."""
    drawn = []
    for fold in folds:
        rivals = _rivals(fold, config.negatives)
        drawn.append(draw_examples(fold.left, fold.right, fold.pairs, config, rng, rivals))
    return fit_pair_network(_together(drawn[1:]), drawn[0], config, seed)


def _rivals(fold: Unseen, k: int) -> IntArray:
    """The k nearest of each account in the fold's pairs on the other side, [m, 2]."""
    alignment = VectorAlignment(fold.left, fold.right)
    found = []
    sides: tuple[Side, Side] = ("left", "right")
    for side, name in enumerate(sides):
        best, _ = alignment.top(fold.pairs[:, side], k, name)
        row, place = np.nonzero(best >= 0)
        mine, other = fold.pairs[row, side], best[row, place]
        found.append(np.column_stack([mine, other] if side == 0 else [other, mine]))
    return np.concatenate(found)


def _together(parts: list[Examples]) -> Examples:
    return Examples(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.matched for part in parts]),
    )
