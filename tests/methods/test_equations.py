"""The equations of the methods of others, each against loops or a closed form on networks of a few accounts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from graphs import communities, random_hypergraph, random_network, relabel

from kedge.config import Config
from kedge.linalg.sparse import symmetric_walk
from kedge.linalg.spmm import Sparse, spmm
from kedge.methods import METHODS, final, gcn, isorank, netalign, pale, regal
from kedge.methods.autoencoder import gravity_logits
from kedge.methods.mah import hyperedges
from kedge.methods.shared.convolved import two_convolutions
from kedge.methods.shared.descent import Reconstruction
from kedge.methods.shared.embedded import merge
from kedge.methods.shared.pairs import keep_best, rank_by_witnesses
from kedge.methods.shared.spread import seed_scores, spread
from kedge.methods.user_matching import link
from kedge.mgcn.layers import convolve_hypergraph, factor_theta
from kedge.types import Network, Problem


def problem(seed: int = 0, n: int = 12, m: int = 11, anchors: int = 4) -> Problem:
    rng = np.random.default_rng(seed)
    pairs = np.column_stack([rng.permutation(n)[:anchors], rng.permutation(m)[:anchors]])
    return Problem(random_network(n, 0.3, seed), random_network(m, 0.35, seed + 1), pairs)


@pytest.mark.parametrize(
    ("alpha", "operator"), [(isorank._ALPHA, isorank._walk), (final._ALPHA, symmetric_walk)], ids=["isorank", "final"]
)
def test_spreading_ends_at_the_solution_of_its_linear_system(alpha: Any, operator: Any) -> None:
    p = problem()
    H = seed_scores(p)
    found = spread(operator(p.left), operator(p.right), H, alpha, 400)
    M = np.kron(operator(p.left).toarray(), operator(p.right).toarray())
    s = np.linalg.solve(np.eye(len(M)) - alpha * M, (1 - alpha) * H.numpy().ravel())
    np.testing.assert_allclose(found.ravel(), s, atol=1e-6)


def test_isorank_divides_by_the_degrees_of_neighbours() -> None:
    p = problem(3)
    A, B = p.left.adjacency.toarray(), p.right.adjacency.toarray()
    R = np.random.default_rng(0).random((12, 11))
    expected = np.zeros_like(R)
    for i, j, u, v in product(range(12), range(11), range(12), range(11)):
        if A[i, u] and B[j, v]:
            expected[i, j] += R[u, v] / (p.left.degrees[u] * p.right.degrees[v])
    found = isorank._walk(p.left) @ R @ isorank._walk(p.right).T
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def relu_layers(P: Any, W_0: Any, W_1: Any) -> Any:
    """Account by account: relu of the weighted sum of rows, times W_1, and the weighted sum once more."""
    n, d = W_0.shape
    hidden, out = np.zeros((n, d)), np.zeros((n, d))
    for i in range(n):
        hidden[i] = np.maximum(sum(P[i, j] * W_0[j] for j in range(n)), 0) @ W_1
    for i in range(n):
        out[i] = sum(P[i, j] * hidden[j] for j in range(n))
    return out


def test_gcn_is_kipf_and_wellings() -> None:
    """P_ij = 1 / sqrt((d_i + 1) (d_j + 1)) for edges and for i = j; an activation and weights; a linear last layer."""
    network, rng = random_network(9, 0.3, 2), np.random.default_rng(0)
    A, degrees = network.adjacency.toarray(), network.degrees + 1
    P = np.array([[(A[i, j] + (i == j)) / np.sqrt(degrees[i] * degrees[j]) for j in range(9)] for i in range(9)])
    W_0, W_1 = rng.normal(size=(9, 4)), rng.normal(size=(4, 4))
    sparse = Sparse.of(gcn.renormalise(network), symmetric=True)
    found = two_convolutions(lambda X: spmm(sparse, X), torch.from_numpy(W_0), torch.from_numpy(W_1))
    np.testing.assert_allclose(found, relu_layers(P, W_0, W_1), atol=1e-6)


def test_hgnn_is_fengs() -> None:
    """P = D_v^-1/2 H W D_e^-1 H^T D_v^-1/2 with W = I."""
    hypergraph, rng = random_hypergraph(9, 5, 0.5, 3), np.random.default_rng(1)
    H = hypergraph.H.toarray().astype(float)
    accounts, sizes = H.sum(axis=1), H.sum(axis=0)
    P = np.zeros((9, 9))
    for i, j, e in product(range(9), range(9), range(5)):
        if accounts[i] and accounts[j] and sizes[e]:
            P[i, j] += H[i, e] * H[j, e] / sizes[e] / np.sqrt(accounts[i] * accounts[j])
    W_0, W_1 = rng.normal(size=(9, 4)), rng.normal(size=(4, 4))
    G = factor_theta(hypergraph, "edge")
    found = two_convolutions(
        lambda X: convolve_hypergraph(G, X, None, "none"), torch.from_numpy(W_0), torch.from_numpy(W_1)
    )
    np.testing.assert_allclose(found, relu_layers(P, W_0, W_1), atol=1e-6)


def test_the_autoencoders_mean_square_error_weighs_edges_and_non_edges_alike() -> None:
    network = random_network(10, 0.3, 4)
    A = network.adjacency.toarray() > 0
    logits = np.random.default_rng(2).normal(size=(10, 10))
    logits += logits.T
    found = Reconstruction(network, "mse").loss(
        lambda pool: torch.from_numpy(logits)[:, pool], torch.Generator().manual_seed(0)
    )
    error = (1 / (1 + np.exp(-logits)) - A) ** 2
    expected = (error[A].mean() + error[~A].mean()) * (~A).sum() / A.size  # the whole pool: every column once
    assert float(found) == pytest.approx(expected, rel=1e-5)


def test_keeps_what_is_best_in_a_row_or_a_column_and_never_part_of_a_tie() -> None:
    p = Problem(*(Network.from_edges([], n) for n in (3, 4)), [])
    S = np.array([[5, 4, 4, 1], [9, 1, 1, 1], [0, 0, 0, 0]], np.float32)
    kept = keep_best(p, S, 2).scores.toarray()
    np.testing.assert_array_equal(kept[0], [5, 4, 4, 1])  # by their columns, where a row alone keeps only the 5
    assert keep_best(p, S, 2).scores.indptr.tolist()[1] == 4
    np.testing.assert_array_equal(keep_best(p, S[:, ::-1], 2).scores.toarray(), kept[:, ::-1])


def test_witnesses_are_counted_pair_by_pair() -> None:
    p = problem(5)
    links = np.concatenate([p.anchors, [[next(iter(set(range(12)) - set(p.anchors[:, 0]))), 0]]])
    links = links[np.unique(links[:, 1], return_index=True)[1]]
    A, B = p.left.adjacency.toarray(), p.right.adjacency.toarray()
    found = rank_by_witnesses(Problem(p.left, p.right, []), links, 20).scores.toarray()
    linked = {(int(u), int(v)) for u, v in links}
    for u, v in product(range(12), range(11)):
        count = sum(A[u, a] * B[v, b] for a, b in links)
        degrees = p.left.degrees[u], p.right.degrees[v]
        expected = count + min(degrees) / (2 * max(degrees)) if count else 0
        if (u, v) not in linked:
            assert found[u, v] == pytest.approx(expected, abs=1e-5)


def test_user_matching_and_percolation_recover_an_isomorphic_network() -> None:
    network = communities(80, 4, 0.35, 0.02, 2)
    order = np.random.default_rng(1).permutation(80)
    truth = np.column_stack([order, np.arange(80)])
    p = Problem(network, relabel(network, order), truth[:20])
    found = {(int(u), int(v)) for u, v in link(p)}
    assert len(found & {(int(u), int(v)) for u, v in truth}) > 70
    for name in ("percolation", "faq"):
        best, _ = METHODS[name].align(p, Config()).top(truth[:, 0], 1)
        assert (best[:, 0] == truth[:, 1]).mean() > 0.9


def test_percolation_shares_out_accounts_of_one_edge() -> None:
    """They can never have the two marks of the paper; here no two get the same partner."""
    edges = [(i, j) for i in range(5) for j in range(i)] + [(0, leaf) for leaf in (5, 6, 7)]
    network = Network.from_edges(edges, 8)
    found = METHODS["percolation"].align(Problem(network, network, [(i, i) for i in range(4)]), Config())
    best, _ = found.top(np.arange(4, 8), 1)
    assert best[0, 0] == 4
    assert sorted(best[1:, 0].tolist()) == [5, 6, 7]


def test_squares_are_pairs_of_candidates_that_are_edges_on_both_sides() -> None:
    p = problem(7)
    L = METHODS["common-neighbours"].align(p, Config()).scores
    rows = np.repeat(np.arange(L.shape[0]), np.diff(L.indptr))
    A, B = p.left.adjacency.toarray(), p.right.adjacency.toarray()
    expected = np.array(
        [[A[rows[e], rows[f]] * B[L.indices[e], L.indices[f]] for f in range(L.nnz)] for e in range(L.nnz)]
    )
    np.testing.assert_array_equal(netalign.squares(p, L).toarray(), expected)


def test_the_largest_of_the_others() -> None:
    values, group = np.array([3.0, 1.0, -2.0, 5.0, 5.0, -1.0]), np.array([0, 0, 0, 1, 1, 2])
    np.testing.assert_array_equal(netalign._other_max(values, group), [1, 3, 3, 5, 5, 0])


def test_regal_counts_degrees_at_each_hop() -> None:
    network = random_network(30, 0.1, 4)
    A = network.adjacency.toarray() > 0
    expected = np.zeros((30, int(np.log2(network.degrees.max())) + 1))
    for u in range(30):
        seen, ring = {u}, {u}
        for hop in range(3):
            for v in ring:
                if network.degrees[v]:
                    expected[u, int(np.log2(network.degrees[v]))] += 0.01**hop
            ring = {w for v in ring for w in np.flatnonzero(A[v]).tolist()} - seen
            seen |= ring
    np.testing.assert_allclose(regal._structure(network, int(network.degrees.max())), expected, rtol=1e-6)


def test_gravity_decodes_by_mass_and_distance() -> None:
    rng = np.random.default_rng(0)
    Z, m = rng.normal(size=(5, 3)), rng.normal(size=5)
    found = gravity_logits(torch.from_numpy(Z), torch.from_numpy(Z[:2]), torch.from_numpy(m[:2])).numpy()
    for i, j in product(range(5), range(2)):
        assert found[i, j] == pytest.approx(m[j] - np.log(((Z[i] - Z[j]) ** 2).sum() + 1e-2))


def test_pale_extends_each_network_by_the_edges_of_the_other() -> None:
    left, right = Network.from_edges([(0, 1)], 4), Network.from_edges([(0, 2)], 4)
    extended = pale.extend(Problem(left, right, [(0, 0), (1, 1), (2, 2)]))
    for network in (extended.left, extended.right):
        assert np.argwhere(np.triu(network.adjacency.toarray())).tolist() == [[0, 1], [0, 2]]


def test_merging_makes_one_account_of_an_anchor_and_hyperedges_cross_it() -> None:
    p = problem(2)
    merged = merge(p)
    assert merged.n == 12 + 11 - 4
    for u, v in p.anchors:
        assert merged.left[u] == merged.right[v]
    H = hyperedges(p.right, merged.right, merged.n).toarray()
    for v in range(11):
        neighbours = np.flatnonzero(p.right.adjacency.toarray()[v])
        expected = {int(merged.right[w]) for w in (*neighbours, v)} if len(neighbours) else set()
        assert set(np.flatnonzero(H[:, v]).tolist()) == expected
