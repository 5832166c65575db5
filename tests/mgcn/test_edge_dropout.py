"""Edges dropped while they are to be predicted: both levels then have the network without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from graphs import random_hypergraph, random_network
from torch.nn.functional import softplus

from kedge.config import HypergraphConfig, resolve
from kedge.hypergraph import build_hypergraph, unite
from kedge.linalg.spmm import Sparse, spmm
from kedge.mgcn import embed
from kedge.mgcn.edge_dropout import mark, mark_memberships
from kedge.mgcn.holdout import list_edges
from kedge.mgcn.layers import factor_theta, normalise_adjacency
from kedge.mgcn.model import Mgcn, prepare
from kedge.mgcn.objective import Edges, edge_loss
from kedge.synthetic import planted


@pytest.fixture(scope="module")
def case() -> Any:
    network = random_network(15, 0.3, 4)
    kept = torch.ones(network.edges + 1)
    kept[torch.arange(0, network.edges, 3)] = 0
    return network, kept, np.random.default_rng(0).normal(size=(15, 4)).astype(np.float32)


def dense_and_gradient(matrix: Sparse, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M X, and the gradient of Σ (M X)² for X."""
    x = torch.from_numpy(X).requires_grad_()
    out = spmm(matrix, x)
    (out**2).sum().backward()
    return out.detach().numpy(), x.grad.numpy()


def test_dropped_edges_leave_the_network(case: Any) -> None:
    network, kept, X = case
    A_hat = Sparse.of(normalise_adjacency(network), symmetric=True)
    dense = normalise_adjacency(network).toarray()
    for number, (i, j) in enumerate(list_edges(network)):
        dense[i, j] = dense[j, i] = dense[i, j] * (1.5 if kept[number] else 0.0)
    product, gradient = dense_and_gradient(mark(network, A_hat).drop(A_hat, kept, 1.5), X)
    np.testing.assert_allclose(product, dense @ X, atol=1e-5)
    np.testing.assert_allclose(gradient, 2 * dense.T @ (dense @ X), atol=1e-4)


def test_dropped_edges_leave_the_hyperedges_around_their_ends_and_no_others(case: Any) -> None:
    network, kept, X = case
    around = build_hypergraph(network, HypergraphConfig(nearest=6))
    hypergraph = unite([random_hypergraph(15, 5, 0.4, 0), around])
    G = factor_theta(hypergraph)
    dense = np.zeros(G.shape, np.float32)
    rows = np.repeat(np.arange(15), G.forward.offsets.diff().numpy())
    dense[rows, G.forward.indices.numpy()] = G.forward.values.numpy()
    for number, (i, j) in enumerate(list_edges(network)):
        if not kept[number]:
            dense[i, 5 + j] = dense[j, 5 + i] = 0.0
    dropped = mark_memberships(network, hypergraph, G).drop(G, kept, 1.0)
    back = np.random.default_rng(1).normal(size=(20, 4)).astype(np.float32)
    for matrix, expected, input_ in ((dropped, dense, back), (dropped.transposed, dense.T, X)):
        product, gradient = dense_and_gradient(matrix, input_)
        np.testing.assert_allclose(product, expected @ input_, atol=1e-5)
        np.testing.assert_allclose(gradient, 2 * expected.T @ (expected @ input_), atol=1e-4)


def test_hyperedges_without_centres_drop_nothing(case: Any) -> None:
    network, _, _ = case
    H = random_hypergraph(15, 5, 0.4, 0)
    assert mark_memberships(network, H, factor_theta(H)) is None


def test_with_every_edge_dropped_the_simple_level_changes_nothing(case: Any) -> None:
    network, kept, X = case
    settings = resolve(assignments=["mgcn.levels=simple", "mgcn.unit=false", "mgcn.dropout=0"]).mgcn
    operators = prepare(network, build_hypergraph(network, HypergraphConfig(nearest=6)), settings)
    model = Mgcn(operators, settings, torch.from_numpy(X), torch.Generator().manual_seed(0))
    nothing = torch.zeros_like(kept)
    nothing[-1] = 1
    torch.testing.assert_close(model(kept=nothing), model.X0)
    assert not torch.allclose(model(), model.X0)


def test_only_dropped_edges_are_learnt_from(case: Any) -> None:
    network, kept, X = case
    x, chosen = torch.from_numpy(X), 1 - kept[:-1]
    pairs = torch.from_numpy(list_edges(network))[chosen > 0]
    expected = softplus(-(x[pairs[:, 0]] * x[pairs[:, 1]]).sum(1)).mean()
    torch.testing.assert_close(edge_loss(x, torch.tensor(0.0), Edges.of(network), chosen), expected)
    assert edge_loss(x, torch.tensor(0.0), Edges.of(network), torch.zeros(network.edges)).item() == 0


def test_the_levels_predict_edges_better_than_no_level() -> None:
    network = planted(600, 600, 400, 5000, 5000, 0.85, 7).left
    few = ["mgcn.dimensions=32", "mgcn.steps=80", "mgcn.held_out=0.1"]
    auc = {
        levels: np.mean([embed(network, resolve(assignments=[*few, f"mgcn.levels={levels}"]), s).auc for s in (0, 1)])
        for levels in ("none", "both")
    }
    assert auc["both"] > auc["none"] + 0.01
