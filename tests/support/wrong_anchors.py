"""Anchors of which some are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kedge.types import BoolArray, Problem


def with_wrong_anchors(problem: Problem, count: int, seed: int = 0) -> tuple[Problem, BoolArray]:
    """The problem with the right accounts of so many anchors permuted, and which anchors these are."""
    anchors = np.array(problem.anchors)
    rows = np.random.default_rng(seed).permutation(len(anchors))[:count]
    anchors[rows, 1] = anchors[np.roll(rows, 1), 1]
    return replace(problem, anchors=anchors), (anchors != problem.anchors).any(axis=1)
