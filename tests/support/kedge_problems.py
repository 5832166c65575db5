"""Small problems for kedge's own method, and settings that make it quick."""

from __future__ import annotations

import numpy as np
from graphs import communities, relabel

from kedge.synthetic import subnetworks
from kedge.types import Problem

QUICK = ["method=kedge", "mgcn.steps=20", "mgcn.dimensions=16", "evidence.rounds=5"]


def planted(anchors: int, n: int = 120, seed: int = 0) -> Problem:
    """A network of communities and a relabelled copy."""
    made = communities(n, 6, 0.3, 0.01, seed)
    order = np.random.default_rng(seed).permutation(n)
    pairs = np.column_stack([order, np.arange(n)])
    return Problem(made, relabel(made, order), np.random.default_rng(seed + 1).permutation(pairs)[:anchors])


def few_common_edges(anchors: int) -> tuple[Problem, np.ndarray]:
    """Two networks that have a tenth of their edges in common, and the partners to find."""
    pair = subnetworks(communities(600, 20, 0.5, 0.004, 1), 0.7, 0.1, 1)
    drawn = np.random.default_rng(1).permutation(pair.anchors)
    return Problem(pair.left, pair.right, drawn[:anchors]), drawn[anchors:]
