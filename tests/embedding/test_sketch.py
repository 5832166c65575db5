"""The sketch that parts begin from: its matrix term by term, one space for all parts, and what a part's key holds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from graphs import communities
from scipy.sparse import csr_array

from kedge.config import resolve
from kedge.embedding.network import embed_network
from kedge.embedding.part import key_of
from kedge.embedding.plan import Source, make_plan
from kedge.embedding.sketch import concatenate_sketch, first_vectors
from kedge.linalg import sketch_network
from kedge.types import Hypergraph, Network

NO_ANCHORS = np.empty(0, np.int64)
SMALL = [
    "partition.n_max=120", "partition.n_min=40", "partition.shared=40", "engine.name=serial",
    "mgcn.dimensions=8", "mgcn.steps=60", "mgcn.drop_edges=0", "hypergraph.nearest=8",
    "partition.sketch_length=1",  # so few steps need all edges, and to move far
]  # fmt: skip


@pytest.fixture(scope="module")
def network() -> Network:
    return communities(300, 6, 0.15, 0.01, 0)


def oracle_gram(network: Network, d: int, smoothing: int) -> np.ndarray:
    """S Sᵀ of a sketch by loops and a full SVD; the vectors themselves are free up to a rotation."""
    A, n = network.adjacency.toarray() > 0, network.n
    degree = [int(A[i].sum()) for i in range(n)]
    total = sum(k**0.75 for k in degree)
    M, P = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if A[i, j]:
                M[i, j] = max(0.0, math.log(1 / degree[i]) - math.log(degree[j] ** 0.75 / total))
                P[i, j] = 1 / math.sqrt(degree[i] * degree[j])
    U, values, _ = np.linalg.svd(M)
    S = U[:, :d] * np.sqrt(values[:d])
    for _ in range(smoothing):
        S = (S + P @ S) / 2
    S /= np.sqrt((S**2).sum() / n)
    return S @ S.T


@pytest.mark.parametrize("smoothing", [0, 3])
def test_the_sketch_is_its_formula(smoothing: int) -> None:
    network = communities(80, 4, 0.3, 0.03, 1)
    S = sketch_network(network, 80, smoothing, 0).astype(np.float64)
    assert np.abs(S @ S.T - oracle_gram(network, 80, smoothing)).max() < 2e-3


def test_a_network_of_few_directions_has_its_sketch_and_nothing_of_rounding() -> None:
    """A star's matrix has rank 2, far less than the columns that look for it."""
    star = Network.from_edges([(0, i) for i in range(1, 60)], 60)
    S = sketch_network(star, 16, 0, 0).astype(np.float64)
    assert np.abs(S @ S.T - oracle_gram(star, 2, 0)).max() < 1e-4
    assert np.linalg.matrix_rank(S, tol=1e-3) <= 2


def test_a_sketch_of_few_dimensions_keeps_the_largest() -> None:
    network = communities(120, 4, 0.4, 0.02, 1)
    S = sketch_network(network, 4, 0, 0).astype(np.float64)
    expected = oracle_gram(network, 4, 0)
    assert np.abs(S @ S.T - expected).max() < 0.05 * np.abs(expected).max()


def test_tiny_and_edgeless_networks_have_a_sketch_too() -> None:
    assert not sketch_network(Network.from_edges([], 5), 3, 8, 0).any()
    lonely = sketch_network(Network.from_edges([(0, 1), (1, 2)], 4), 8, 2, 0)
    assert lonely.shape == (4, 8)
    assert np.isfinite(lonely).all()
    assert not lonely[3].any()
    assert first_vectors(lonely, 8.0, 0)[3].any(), "a first vector of 0 could never learn"


def test_an_account_that_learnt_nothing_has_a_vector_of_0() -> None:
    both = concatenate_sketch(np.ones((2, 1), np.float32), np.array([[0.0], [5.0]], np.float32), 0.5)
    assert both[0].tolist() == [0.0, 0.0]
    assert both[1] == pytest.approx([1.0, 0.5 * math.sqrt(2)])


def test_parts_begin_in_one_space(network: Network) -> None:
    config = resolve(assignments=SMALL)
    plan = make_plan(Source(network, NO_ANCHORS, 0), config)
    assert plan.parts.count >= 3
    seen: dict[int, np.ndarray] = {}
    for accounts, job in zip(plan.accounts, plan.jobs, strict=True):
        assert job.first is not None
        assert job.config.mgcn.held_out == 0, "the sketch contains the edges that would be held out"
        for account, vector in zip(accounts.tolist(), job.first, strict=True):
            assert np.array_equal(seen.setdefault(account, vector), vector)
    assert sum(len(accounts) for accounts in plan.accounts) > network.n == len(seen)


def test_a_part_has_the_rare_values_of_its_own_accounts(network: Network) -> None:
    value = np.arange(network.n) % 40  # each of few accounts
    given = np.column_stack([np.eye(40, dtype=np.float32)[value], np.ones(network.n, np.float32)])
    config = resolve(assignments=[*SMALL, "hypergraph.builders=neighbourhood+profiles"])
    plan = make_plan(Source(network, NO_ANCHORS, 0, shared_values=Hypergraph(csr_array(given))), config)
    assert plan.parts.count >= 3
    for accounts, job in zip(plan.accounts, plan.jobs, strict=True):
        assert job.shared_values is not None
        assert np.array_equal(job.shared_values.H.toarray(), given[accounts, :40])  # not what all have
        assert key_of(job) != key_of(replace(job, shared_values=None))


def test_a_parts_key_holds_where_it_begins(network: Network) -> None:
    job = make_plan(Source(network, NO_ANCHORS, 0), resolve(assignments=SMALL)).jobs[0]
    assert job.first is not None
    moved = job.first.copy()
    moved[0, 0] += 1
    keys = {key_of(job), key_of(replace(job, first=moved)), key_of(replace(job, first=None))}
    assert len(keys) == 3
    assert key_of(make_plan(Source(network, NO_ANCHORS, 0), resolve(assignments=SMALL)).jobs[0]) in keys


def test_neighbours_in_different_parts_are_nearer_than_others() -> None:
    network = communities(300, 6, 0.2, 0.01, 2)
    made = embed_network(Source(network, NO_ANCHORS, 0), resolve(assignments=[*SMALL, "partition.learned_weight=0"]))
    X = made.vectors / np.maximum(np.linalg.norm(made.vectors, axis=1, keepdims=True), 1e-12)
    rows = np.repeat(np.arange(network.n), network.degrees)
    across = made.parts.part[rows] != made.parts.part[network.adjacency.indices]
    joined = (X[rows[across]] * X[network.adjacency.indices[across]]).sum(axis=1).mean()
    rng = np.random.default_rng(0)
    u, v = rng.integers(network.n, size=(2, 4000))
    apart = made.parts.part[u] != made.parts.part[v]
    strangers = (X[u[apart]] * X[v[apart]]).sum(axis=1).mean()
    assert joined > strangers + 0.1


def test_the_paper_preset_has_no_sketch(network: Network) -> None:
    config = resolve("paper", assignments=SMALL)
    plan = make_plan(Source(network, NO_ANCHORS, 0), config)
    assert plan.sketch is None
    assert all(job.first is None for job in plan.jobs)
    assert len(plan.parts.shared) == 40
