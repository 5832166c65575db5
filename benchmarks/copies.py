"""Two copies of a real network that lose accounts and edges: who has a counterpart, and which, is known of all."""

from __future__ import annotations

import numpy as np

from kedge.types import IntArray, Network, Problem

__all__ = ["partial_copies"]


def _edges_of(network: Network) -> IntArray:
    """Each edge once, [m, 2]."""
    A = network.adjacency.tocoo()
    edges = np.column_stack([A.row, A.col])
    return edges[edges[:, 0] < edges[:, 1]]


def partial_copies(
    network: Network, kept: float, lost: float, known: float, seed: int, *, apart: bool = False
) -> tuple[Problem, IntArray]:
    """Each copy keeps a share of the accounts, loses a share of the edges among them, and is numbered at random.

    `known`: the share of the common accounts that are anchors; from 1 on, their number. `apart`: `kept` is the share of
    a copy's accounts that the other has too; all others are in one copy only, so that as many edges as possible stay.
    Returns the problem and all the partners to find.
    """
    rng = np.random.default_rng(seed)
    edges = _edges_of(network)
    sides, numbers = [], []
    place = rng.random(network.n) if apart else None
    for _ in range(2):
        if place is None:
            stays = rng.random(network.n) < kept
        else:  # each has one end of the places, and both the middle
            stays = place < 1 / (2 - kept)
            place = 1 - place
        left_over = edges[stays[edges].all(axis=1) & (rng.random(len(edges)) >= lost)]
        seen = np.unique(left_over)
        number = np.full(network.n, -1)
        number[seen] = rng.permutation(len(seen))
        sides.append(Network.from_edges(number[left_over], len(seen)))
        numbers.append(number)
    common = np.flatnonzero((numbers[0] >= 0) & (numbers[1] >= 0))
    pairs = rng.permutation(np.column_stack([number[common] for number in numbers]))
    anchors, partners = np.split(pairs, [int(known) if known >= 1 else int(known * len(pairs))])
    return Problem(sides[0], sides[1], anchors), partners
