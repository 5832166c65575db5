"""Eq. 10: pooled against literal, both against the dense oracle; the noise distribution; the trivial loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import oracle
import pytest
import torch
from graphs import random_network
from torch.nn.functional import softplus

from kedge.config import MgcnConfig
from kedge.mgcn.holdout import list_edges
from kedge.mgcn.objective import (
    Edges,
    Sample,
    edge_loss,
    noise_distribution,
    noise_weight,
    pooled_loss,
    sampled_loss,
    trivial_loss,
)


def weight_of(weighing: Any, negatives: Any) -> Any:
    return noise_weight(MgcnConfig(weighing=weighing, negatives=negatives))


@pytest.fixture(scope="module")
def case() -> Any:
    network = random_network(14, 0.3, 2)
    X = np.random.default_rng(0).normal(size=(14, 5)) / 2
    return network, network.adjacency.toarray(), X, torch.from_numpy(X.astype(np.float32))


def every_account(network: Any) -> Any:
    """A pool in which each account is in proportion to its noise weight, to one in a thousand or so."""
    share = (noise_distribution(network) / noise_distribution(network).sum()).numpy()
    return torch.from_numpy(np.repeat(np.arange(network.n), np.round(share * 20000).astype(int)))


def test_noise_is_degree_to_three_quarters(case: Any) -> None:
    network, A, _, _ = case
    weights = noise_distribution(network).numpy()
    np.testing.assert_allclose(weights / weights.sum(), oracle.noise(A))


@pytest.mark.parametrize("weighing", ["paper", "mean"])
@pytest.mark.parametrize("bias", [0.0, -0.7])
@pytest.mark.parametrize("M", [1, 5])
def test_the_pooled_form_over_the_whole_distribution_is_eq_10(case: Any, weighing: str, bias: float, M: int) -> None:
    network, A, X, x = case
    found = pooled_loss(
        x, torch.tensor(bias), Edges.of(network), Sample(every_account(network), weight_of(weighing, M))
    )
    assert found.item() == pytest.approx(oracle.objective(A, X, M, bias, weighing), rel=1e-3)


def test_the_mean_over_many_pools_is_the_literal_expectation(case: Any) -> None:
    network, A, X, x = case
    edges, rng = Edges.of(network), torch.Generator().manual_seed(0)
    bias = torch.tensor(0.0)
    pools = [torch.multinomial(noise_distribution(network), 8, True, generator=rng) for _ in range(3000)]
    pooled = np.array([pooled_loss(x, bias, edges, Sample(pool, 10.0)).item() for pool in pools])
    exact = oracle.objective(A, X, 5)
    assert abs(pooled.mean() - exact) < 4 * pooled.std() / math.sqrt(3000)
    pairs = torch.from_numpy(list_edges(network))
    noise = [
        torch.multinomial(noise_distribution(network), len(pairs) * 10, True, generator=rng).reshape(-1, 2, 5)
        for _ in range(1000)
    ]
    literal = np.array([sampled_loss(x, bias, pairs, drawn, 10.0).item() for drawn in noise])
    assert abs(literal.mean() - exact) < 4 * literal.std() / math.sqrt(1000)


def test_the_literal_form_term_by_term(case: Any) -> None:
    network, _, X, x = case
    pairs = list_edges(network)
    noise = np.random.default_rng(1).integers(0, 14, (len(pairs), 2, 3))
    total = 0.0
    for (i, j), drawn in zip(pairs, noise, strict=True):
        total += math.log(oracle.sigmoid(X[i] @ X[j]))
        total += sum(math.log(1 - oracle.sigmoid(X[i] @ X[k])) for k in drawn[0])
        total += sum(math.log(1 - oracle.sigmoid(X[j] @ X[k])) for k in drawn[1])
    found = sampled_loss(x, torch.tensor(0.0), torch.from_numpy(pairs), torch.from_numpy(noise), 6.0)
    assert found.item() == pytest.approx(-total / len(pairs), rel=1e-5)


@pytest.mark.parametrize("weighing", ["paper", "mean"])
def test_gradients_are_autograds(case: Any, weighing: str) -> None:
    network, _, _, x = case
    edges, pool = Edges.of(network), torch.tensor([3, 3, 0, 7, 9])
    pairs = torch.from_numpy(list_edges(network))

    def plain(X: Any, bias: Any) -> Any:
        ends = X[pairs]
        positive = softplus(-((ends[:, 0] * ends[:, 1]).sum(1) + bias)).mean()
        noise = (softplus(X @ X[pool].T + bias).mean(1) * edges.share).sum()
        return positive + (10 if weighing == "paper" else 1) * noise

    results = []
    for function in (plain, lambda X, bias: pooled_loss(X, bias, edges, Sample(pool, weight_of(weighing, 5)))):
        X, bias = x.clone().requires_grad_(), torch.tensor(0.3, requires_grad=True)
        loss = function(X, bias) * 2
        loss.backward()
        results.append((loss.detach(), X.grad, bias.grad))
    for slow, fast in zip(*results, strict=True):
        torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("weighing", ["paper", "mean"])
def test_the_trivial_loss_is_what_empty_vectors_get(case: Any, weighing: str) -> None:
    network = case[0]
    weight = weight_of(weighing, 5)
    X, edges, sample = torch.zeros(14, 3), Edges.of(network), Sample(torch.arange(14), weight)
    found = pooled_loss(X, torch.tensor(0.0), edges, sample).item()
    assert found == pytest.approx(trivial_loss(weight), rel=1e-6)
    biases = np.linspace(-6, 6, 2001)
    best = min(pooled_loss(X, torch.tensor(float(b)), edges, sample).item() for b in biases)
    assert best == pytest.approx(trivial_loss(weight, bias=True), rel=1e-4)
    assert trivial_loss(weight_of("paper", 5)) == pytest.approx(11 * math.log(2))
    assert weight_of("mean", 5) == weight_of("mean", 9)


def test_large_logits_stay_finite(case: Any) -> None:
    network, _, _, x = case
    X = (x * 1000).requires_grad_()
    loss = pooled_loss(X, torch.tensor(0.0), Edges.of(network), Sample(torch.arange(14), 10.0))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(X.grad).all()


def test_each_edge_counts_once(case: Any) -> None:
    network, _, _, x = case
    edges = Edges.of(network)
    assert edges.count == network.edges
    pairs = torch.from_numpy(list_edges(network))
    expected = softplus(-(x[pairs[:, 0]] * x[pairs[:, 1]]).sum(1)).mean()
    torch.testing.assert_close(edge_loss(x, torch.tensor(0.0), edges), expected)
    assert edges.share.sum().item() == pytest.approx(1)
