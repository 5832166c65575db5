"""Scores with a known truth: a method's scores of two networks whose accounts pair up by construction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from kedge.linalg import SparseAlignment
from kedge.types import Alignment, Network, Problem


def networks(n_left: int, n_right: int) -> tuple[Network, Network]:
    """Two networks without edges: decisions depend on scores alone."""
    return Network.from_edges([], n_left), Network.from_edges([], n_right)


def planted(
    seed: int = 0,
    n: int = 1500,
    share: float = 1.0,
    anchors: int = 500,
    rivals: int = 6,
    strength: float | None = 2.5,
    scale: float = 1.0,
    shift: float = 0.0,
) -> tuple[Problem, Callable[[Problem], Alignment], np.ndarray]:
    """A problem, a method that scores it, and the other true pairs.

    A `share` of n left accounts has a counterpart; a true pair scores N(strength, 1), or nothing where strength is
    None, each of a few random others N(0, 1). The method scores no anchored account, as real ones do.
    """
    rng = np.random.default_rng(seed)
    partner = rng.permutation(n)
    has = rng.random(n) < share
    rows = np.concatenate([np.flatnonzero(has), np.repeat(np.arange(n), rivals)])
    columns = np.concatenate([partner[has], rng.integers(n, size=n * rivals)])
    values = np.concatenate([rng.normal(strength or 0, 1, int(has.sum())), rng.normal(0, 1, n * rivals)])
    # A random rival that happens to be the partner would add to its score.
    scored = np.full(has.sum(), strength is not None)
    kept = np.concatenate([scored, columns[has.sum() :] != partner[rows[has.sum() :]]])
    rows, columns, values = rows[kept], columns[kept], values[kept]
    _, first = np.unique(rows * n + columns, return_index=True)
    rows, columns, values = rows[first], columns[first], scale * values[first] + shift
    true = np.column_stack([np.flatnonzero(has), partner[has]])
    true = true[rng.permutation(len(true))]
    left, right = networks(n, n)

    def method(problem: Problem) -> Alignment:
        free_left, free_right = np.ones(n, bool), np.ones(n, bool)
        free_left[problem.anchors[:, 0]] = False
        free_right[problem.anchors[:, 1]] = False
        free = free_left[rows] & free_right[columns]
        entries = (values[free].astype(np.float32), (rows[free], columns[free]))
        return SparseAlignment(csr_array(entries, shape=(n, n)))

    return Problem(left, right, true[:anchors]), method, true[anchors:]
