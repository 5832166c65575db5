"""Edges against noise accounts, as word2vec has them: the table that noise is drawn from, and one compiled step."""

from __future__ import annotations

import numpy as np
from numba import njit

from kedge.types import FloatArray, IntArray

RATE = 0.025  # word2vec's learning rate, falling to a ten-thousandth of it
_PLACES = 1 << 18


def noise_table(degrees: FloatArray | IntArray, rng: np.random.Generator) -> IntArray:
    """Accounts by degree^0.75, to draw from; account 0 alone where no account has an edge."""
    share = degrees**0.75
    if not share.any():
        return np.zeros(_PLACES, np.int64)
    return rng.choice(len(degrees), _PLACES, p=share / share.sum())


@njit(cache=True, fastmath=True)
def pull(x, c, step, label, lr):  # type: ignore[no-untyped-def]
    """One step of log σ(±x · c): c moves at once, x's part is added to `step`."""
    dot = np.float32(0)
    for i in range(len(x)):
        dot += x[i] * c[i]
    slope = (label - np.float32(1) / (np.float32(1) + np.exp(-dot))) * lr
    for i in range(len(x)):
        step[i] += slope * c[i]
        c[i] += slope * x[i]
