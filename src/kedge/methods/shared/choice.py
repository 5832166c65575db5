"""One of several settings of a method's authors, chosen by validation anchors where the paper sets it for each pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from kedge.linalg import SparseAlignment, reciprocal_ranks
from kedge.types import Problem

_FEWEST = 50  # anchors; with fewer a fifth of them cannot separate two settings; unmeasured

Setting = TypeVar("Setting")


def choose_setting(
    problem: Problem, settings: Sequence[Setting], align: Callable[[Problem, Setting], SparseAlignment], seed: int
) -> Setting:
    """The setting with the best mean reciprocal rank on a fifth of the anchors; the first where they are few."""
    count = len(problem.anchors)
    if count < _FEWEST:
        return settings[0]
    trial, held = problem.hold_out(np.random.default_rng(seed).permutation(count)[: count // 5])
    found = [reciprocal_ranks(align(trial, one).scores, held).mean() for one in settings]
    return settings[int(np.argmax(found))]
