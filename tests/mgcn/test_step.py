"""The parts of one training step: fast forms against the plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from graphs import random_network
from scipy.sparse import csr_array
from torch.nn.functional import normalize, softplus

from kedge.linalg import spmm
from kedge.linalg.spmm import Propagation, Sparse, cut_strips, propagate
from kedge.mgcn.adam import Adam
from kedge.mgcn.fusion import chunks, fuse_basis, fuse_sum
from kedge.mgcn.layers import normalise_adjacency
from kedge.mgcn.objective import softplus_noise
from kedge.mgcn.row_ops import drop, unit_rows
from kedge.types import Hypergraph

EXACT = {"atol": 1e-5, "rtol": 1e-5}


def draw(*shape: Any, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def with_gradients(function: Any, *inputs: Any) -> list[Any]:
    """The result, and the gradients of a sum of its entries with unequal weights."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    out = function(*leaves)
    (out * draw(*out.shape, seed=9)).sum().backward()
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def same(fast: Any, plain: Any) -> None:
    for quick, true in zip(fast, plain, strict=True):
        torch.testing.assert_close(quick, true, **EXACT)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache so small that matrices of a few dozen rows are cut into strips."""
    monkeypatch.setattr(spmm, "_CACHED", 64 * 32)


def test_strips_cover_every_column_once_and_none_is_narrow(narrow: Any) -> None:
    for columns in (0, 1, 31, 32, 40, 47, 48, 64, 79, 80, 200, 201):
        strips = cut_strips(torch.empty(60, columns))
        assert [k for strip in strips for k in range(columns)[strip]] == list(range(columns))
        assert all(strip.stop - strip.start >= min(columns, 16) for strip in strips)
    assert len(cut_strips(torch.empty(60, 200))) == 6
    assert len(cut_strips(torch.empty(60, 30))) == 1  # fits as it is
    assert len(cut_strips(torch.empty(65, 200))) == 1  # not even a strip would fit


@pytest.mark.parametrize("columns", [20, 200])
def test_propagation_is_its_dense_form(narrow: Any, columns: int) -> None:
    rng = np.random.default_rng(0)
    A, G = rng.random((60, 60)) * (rng.random((60, 60)) < 0.1), rng.random((60, 25)) * (rng.random((60, 25)) < 0.2)
    local, theta = Sparse.of(csr_array(A)), Sparse.of(csr_array(G))
    steps = [Propagation((local,)), Propagation((local,), keep=1.0), Propagation((theta, theta.transposed), 0.7, 0.3)]
    a, g = torch.from_numpy(A).float(), torch.from_numpy(G).float()

    def plain(X: Any) -> Any:
        X = a @ X
        X = X + a @ X
        return 0.7 * X + 0.3 * (g @ (g.T @ X))

    X = draw(60, columns)
    same(with_gradients(lambda x: propagate(steps, x), X), with_gradients(plain, X))
    assert propagate([], X) is X


@pytest.mark.parametrize("columns", [20, 200])
def test_gates_learn_as_in_the_dense_form(narrow: Any, columns: int) -> None:
    rng = np.random.default_rng(1)
    A, G = rng.random((60, 60)) * (rng.random((60, 60)) < 0.1), rng.random((60, 25)) * (rng.random((60, 25)) < 0.2)
    local, theta = Sparse.of(csr_array(A)), Sparse.of(csr_array(G))
    a, g = torch.from_numpy(A).float(), torch.from_numpy(G).float()

    def fast(X: Any, first: Any, second: Any) -> Any:
        gated = Propagation((local,), gate=first), Propagation((theta, theta.transposed), keep=1.0, gate=second)
        return propagate([gated[0], Propagation((local,), keep=0.5), gated[1], gated[1]], X)

    def plain(X: Any, first: Any, second: Any) -> Any:
        X = (1 - first) * X + first * (a @ X)
        X = 0.5 * X + a @ X
        for _ in range(2):
            X = X + second * (g @ (g.T @ X))
        return X

    inputs = draw(60, columns), torch.sigmoid(draw(60, 1, seed=3)), torch.sigmoid(draw(60, 1, seed=4))
    for quick, true in zip(with_gradients(fast, *inputs), with_gradients(plain, *inputs), strict=True):
        torch.testing.assert_close(quick, true, rtol=1e-4, atol=1e-3)


def test_a_chain_through_matrices_that_are_not_square(narrow: Any) -> None:
    wide = Sparse.of(csr_array(np.arange(60.0 * 50).reshape(50, 60) % 7 / 7))
    X = draw(60, 100)
    dense = torch.from_numpy(np.arange(60.0 * 50).reshape(50, 60) % 7 / 7).float()
    fast = with_gradients(lambda x: propagate([Propagation((wide,)), Propagation((wide.transposed,))], x), X)
    for quick, true in zip(fast, with_gradients(lambda x: dense.T @ (dense @ x), X), strict=True):
        torch.testing.assert_close(quick, true, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("activation", ["relu", "tanh", "none"])
def test_fusions_are_the_same_in_strips(monkeypatch: pytest.MonkeyPatch, activation: str) -> None:
    network = random_network(60, 0.1, 3)
    H = Hypergraph(csr_array((np.random.default_rng(1).random((60, 9)) < 0.3).astype(np.float32)))
    parts = chunks(normalise_adjacency(network), H, 40)
    X, a, B = draw(60, 100), draw(9, 2, seed=1), draw(2, 100, 100, seed=2) / 10
    results = []
    for cached in (1 << 19, 64 * 32):
        monkeypatch.setattr(spmm, "_CACHED", cached)
        results.append(
            with_gradients(lambda x: fuse_sum(parts, x, None, None, activation), X)
            + with_gradients(lambda x, a, B: fuse_basis(parts, x, None, a, B, activation), X, a, B)
        )
    assert len(cut_strips(X)) == 3
    for whole, cut in zip(*results, strict=True):
        torch.testing.assert_close(cut, whole, atol=1e-4, rtol=1e-5)


def test_unit_rows_are_normalised_rows_times_a_length() -> None:
    X, length = draw(2100, 7), torch.tensor(0.4)
    X[3] = 0
    same(with_gradients(unit_rows, X, length), with_gradients(lambda x, s: normalize(x) * torch.exp(s / 2), X, length))


def test_dropout_drops_the_entries_drawn() -> None:
    X = draw(700, 11)
    drawn = torch.rand(X.shape, generator=torch.Generator().manual_seed(5))

    def plain(x: Any) -> Any:
        return x * (drawn >= 0.3).float() / 0.7

    same(with_gradients(lambda x: drop(x, 0.3, torch.Generator().manual_seed(5)), X), with_gradients(plain, X))
    assert drop(X, 0, torch.Generator()) is X


def test_adam_takes_the_steps_of_torchs() -> None:
    found = []
    for make in (lambda p: Adam(p, 0.05), lambda p: torch.optim.Adam(p, lr=0.05)):
        parameters = [torch.nn.Parameter(draw(9, 4)), torch.nn.Parameter(torch.tensor(0.5))]
        idle = torch.nn.Parameter(torch.ones(2))
        optimiser = make([*parameters, idle])
        for step in range(30):
            for parameter in parameters:
                parameter.grad = None
            weights = draw(9, 4, seed=step)
            ((parameters[0] * weights).sum() + parameters[1] ** 2 * (parameters[0] ** 2).sum()).backward()
            optimiser.step()
        assert torch.equal(idle, torch.ones(2))
        found.append([p.detach() for p in parameters])
    same(*found)


@pytest.mark.parametrize("scale", [0.1, 3.0, 1000.0])
def test_noise_is_softplus_and_its_slope(scale: float) -> None:
    logits, weights = draw(5, 131) * scale, torch.rand(5)
    written = logits.clone()
    loss, slopes = softplus_noise(written.numpy(), torch.exp(-logits.abs()).numpy(), weights.numpy())
    exact = logits.double()
    expected = torch.sigmoid(exact) * weights[:, None]
    assert loss == pytest.approx((softplus(exact).sum(1) * weights).sum().item(), rel=1e-6)
    assert slopes == pytest.approx(expected.sum().item(), rel=1e-6)
    torch.testing.assert_close(written, expected.float(), atol=1e-6, rtol=1e-6)


def test_noise_that_is_not_a_number_gives_a_loss_that_is_none() -> None:
    logits = torch.tensor([[0.0, float("nan"), 1.0]])
    loss, _ = softplus_noise(logits.numpy(), torch.exp(-logits.abs()).numpy(), np.ones(1, np.float32))
    assert np.isnan(loss)
