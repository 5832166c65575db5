"""Eq. 11: the vectors of two networks in one space."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from graphs import communities

from kedge.config import resolve
from kedge.errors import KedgeError
from kedge.evaluation.metrics import ranking
from kedge.methods.mgcn import align_projected
from kedge.similarity.align import (
    RIDGES,
    choose_ridge,
    project,
)
from kedge.types import Network, Problem


@pytest.mark.parametrize("m", [3, 5, 40])  # fewer anchors than dimensions, as many, more
@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_eq_11_in_closed_form_is_where_descent_ends(m: int, ridge: float) -> None:
    rng = np.random.default_rng(m)
    X1, X2 = rng.normal(size=(50, 4)), rng.normal(size=(50, 5))
    anchors = np.stack([rng.permutation(50)[:m], rng.permutation(50)[:m]], axis=1)
    Gamma, b = oracle.project_by_steps(X1, X2, anchors, ridge)
    found = project(X1, X2, anchors, ridge)
    np.testing.assert_allclose(found.Gamma, Gamma, atol=1e-4)
    np.testing.assert_allclose(found.bias, b, atol=1e-4)


def test_a_rotated_and_shifted_copy_is_found_again() -> None:
    rng = np.random.default_rng(0)
    X2 = rng.normal(size=(100, 6))
    X1 = X2 @ np.linalg.qr(rng.normal(size=(6, 6)))[0] + 3
    anchors = np.stack([np.arange(30)] * 2, axis=1)
    np.testing.assert_allclose(project(X1, X2, anchors, 1e-6)(X2), X1, atol=1e-4)


def test_the_ridge_is_strong_where_vectors_are_noise_and_weak_where_they_are_exact() -> None:
    rng = np.random.default_rng(0)
    X2 = rng.normal(size=(200, 20))
    rotation = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    anchors = np.stack([np.arange(60)] * 2, axis=1)
    exact = choose_ridge(X2 @ rotation, X2, anchors, np.random.default_rng(1))
    noisy = choose_ridge(X2 @ rotation + rng.normal(size=(200, 20)), X2, anchors, np.random.default_rng(1))
    assert exact in RIDGES
    assert noisy >= 1
    assert choose_ridge(X2, X2, anchors[:3], rng) == 1.0


@pytest.mark.parametrize(("anchors", "ridge"), [([], 1.0), ([[0, 0]], 0.0)])
def test_bad_projections_are_refused(anchors: Any, ridge: float) -> None:
    with pytest.raises(KedgeError):
        project(np.eye(3), np.eye(3), anchors, ridge)


def test_mgcn_aligns_two_copies_far_above_chance() -> None:
    left = communities(150, 5, 0.35, 0.02, 0)
    order = np.random.default_rng(1).permutation(150)  # left account v is right account order[v]
    edges = np.argwhere(np.triu(left.adjacency.toarray(), 1))
    right = Network.from_edges(order[edges], 151)  # and one account without edges
    pairs = np.stack([np.arange(150), order], axis=1)
    problem = Problem(left, right, pairs[:75])
    settings = ["mgcn.dimensions=32", "mgcn.steps=120", "hypergraph.nearest=8"]
    found = align_projected(problem, resolve(assignments=settings), 0)
    assert ranking(found, pairs[75:])["hits10"] > 0.3  # chance: 10 / 151
    assert not found.right[150].any()
    again = align_projected(problem, resolve(assignments=settings), 0)
    assert np.array_equal(found.right, again.right)


def test_a_collapsed_fit_is_refused() -> None:
    network = communities(60, 2, 0.4, 0.02, 0)
    problem = Problem(network, network, np.stack([np.arange(20)] * 2, axis=1))
    with pytest.raises(KedgeError, match="collapsed"):
        align_projected(
            problem, resolve(assignments=["mgcn.learning_rate=0.000001", "mgcn.steps=2", "mgcn.unit=false"]), 0
        )
