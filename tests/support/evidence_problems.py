"""Planted problems for tests of evidence."""

from __future__ import annotations

import numpy as np

from kedge.config import EvidenceConfig
from kedge.evidence.model import Evidence
from kedge.types import Network, Problem

SMALL = EvidenceConfig(rounds=6, least_rounds=6, candidates=1000, keep=1000)


def planted(n: int = 40, anchors: int = 12, seed: int = 0, degree: float = 6.0) -> tuple[Problem, np.ndarray]:
    """Two noisy halves of one random network under a random relabelling, and the true pairs that are not anchors."""
    rng = np.random.default_rng(seed)
    upper = np.argwhere(np.triu(rng.random((n, n)) < degree / n, 1))
    turn = rng.permutation(n)
    left = upper[rng.random(len(upper)) < 0.9]
    right = turn[upper[rng.random(len(upper)) < 0.85]]
    pairs = np.column_stack([np.arange(n), turn])[rng.permutation(n)]
    problem = Problem(Network.from_edges(left, n), Network.from_edges(right, n), pairs[:anchors])
    return problem, pairs[anchors:]


def dense(evidence: Evidence) -> np.ndarray:
    L = np.full(evidence.log_odds.shape, -np.inf)
    rows = np.repeat(np.arange(L.shape[0]), np.diff(evidence.log_odds.indptr))
    L[rows, evidence.log_odds.indices] = evidence.log_odds.data
    return L


def assert_same(got: Evidence, want: Evidence) -> None:
    """To the last bit."""
    for name in ("log_odds", "support", "beliefs"):
        mine, other = getattr(got, name), getattr(want, name)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(mine, part), getattr(other, part), err_msg=f"{name}.{part}")
    np.testing.assert_array_equal(got.assigned, want.assigned)
    assert got.trace == want.trace
