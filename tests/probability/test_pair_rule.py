"""Reach against a dense, loop-by-loop oracle, and what it must not depend on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import communities, random_network, relabel

from kedge.probability import pair_rule as module
from kedge.probability.pair_rule import reach
from kedge.types import Problem


def problem(seed: int = 0, n: int = 40, anchors: int = 12) -> Problem:
    left, right = random_network(n, 0.12, seed), random_network(n + 5, 0.12, seed + 1)
    rng = np.random.default_rng(seed)
    return Problem(left, right, np.column_stack([rng.permutation(n)[:anchors], rng.permutation(n + 5)[:anchors]]))


def oracle(given: Any, pairs: Any, hops: Any) -> Any:
    """cos(X_k[u], Y_k[v]) with X_k = (D^-1/2 A D^-1/2)^k X_0, entry by entry; anchors are unit vectors."""
    walks = []
    for side, network in enumerate((given.left, given.right)):
        A = (network.adjacency.toarray() != 0).astype(float)
        d = A.sum(axis=1)
        N = np.zeros_like(A)
        for i in range(len(A)):
            for j in range(len(A)):
                if A[i, j]:
                    N[i, j] = 1 / np.sqrt(d[i] * d[j])
        X = np.zeros((len(A), len(given.anchors)))
        for place, anchor in enumerate(given.anchors):
            X[anchor[side], place] = 1
        walks.append([np.linalg.matrix_power(N, k) @ X for k in range(1, hops + 1)])
    found = np.zeros((len(pairs), hops))
    for row, (u, v) in enumerate(pairs):
        for k in range(hops):
            x, y = walks[0][k][u], walks[1][k][v]
            if x.any() and y.any():
                found[row, k] = x @ y / (np.linalg.norm(x) * np.linalg.norm(y))
    return found


def every_pair(given: Any) -> Any:
    return np.array([(u, v) for u in range(given.left.n) for v in range(given.right.n)])


def test_reach_agrees_with_the_dense_oracle() -> None:
    given = problem()
    pairs = every_pair(given)
    assert reach(given, pairs, 3)[:, :3] == pytest.approx(oracle(given, pairs, 3), abs=1e-5)


def test_the_share_of_rivals_is_that_of_the_accounts_that_come_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem()
    pairs = every_pair(given)
    cosine = oracle(given, pairs, 1)[:, 0].reshape(given.left.n, given.right.n)
    monkeypatch.setattr(module, "_OTHERS", 20_000)
    found = np.exp(reach(given, pairs, 1)) - 1 / 20_000
    from_left = (cosine[:, None, :] > cosine[:, :, None] + 1e-5).mean(axis=2)
    from_right = (cosine[None, :, :] > cosine[:, None, :] + 1e-5).mean(axis=1)
    assert found[:, 1].reshape(cosine.shape) == pytest.approx(from_left, abs=0.02)
    assert found[:, 2].reshape(cosine.shape) == pytest.approx(from_right, abs=0.02)


def test_a_sketch_of_many_anchors_stays_close_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = communities(300, 6, 0.2, 0.01, seed=1)
    given = Problem(whole, whole, np.column_stack([np.arange(150), np.arange(150)]))
    pairs = np.column_stack([np.arange(150, 300), np.random.default_rng(0).permutation(np.arange(150, 300))])
    exact = reach(given, pairs, 3)[:, :3]
    monkeypatch.setattr(module, "_WIDTH", 128)
    assert np.abs(reach(given, pairs, 3)[:, :3] - exact).mean() < 0.06


def test_relabelled_accounts_keep_their_reach() -> None:
    given = problem()
    order = np.random.default_rng(3).permutation(given.left.n)
    back = np.argsort(order)
    moved = Problem(
        relabel(given.left, order), given.right, np.column_stack([back[given.anchors[:, 0]], given.anchors[:, 1]])
    )
    pairs = every_pair(given)
    same = np.column_stack([back[pairs[:, 0]], pairs[:, 1]])
    assert reach(moved, same, 2)[:, :2] == pytest.approx(reach(given, pairs, 2)[:, :2], abs=1e-5)


def test_without_anchors_hops_or_pairs_there_is_nothing_to_say() -> None:
    given = problem(anchors=0)
    assert (reach(given, [[0, 0]], 2)[:, :2] == 0).all()
    assert reach(problem(), [[0, 0]], 0).shape == (1, 0)
    assert reach(problem(), [], 2).shape == (0, 6)
