"""Eq. 10: pooled against literal, both against the dense oracle; the noise distribution; the trivial loss."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
import torch
from graphs import random_network
from torch.nn.functional import softplus

from kedge.mgcn.holdout import list_edges
from kedge.mgcn.objective import Edges, edge_loss, noise_weights, pooled_loss, sampled_loss, trivial_loss


@pytest.fixture(scope="module")
def case():
    network = random_network(14, 0.3, 2)
    X = np.random.default_rng(0).normal(size=(14, 5)) / 2
    return network, network.adjacency.toarray(), X, torch.from_numpy(X.astype(np.float32))


def every_account(network):
    """A pool in which each account stands in proportion to its noise weight, to one in a thousand or so."""
    share = (noise_weights(network) / noise_weights(network).sum()).numpy()
    return torch.from_numpy(np.repeat(np.arange(network.n), np.round(share * 20000).astype(int)))


def test_noise_is_degree_to_three_quarters(case):
    network, A, _, _ = case
    weights = noise_weights(network).numpy()
    np.testing.assert_allclose(weights / weights.sum(), oracle.noise(A))


@pytest.mark.parametrize("weighing", ["paper", "mean"])
@pytest.mark.parametrize("bias", [0.0, -0.7])
@pytest.mark.parametrize("M", [1, 5])
def test_the_pooled_form_over_the_whole_distribution_is_eq_10(case, weighing, bias, M):
    network, A, X, x = case
    found = pooled_loss(x, torch.tensor(bias), Edges.of(network), every_account(network), weighing, M)
    assert found.item() == pytest.approx(oracle.objective(A, X, M, bias, weighing), rel=1e-3)


def test_the_mean_over_many_pools_is_the_literal_expectation(case):
    network, A, X, x = case
    edges, rng = Edges.of(network), torch.Generator().manual_seed(0)
    bias = torch.tensor(0.0)
    pools = [torch.multinomial(noise_weights(network), 8, True, generator=rng) for _ in range(3000)]
    pooled = np.array([pooled_loss(x, bias, edges, pool, "paper", 5).item() for pool in pools])
    exact = oracle.objective(A, X, 5)
    assert abs(pooled.mean() - exact) < 4 * pooled.std() / math.sqrt(3000)
    pairs = torch.from_numpy(list_edges(network))
    noise = [
        torch.multinomial(noise_weights(network), len(pairs) * 10, True, generator=rng).reshape(-1, 2, 5)
        for _ in range(1000)
    ]
    literal = np.array([sampled_loss(x, bias, pairs, drawn, "paper", 5).item() for drawn in noise])
    assert abs(literal.mean() - exact) < 4 * literal.std() / math.sqrt(1000)


def test_the_literal_form_term_by_term(case):
    network, _, X, x = case
    pairs = list_edges(network)
    noise = np.random.default_rng(1).integers(0, 14, (len(pairs), 2, 3))
    total = 0.0
    for (i, j), drawn in zip(pairs, noise, strict=True):
        total += math.log(oracle.sigmoid(X[i] @ X[j]))
        total += sum(math.log(1 - oracle.sigmoid(X[i] @ X[k])) for k in drawn[0])
        total += sum(math.log(1 - oracle.sigmoid(X[j] @ X[k])) for k in drawn[1])
    found = sampled_loss(x, torch.tensor(0.0), torch.from_numpy(pairs), torch.from_numpy(noise), "paper", 3)
    assert found.item() == pytest.approx(-total / len(pairs), rel=1e-5)


@pytest.mark.parametrize("weighing", ["paper", "mean"])
def test_gradients_are_autograds(case, weighing):
    network, _, _, x = case
    edges, pool = Edges.of(network), torch.tensor([3, 3, 0, 7, 9])
    pairs = torch.from_numpy(list_edges(network))

    def plain(X, bias):
        ends = X[pairs]
        positive = softplus(-((ends[:, 0] * ends[:, 1]).sum(1) + bias)).mean()
        noise = (softplus(X @ X[pool].T + bias).mean(1) * edges.share).sum()
        return positive + (10 if weighing == "paper" else 1) * noise

    results = []
    for function in (plain, lambda X, bias: pooled_loss(X, bias, edges, pool, weighing, 5)):
        X, bias = x.clone().requires_grad_(), torch.tensor(0.3, requires_grad=True)
        loss = function(X, bias) * 2
        loss.backward()
        results.append((loss.detach(), X.grad, bias.grad))
    for slow, fast in zip(*results, strict=True):
        torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("weighing", ["paper", "mean"])
def test_the_trivial_loss_is_what_empty_vectors_get(case, weighing):
    network = case[0]
    X, edges, pool = torch.zeros(14, 3), Edges.of(network), torch.arange(14)
    found = pooled_loss(X, torch.tensor(0.0), edges, pool, weighing, 5).item()
    assert found == pytest.approx(trivial_loss(weighing, 5), rel=1e-6)
    biases = np.linspace(-6, 6, 2001)
    best = min(pooled_loss(X, torch.tensor(float(b)), edges, pool, weighing, 5).item() for b in biases)
    assert best == pytest.approx(trivial_loss(weighing, 5, bias=True), rel=1e-4)
    assert trivial_loss("paper", 5) == pytest.approx(11 * math.log(2))
    assert trivial_loss("mean", 5) == trivial_loss("mean", 9)


def test_large_logits_stay_finite(case):
    network, _, _, x = case
    X = (x * 1000).requires_grad_()
    loss = pooled_loss(X, torch.tensor(0.0), Edges.of(network), torch.arange(14), "paper", 5)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(X.grad).all()


def test_each_edge_counts_once(case):
    network, _, _, x = case
    edges = Edges.of(network)
    assert edges.count == network.edges
    pairs = torch.from_numpy(list_edges(network))
    expected = softplus(-(x[pairs[:, 0]] * x[pairs[:, 1]]).sum(1)).mean()
    torch.testing.assert_close(edge_loss(x, torch.tensor(0.0), edges), expected)
    assert edges.share.sum().item() == pytest.approx(1)
