"""NeXtAlign's equations against loops, on networks of a few accounts."""

from __future__ import annotations

from itertools import product
from math import exp, log1p
from typing import Any

import numpy as np
import pytest
import torch
from graphs import random_network

from kedge.methods import nextalign
from kedge.methods.shared.embedded import merge
from kedge.methods.shared.spread import walk_from
from kedge.types import Network, Problem

PROBLEM = Problem(random_network(9, 0.4, 1), random_network(7, 0.5, 2), [(0, 3), (4, 1), (2, 2)])
MERGED = merge(PROBLEM)


def unit(row: Any) -> np.ndarray:
    return np.asarray(row) / max(sum(abs(value) for value in row), 1e-12)


def edges() -> list[np.ndarray]:
    """Both adjacency matrices between merged places, edge by edge."""
    found = []
    for network, place in ((PROBLEM.left, MERGED.left), (PROBLEM.right, MERGED.right)):
        A = np.zeros((MERGED.n, MERGED.n))
        for i, j in np.argwhere(network.adjacency.toarray() > 0):
            A[place[i], place[j]] = 1
        found.append(A)
    return found


@pytest.fixture
def world() -> Any:
    return nextalign._world(PROBLEM, MERGED)


@pytest.fixture
def model(world: Any) -> Any:
    made = nextalign._Model(world, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for bias in (made.b, made.c, made.beta):
            bias.copy_(torch.from_numpy(np.random.default_rng(0).normal(size=len(bias)).astype(np.float32)) / 10)
    return made


def test_the_world_has_both_networks_and_the_positions(world: Any) -> None:
    A1, A2 = edges()
    E = np.zeros((MERGED.n, 3))
    for a, (u, _) in enumerate(PROBLEM.anchors):
        E[MERGED.left[u], a] = 1
    S = A1 + A2 + np.eye(MERGED.n)
    for u in range(MERGED.n):
        around = [sum(S[u, k] * E[k, a] for k in range(MERGED.n)) * 0.5**0.5 for a in range(3)]
        np.testing.assert_allclose(world.P[u].numpy(), unit(around), atol=1e-6)
    for side, (network, place) in enumerate(((PROBLEM.left, MERGED.left), (PROBLEM.right, MERGED.right))):
        R = walk_from(network, PROBLEM.anchors[:, side]).numpy()
        for account in set(range(network.n)) - set(PROBLEM.anchors[:, side].tolist()):
            np.testing.assert_allclose(world.R[place[account]].numpy(), R[account])
    np.testing.assert_array_equal(world.R[world.anchors].numpy(), np.eye(3))


def test_vectors_are_those_of_the_loops(world: Any, model: Any) -> None:
    A1, A2 = edges()
    W0, W1, W2 = (W.detach().numpy().astype(float) for W in model.W)
    C, t = model.C.detach().numpy(), model.t.detach().numpy()[:, 0]
    b, c = model.b.detach().numpy(), model.c.detach().numpy()
    attention = []
    for a in world.anchors.tolist():
        h = W0[a] + sum(A1[a, k] * W1[k] + A2[a, k] * W2[k] for k in range(MERGED.n))
        attention.append(exp(float(t @ unit(0.5**0.5 * h + b))))
    share = [value / sum(attention) for value in attention]
    X = model(world).detach().numpy()
    for u in range(MERGED.n):
        z = [float(world.P[u, a]) * share[a] + float(world.R[u, a]) for a in range(3)]
        np.testing.assert_allclose(X[u], unit(sum(z[a] * C[a] for a in range(3)) + c), atol=1e-6)


def slow_score(model: Any, x: np.ndarray, y: np.ndarray, mirrored: bool) -> float:
    w, half = model.mix.detach().numpy()[:, 0], len(x) // 2
    parts = [
        sum(abs(p - q) for p, q in zip(a, b, strict=True)) for a in (x[:half], x[half:]) for b in (y[:half], y[half:])
    ]
    return model.beta.item() - float(sum(w * (parts[::-1] if mirrored else parts)))


def test_scores_and_the_loss_are_sums_over_pairs(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nextalign, "_BATCH", 5)
    rng = np.random.default_rng(4)
    X, Y = (torch.from_numpy(rng.normal(size=(n, 128)).astype(np.float32)) / 64 for n in (9, 7))
    batch = nextalign.draw_batch(PROBLEM, X, Y, nextalign.Draw(rng, torch.Generator().manual_seed(1)))
    losses = 0.0
    for side, (own, other) in enumerate(((X, Y), (Y, X))):
        for kind in ("contexts", "anchors"):
            terms = []
            for place, at in enumerate(batch.anchored[side].tolist()):
                x = own[at].numpy()
                near = own[batch.contexts[side][place]].numpy() if kind == "contexts" else x
                far = own[batch.same[side][place]] if kind == "contexts" else other[batch.across[side][place]]
                terms.append(log1p(exp(-slow_score(model, x, near, side == 1))))
                terms += [log1p(exp(slow_score(model, x, y.numpy(), side == 1))) for y in far]
            losses += sum(terms) / len(terms)
    assert nextalign._loss(model, X, Y, batch).item() == pytest.approx(losses, rel=1e-4)
    found = nextalign._scores(model, X, Y).detach().numpy()
    for i, j in product(range(9), range(7)):
        expected = slow_score(model, X[i].numpy(), Y[j].numpy(), False) - model.beta.item()
        assert found[i, j] == pytest.approx(expected, rel=1e-4)


def test_contexts_are_up_to_two_steps_away_and_others_are_never_the_anchors_own() -> None:
    rng = np.random.default_rng(5)
    X, Y = (torch.from_numpy(rng.normal(size=(n, 128)).astype(np.float32)) for n in (9, 7))
    batch = nextalign.draw_batch(PROBLEM, X, Y, nextalign.Draw(rng, torch.Generator().manual_seed(1)))
    for side, network in enumerate((PROBLEM.left, PROBLEM.right)):
        A = (network.adjacency.toarray() > 0).astype(int)
        near = (np.eye(network.n) + A + A @ A) > 0
        own, contexts = batch.anchored[side].numpy(), batch.contexts[side].numpy()
        assert near[own, contexts].all()
        one_step = (A[own, contexts] > 0) & (contexts != own)
        assert 0.3 < one_step.mean() < 0.9
        assert not (batch.same[side].numpy() == own[:, None]).any()
        partner = batch.anchored[1 - side].numpy()
        assert not (batch.across[side].numpy() == partner[:, None]).any()


def test_others_are_drawn_by_their_weight() -> None:
    weights = torch.tensor([[1.0, 3.0, 50.0, 0.0]]).repeat(400, 1)
    drawn = nextalign._others(weights, torch.full((400,), 2), torch.Generator().manual_seed(0))
    shares = np.bincount(drawn.numpy().ravel(), minlength=4) / drawn.numel()
    np.testing.assert_allclose(shares, [0.25, 0.75, 0, 0], atol=0.03)


def test_a_walk_from_an_account_without_edges_stays_there() -> None:
    lonely = Network.from_edges([], 4)
    np.testing.assert_array_equal(nextalign._wander(lonely, np.array([1, 3]), np.random.default_rng(0)), [1, 3])
