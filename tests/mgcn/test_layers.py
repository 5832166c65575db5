"""Both levels: equal to the dense oracle for every builder and fusion, with their gradients and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
import torch
from graphs import communities, random_hypergraph, random_network, relabel
from scipy.sparse import csr_array

from kedge.config import HypergraphConfig, MgcnConfig
from kedge.context import reuse_freed_memory
from kedge.errors import KedgeError
from kedge.hypergraph import BUILDERS, unite
from kedge.linalg.spmm import Sparse, spmm
from kedge.mgcn.fusion import blocks, chunks, fuse_basis, fuse_concat, fuse_linear, fuse_sum
from kedge.mgcn.layers import bounded, convolve, convolve_hypergraph, factor_theta, normalise_adjacency, overlay
from kedge.mgcn.model import Mgcn, prepare
from kedge.types import Hypergraph, Network

TOLERANCE: dict[str, Any] = {"atol": 1e-5, "rtol": 1e-5}
ACTIVATIONS = ["relu", "tanh", "none"]
CONFIG = HypergraphConfig(nearest=5, hops=3, codes=4, active=2, latent_steps=3, communities=3)


def tensor(array: Any) -> Any:
    return torch.from_numpy(np.asarray(array, np.float32))


def hypergraphs(network: Network) -> Any:
    values = random_hypergraph(network.n, 6, 0.3, 4)
    built = {name: BUILDERS[name].build(network, CONFIG, 0, np.array([1, 4, 6]), values) for name in BUILDERS}
    built["union"] = unite([built["anchor"], built["centrality"]])
    built["given"] = random_hypergraph(network.n, 5, 0.4, 3)
    return built


KINDS = [*BUILDERS, "union", "given"]


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    network = random_network(16, 0.25, 5)
    rng = np.random.default_rng(0)
    d = 6
    return {
        "network": network,
        "A": network.adjacency.toarray().astype(float),
        "H": hypergraphs(network),
        "X": rng.normal(size=(16, d)),
        "W": rng.normal(size=(d, d)),
        "rng": rng,
        "d": d,
    }


def test_a_hat(case: dict[str, Any]) -> None:
    np.testing.assert_allclose(normalise_adjacency(case["network"]).toarray(), oracle.a_hat(case["A"]), **TOLERANCE)


def test_an_isolated_account_keeps_its_own_vector() -> None:
    A = normalise_adjacency(Network.from_edges([(0, 1)], 3)).toarray()
    assert A[2].tolist() == [0, 0, 1]


def test_eq_7(case: dict[str, Any]) -> None:
    out = convolve(Sparse.of(normalise_adjacency(case["network"])), tensor(case["X"]), tensor(case["W"]))
    np.testing.assert_allclose(out, oracle.gcn(case["A"], case["X"], case["W"]), **TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_eq_3_summed(case: dict[str, Any], kind: Any) -> None:
    H = case["H"][kind]
    dense = H.H.toarray().astype(float)
    expected = sum(oracle.a_e(case["A"], dense, e) for e in range(H.hyperedges))
    np.testing.assert_allclose(overlay(normalise_adjacency(case["network"]), H.H).toarray(), expected, **TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("fusion", ["concat", "basis", "sum"])
def test_eq_1_to_4(case: dict[str, Any], kind: Any, activation: Any, fusion: str) -> None:
    network, H, d = case["network"], case["H"][kind], case["d"]
    rng, m = np.random.default_rng(1), case["H"][kind].hyperedges
    A_hat = normalise_adjacency(network)
    X, W = tensor(case["X"]), tensor(case["W"])
    if fusion == "concat":
        F = rng.normal(size=(m, d, d))
        out = fuse_concat(blocks(A_hat, H), X, W, tensor(F), activation)
    elif fusion == "basis":
        a, B = rng.normal(size=(m, 3)), rng.normal(size=(3, d, d))
        F = np.einsum("eb,bij->eij", a, B)
        out = fuse_basis(chunks(A_hat, H, 7), X, W, tensor(a), tensor(B), activation)
    else:
        one = rng.normal(size=(d, d))
        F = np.stack([one] * m)
        out = fuse_sum(chunks(A_hat, H, 7), X, W, tensor(one), activation)
    expected = oracle.fuse(case["A"], H.H.toarray().astype(float), case["X"], case["W"], F, activation)
    np.testing.assert_allclose(out / np.abs(expected).max(), expected / np.abs(expected).max(), **TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_linear_fusion_is_the_sum_without_activation(case: dict[str, Any], kind: Any) -> None:
    A_hat, H = normalise_adjacency(case["network"]), case["H"][kind]
    X, W, F = tensor(case["X"]), tensor(case["W"]), tensor(np.random.default_rng(2).normal(size=(6, 6)))
    summed = fuse_sum(chunks(A_hat, H), X, W, F, "none")
    linear = fuse_linear(Sparse.of(overlay(A_hat, H.H), symmetric=True), X, W, F, "none")
    torch.testing.assert_close(linear, summed, atol=1e-4, rtol=1e-5)
    expected = np.maximum(
        sum(oracle.a_e(case["A"], H.H.toarray().astype(float), e) for e in range(H.hyperedges)) @ case["X"] @ case["W"],
        0,
    )
    rectified = fuse_linear(Sparse.of(overlay(A_hat, H.H), symmetric=True), X, W, None, "relu")
    np.testing.assert_allclose(rectified, expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalisation", ["paper", "edge"])
def test_eq_9(case: dict[str, Any], kind: Any, normalisation: str) -> None:
    H = case["H"][kind]
    expected = oracle.theta(H.H.toarray().astype(float), normalisation) @ case["X"] @ case["W"]
    out = convolve_hypergraph(factor_theta(H, normalisation), tensor(case["X"]), tensor(case["W"]), "none")
    np.testing.assert_allclose(out, expected, **TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_eq_6_and_8_are_eq_9(case: dict[str, Any], kind: Any) -> None:
    H = case["H"][kind]
    expected = oracle.hypergraph_layer(H.H.toarray().astype(float), case["X"], case["W"])
    out = convolve_hypergraph(factor_theta(H, "paper"), tensor(case["X"]), tensor(case["W"]))
    np.testing.assert_allclose(out, expected, **TOLERANCE)


def test_a_large_theta_is_the_printed_one_up_to_a_number(case: dict[str, Any]) -> None:
    """σ(Θ X W) stays the same function of the learned W: that many times larger, W is as many times smaller."""
    full = Hypergraph(csr_array(case["rng"].uniform(0.5, 1, size=(16, 8))))
    G = factor_theta(full, "paper")
    dense = np.linalg.norm(oracle.theta(full.H.toarray().astype(float)), 2)
    assert dense > 8
    X, W = tensor(case["X"]), tensor(case["W"])
    now = convolve_hypergraph(bounded(G), X, W * dense)
    torch.testing.assert_close(now, convolve_hypergraph(G, X, W), atol=1e-3, rtol=1e-3)
    small = factor_theta(case["H"]["neighbourhood"], "paper")
    assert bounded(small) is small


def test_theta_by_edge_does_not_grow() -> None:
    H = random_hypergraph(40, 30, 0.6, 0)
    norms = {}
    for kind in ("paper", "edge"):
        G = factor_theta(H, kind)
        norms[kind] = np.linalg.norm(spmm(G, spmm(G.transposed, torch.eye(40))).numpy(), 2)
    assert norms["edge"] <= 1 + 1e-5 < norms["paper"]
    with pytest.raises(ValueError, match="no normalisation"):
        factor_theta(H, "wrong")


def gradients(function: Any, *arrays: Any) -> list[Any]:
    inputs = [tensor(a).requires_grad_() for a in arrays]
    out = function(*inputs)
    weight = torch.sin(torch.arange(out.numel(), dtype=torch.float32)).reshape(out.shape)
    (out * weight).sum().backward()
    return [i.grad for i in inputs]


def dense_fuse(A_e: Any, X: Any, W: Any, F: Any, activation: Any) -> Any:
    act = {"relu": torch.relu, "tanh": torch.tanh, "none": lambda x: x}[activation]
    return sum(act(A @ X @ W) @ F_e for A, F_e in zip(A_e, F, strict=True))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("fusion", ["concat", "basis", "sum"])
def test_gradients_are_those_of_the_dense_form(case: dict[str, Any], activation: Any, fusion: str) -> None:
    H, d, rng = case["H"]["given"], case["d"], np.random.default_rng(4)
    A_hat = normalise_adjacency(case["network"])
    A_e = [tensor(oracle.a_e(case["A"], H.H.toarray().astype(float), e)) for e in range(5)]
    F, B, a = rng.normal(size=(5, d, d)), rng.normal(size=(3, d, d)), rng.normal(size=(5, 3))
    X, W = case["X"], case["W"]
    if fusion == "concat":
        whole = blocks(A_hat, H)
        fast = gradients(lambda X, W, F: fuse_concat(whole, X, W, F, activation), X, W, F)
        slow = gradients(lambda X, W, F: dense_fuse(A_e, X, W, F, activation), X, W, F)
    elif fusion == "basis":
        parts = chunks(A_hat, H, 9)
        fast = gradients(lambda X, W, a, B: fuse_basis(parts, X, W, a, B, activation), X, W, a, B)
        slow = gradients(
            lambda X, W, a, B: dense_fuse(A_e, X, W, torch.einsum("eb,bij->eij", a, B), activation), X, W, a, B
        )
    else:
        parts = chunks(A_hat, H, 9)
        fast = gradients(lambda X, W, F: fuse_sum(parts, X, W, F, activation), X, W, F[0])
        slow = gradients(lambda X, W, F: dense_fuse(A_e, X, W, [F] * 5, activation), X, W, F[0])
    for quick, true in zip(fast, slow, strict=True):
        torch.testing.assert_close(quick / true.abs().max(), true / true.abs().max(), atol=1e-5, rtol=1e-5)


def whole(n: int) -> Hypergraph:
    return Hypergraph(csr_array(np.ones((n, 1), np.float32)))


def test_one_hyperedge_of_all_accounts_is_a_plain_gcn(case: dict[str, Any]) -> None:
    A_hat, X, W = normalise_adjacency(case["network"]), tensor(case["X"]), tensor(case["W"])
    plain = convolve(Sparse.of(A_hat), X, W)
    identity = torch.eye(case["d"])
    H = whole(16)
    for out in (
        fuse_concat(blocks(A_hat, H), X, W, identity[None]),
        fuse_sum(chunks(A_hat, H), X, W, identity),
        fuse_sum(chunks(A_hat, H), X, W, None),
        fuse_basis(chunks(A_hat, H), X, W, torch.ones(1, 1), identity[None]),
        fuse_linear(Sparse.of(overlay(A_hat, H.H)), X, W, None),
    ):
        torch.testing.assert_close(out, plain, atol=1e-5, rtol=1e-5)


def test_concat_with_equal_blocks_equals_sum(case: dict[str, Any]) -> None:
    A_hat, X, W, F = normalise_adjacency(case["network"]), tensor(case["X"]), tensor(case["W"]), torch.randn(6, 6)
    H = case["H"]["given"]
    torch.testing.assert_close(
        fuse_concat(blocks(A_hat, H), X, W, torch.stack([F] * 5)),
        fuse_sum(chunks(A_hat, H), X, W, F),
        atol=1e-4,
        rtol=1e-5,
    )


def test_the_size_of_chunks_does_not_matter(case: dict[str, Any]) -> None:
    A_hat, X, W = normalise_adjacency(case["network"]), tensor(case["X"]), tensor(case["W"])
    H = case["H"]["neighbourhood"]
    outs = [fuse_sum(chunks(A_hat, H, size), X, W, None) for size in (1, 10, 10**6)]
    assert len(chunks(A_hat, H, 1)) == 16
    for out in outs[1:]:
        torch.testing.assert_close(out, outs[0])


def test_hyperedges_of_one_account_and_empty_ones_are_defined(case: dict[str, Any]) -> None:
    A_hat, X = normalise_adjacency(case["network"]), tensor(case["X"])
    H = np.zeros((16, 2), np.float32)
    H[3, 0] = 0.5
    out = fuse_sum(chunks(A_hat, Hypergraph(csr_array(H))), X, None, None, "none")
    expected = np.zeros((16, 6))
    expected[3] = 0.25 * case["X"][3]
    np.testing.assert_allclose(out, expected, atol=1e-6)
    out = fuse_concat(blocks(A_hat, Hypergraph(csr_array(H))), X, None, torch.stack([torch.eye(6)] * 2), "none")
    np.testing.assert_allclose(out, expected, atol=1e-6)
    out = convolve_hypergraph(factor_theta(Hypergraph(csr_array(H))), X, None, "none")
    np.testing.assert_allclose(out[3], case["X"][3], rtol=1e-5)
    assert (out[:3] == 0).all()


def model_of(network: Network, H: Any, seed: int = 0, **settings: Any) -> Any:
    config = MgcnConfig(dimensions=4, dropout=0, **settings)
    start = torch.randn(network.n, 4, generator=torch.Generator().manual_seed(7))
    return Mgcn(prepare(network, H, config), config, start, torch.Generator().manual_seed(seed)), start


@pytest.mark.parametrize("fusion", ["concat", "basis", "sum", "linear"])
@pytest.mark.parametrize("transform", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_relabelling_commutes(fusion: str, transform: bool, unit: bool) -> None:
    network = communities(20, 2, 0.4, 0.1, 0)
    H = random_hypergraph(20, 6, 0.4, 1)
    order = np.random.default_rng(3).permutation(20)
    settings = {"fusion": fusion, "transform": transform, "unit": unit, "activation": "relu", "skip": True, "layers": 2}
    model, start = model_of(network, H, **settings)
    turned, _ = model_of(relabel(network, order), Hypergraph(csr_array(H.H.toarray()[order])), **settings)
    turned.X0.data = start[torch.from_numpy(order)]
    torch.testing.assert_close(turned(), model()[torch.from_numpy(order)], atol=1e-4, rtol=1e-4)


def test_the_whole_model_is_its_equations_in_order(case: dict[str, Any]) -> None:
    network, A, H = case["network"], case["A"], case["H"]["given"]
    dense = H.H.toarray().astype(float)
    settings = {"fusion": "concat", "layers": 2, "share": False, "theta": "paper", "unit": False, "activation": "relu"}
    settings |= {"gate": "fixed", "blend": 1.0}
    model, start = model_of(network, H, transform=True, identity=False, **settings)
    X = start.numpy().astype(float)
    for k in range(2):
        X = oracle.fuse(A, dense, X, model.W[k].detach().numpy(), model.F[k].detach().numpy())
    for k in range(2):
        X = oracle.hypergraph_layer(dense, X, model.W_h[k].detach().numpy())
    np.testing.assert_allclose(model().detach() / np.abs(X).max(), X / np.abs(X).max(), **TOLERANCE)


def test_one_level_alone() -> None:
    network, H = communities(20, 2, 0.4, 0.1, 0), random_hypergraph(20, 6, 0.4, 1)
    A_hat = normalise_adjacency(network)
    model, start = model_of(network, H, levels="simple", layers=1, share=False, unit=False, reweigh=False, gate="fixed")
    torch.testing.assert_close(model(), spmm(Sparse.of(overlay(A_hat, H.H)), start))
    model, start = model_of(network, H, levels="hypergraph", layers=1, unit=False, gate="fixed", blend=1.0)
    torch.testing.assert_close(model(), convolve_hypergraph(factor_theta(H), start, None, "none"))


def test_fixed_gates_propagate_over_the_network_that_the_hyperedges_weigh(case: dict[str, Any]) -> None:
    """(1 - b + b Θ)^K Â_H^K X^0, with Â_H that of the network whose edges (u, v) weigh Σ_e p(u, e) p(v, e)."""
    network, H = case["network"], case["H"]["given"]
    model, start = model_of(network, H, unit=False, gate="fixed")
    dense = H.H.toarray().astype(float)
    A_hat = oracle.a_hat(case["A"] * (dense @ dense.T))
    X = start.numpy().astype(float)
    for _ in range(model.config.layers):
        X = A_hat @ X
    theta = oracle.theta(dense, "edge")
    for _ in range(model.config.layers):
        X = (1 - model.config.blend) * X + model.config.blend * theta @ X
    np.testing.assert_allclose(model().detach() / np.abs(X).max(), X / np.abs(X).max(), **TOLERANCE)


def test_learned_gates_depend_on_the_degree(case: dict[str, Any]) -> None:
    """X <- (1 - g_v) X + g_v Y row by row at each layer, g_v = σ(a + b (log d_v - mean log d)), a and b a level."""
    network, H = case["network"], case["H"]["given"]
    model, start = model_of(network, H, unit=False)
    model.gates.data = torch.tensor([[0.3, -1.2], [-0.8, 0.7]])
    dense = H.H.toarray().astype(float)
    operators = (oracle.a_hat(case["A"] * (dense @ dense.T)), oracle.theta(dense, "edge"))
    X = start.numpy().astype(float)
    for operator, (a, b) in zip(operators, ((0.3, -1.2), (-0.8, 0.7)), strict=True):
        for _ in range(model.config.layers):
            X = oracle.gate(case["A"], X, operator @ X, a, b)
    np.testing.assert_allclose(model().detach() / np.abs(X).max(), X / np.abs(X).max(), **TOLERANCE)


def test_concat_over_many_hyperedges_is_refused_where_it_cannot_fit() -> None:
    network = Network.from_edges([(i, i + 1) for i in range(1100)], 1101)
    with pytest.raises(KedgeError, match="basis, sum or linear"):
        prepare(network, BUILDERS["neighbourhood"].build(network, CONFIG), MgcnConfig(fusion="concat"))
    with pytest.raises(KedgeError, match="one row of H"):
        prepare(network, whole(7), MgcnConfig())


def test_products_in_double_and_memory_reused() -> None:
    matrix = Sparse.of(csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])))
    X = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: spmm(matrix, x), X)
    assert matrix.nnz == 1
    assert matrix.transposed.shape == (3, 2)
    assert reuse_freed_memory() in (True, False)
