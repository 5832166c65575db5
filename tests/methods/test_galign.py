"""GAlign's equations against loops over dense matrices, on networks of a few accounts."""

from __future__ import annotations

from itertools import product
from math import sqrt, tanh
from typing import Any

import numpy as np
import pytest
import torch
from graphs import random_network

from kedge.linalg.spmm import Rows
from kedge.methods import galign
from kedge.types import Problem

N, D = 8, 3
NETWORK = random_network(N, 0.4, 1)
PROBLEM = Problem(NETWORK, random_network(6, 0.5, 2), [(0, 3), (4, 1)])


def a_hat(A: np.ndarray) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2, entry by entry."""
    B = (A > 0) + np.eye(len(A))
    return np.array([[B[i, j] / sqrt(B[i].sum() * B[j].sum()) for j in range(len(A))] for i in range(len(A))])


def dense(rows: Rows) -> np.ndarray:
    n = len(rows.offsets) - 1
    found = np.zeros((n, n))
    for i in range(n):
        for place in range(int(rows.offsets[i]), int(rows.offsets[i + 1])):
            found[i, int(rows.indices[place])] += float(rows.values[place])
    return found


@pytest.fixture
def views() -> Any:
    attributes, _ = galign._attributes(PROBLEM)
    return galign._views(NETWORK, attributes[0], np.random.default_rng(0))


def test_an_anchors_attribute_is_shared_and_others_have_their_degree() -> None:
    (left, right), count = galign._attributes(PROBLEM)
    assert [left[0], right[3], left[4], right[1]] == [0, 0, 1, 1]
    degrees = NETWORK.adjacency.toarray().astype(bool).sum(axis=1)
    for account in set(range(N)) - {0, 4}:
        assert left[account] == 2 + int(np.log2(degrees[account] + 1))
    assert count == max(left.max(), right.max()) + 1
    hot = galign._one_hot(left, 2)
    assert not hot[0].any()
    assert hot[1].argmax() == left[1] - 2


def test_layers_are_convolutions_of_the_attributes(views: Any) -> None:
    model = galign._Convolution(12, D, torch.Generator().manual_seed(0))
    first, second = (H.detach().numpy() for H in model(views[0]))
    A, F = a_hat(NETWORK.adjacency.toarray()), np.eye(12)[views[0].attribute.numpy()]
    W1, W2 = (W.detach().numpy().astype(float) for W in model.W)
    H1, H2 = np.zeros((N, D)), np.zeros((N, D))
    for i, c in product(range(N), range(D)):
        H1[i, c] = tanh(sum(A[i, k] * F[k, f] * W1[f, c] for k in range(N) for f in range(12)))
    for i, c in product(range(N), range(D)):
        H2[i, c] = tanh(sum(A[i, k] * H1[k, f] * W2[f, c] for k in range(N) for f in range(D)))
    np.testing.assert_allclose(first, H1, atol=1e-5)
    np.testing.assert_allclose(second, H2, atol=1e-5)


def test_copies_have_edges_removed_added_and_attributes_exchanged(views: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A = NETWORK.adjacency.toarray() > 0
    own, fewer, more, exchanged = views
    np.testing.assert_allclose(dense(own.A.forward), a_hat(A), atol=1e-6)
    edges = [int((dense(view.A.forward) > 0).sum() - N) // 2 for view in (own, fewer, more)]
    assert edges[1] == edges[0] - 1
    assert edges[0] <= edges[2] <= edges[0] + 1  # a drawn edge may be there already
    assert int((exchanged.attribute != own.attribute).sum()) <= 1
    monkeypatch.setattr(galign, "_NOISE", 0.5)
    again = galign._views(NETWORK, own.attribute.numpy(), np.random.default_rng(1))
    kept = dense(again[1].A.forward) > 0
    assert (kept <= (A | np.eye(N, dtype=bool))).all()
    assert (kept.sum() - N) // 2 == edges[0] - edges[0] // 2
    assert ((dense(again[2].A.forward) > 0) >= A).all()
    assert (again[3].attribute != own.attribute).any()


def test_the_loss_is_that_of_the_dense_matrices(views: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(galign, "_ALIKE", 0.1)  # so that entries fall on both sides
    model = galign._Convolution(12, D, torch.Generator().manual_seed(0))
    own, copy = views[0], views[2]
    H, other = (model(view)[-1].detach().numpy().astype(float) for view in (own, copy))

    def misses(H: np.ndarray, A: np.ndarray) -> float:
        X = [row / np.linalg.norm(row) for row in H]
        P = np.array([[x @ y for y in X] for x in X])
        P = np.array([row / np.linalg.norm(row) for row in P])
        return sum((P[i, j] - A[i, j]) ** 2 for i, j in product(range(N), repeat=2)) / N

    apart = [(a - b) ** 2 for a, b in zip(H.ravel(), other.ravel(), strict=True) if abs(a - b) < 0.1]
    assert 0 < len(apart) <= H.size
    consistent = 0.8 * misses(H, dense(own.A.forward)) + 0.2 * misses(other, dense(copy.A.forward))
    expected = 0.8 * consistent + 0.2 * sum(apart) / 3
    assert galign._loss(model, own, copy).item() == pytest.approx(expected, rel=1e-4)


def test_stable_pairs_agree_in_all_layers_and_are_near() -> None:
    rng = np.random.default_rng(0)

    def units(n: int) -> np.ndarray:
        X = rng.normal(size=(n, 2)).astype(np.float32)
        return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))

    left, right = (units(40), units(40)), (units(3), units(3))
    expected = []
    for i in range(40):
        cosines = [[float(X[i] @ y) for y in Y] for X, Y in zip(left, right, strict=True)]
        best = [row.index(max(row)) for row in cosines]
        if best[0] == best[1] and min(max(row) for row in cosines) >= 0.94:
            expected.append((i, best[0]))
    accounts, partners = galign.stable_pairs(left, right)
    assert 0 < len(expected) < 40
    assert list(zip(accounts.tolist(), partners.tolist(), strict=True)) == expected
