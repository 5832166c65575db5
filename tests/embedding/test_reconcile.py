"""Eq. 12: the vectors of a network's parts in one space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kedge.config import resolve
from kedge.embedding.network import Source, embed_network
from kedge.embedding.reconcile import (
    PartVectors,
    paper_map,
    procrustes_map,
    reconcile_parts,
    refine_boundary,
    rotate_onto_sketch,
)
from kedge.synthetic import planted
from kedge.types import Network


def rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def cut_world(rng: np.random.Generator, noise: float = 0.0) -> Any:
    """90 accounts in 3 parts that share the last 60; each part sees them in a space of its own."""
    truth = rng.normal(size=(90, 5))
    home = np.repeat([0, 1, 2], [31, 30, 29])
    shared = np.arange(30, 90)
    parts = []
    for p in range(3):
        accounts = np.union1d(np.flatnonzero(home == p), shared)
        seen = truth[accounts] @ rotation(rng, 5) + noise * rng.normal(size=(len(accounts), 5))
        parts.append(PartVectors(accounts, seen.astype(np.float32), np.full(len(accounts), 3)))
    return truth, home, shared, parts


def dots(X: np.ndarray) -> np.ndarray:
    return X @ X.T


def test_rotated_parts_come_back_as_one_space() -> None:
    truth, home, shared, parts = cut_world(np.random.default_rng(0))
    rotated = reconcile_parts(parts, home, shared)
    assert dots(rotated.vectors) == pytest.approx(dots(truth), abs=1e-4), "the same but for one common rotation"
    assert rotated.residuals == pytest.approx(0, abs=1e-6)
    assert rotated.notes == ()


def test_a_part_that_does_not_fit_is_named() -> None:
    rng = np.random.default_rng(1)
    _, home, shared, parts = cut_world(rng)
    stranger = PartVectors(parts[2].accounts, 5 * rng.normal(size=parts[2].vectors.shape).astype(np.float32),
                           parts[2].degrees)  # fmt: skip
    rotated = reconcile_parts([parts[0], parts[1], stranger], home, shared)
    assert rotated.residuals.argmax() == 2
    assert rotated.notes
    assert all("part 2 " in note for note in rotated.notes)


def test_a_shared_account_is_weighed_by_its_edges_in_each_part() -> None:
    home, shared = np.array([0, 1, 0]), np.array([2])
    one = PartVectors(np.array([0, 2]), np.array([[1.0], [1.0]], np.float32), np.array([1, 9]))
    two = PartVectors(np.array([1, 2]), np.array([[2.0], [2.0]], np.float32), np.array([1, 1]))
    rotated = reconcile_parts([one, two], home, shared, "paper")
    assert rotated.vectors[2, 0] == pytest.approx((9 * 1.0 + 1 * 2.0) / 10, abs=0.01)


@pytest.mark.parametrize("how", ["procrustes", "paper"])
def test_parts_rotated_onto_a_sketch_need_no_shared_accounts(how: str) -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(90, 4)).astype(np.float32)
    home = np.repeat([0, 1, 2], 30)
    parts = []
    for p in range(3):
        guests = rng.choice(np.flatnonzero(home != p), 5, replace=False)
        accounts = np.union1d(np.flatnonzero(home == p), guests)
        seen = (truth[accounts] @ rotation(rng, 4)).astype(np.float32)
        seen[home[accounts] != p] = 99.0  # what a part thinks of its guests does not count
        parts.append(PartVectors(accounts, seen, np.ones(len(accounts))))
    rotated = rotate_onto_sketch(parts, home, truth, how)
    if how == "procrustes":
        assert rotated.vectors == pytest.approx(truth, abs=1e-4)
        assert rotated.residuals == pytest.approx(0, abs=1e-5)
    else:
        cosines = (rotated.vectors * truth).sum(axis=1)
        assert (cosines > 0).mean() > 0.95, "Eq. 12 asks for the right side of the sketch, no more"


def test_a_part_that_does_not_fit_the_sketch_is_named() -> None:
    rng = np.random.default_rng(5)
    truth, home = rng.normal(size=(400, 4)), np.repeat([0, 1], 200)
    parts = [
        PartVectors(np.arange(200), truth[:200] @ rotation(rng, 4), np.ones(200)),
        PartVectors(np.arange(200, 400), rng.normal(size=(200, 4)), np.ones(200)),
    ]
    rotated = rotate_onto_sketch(parts, home, truth)
    assert [note.partition(" (")[0] for note in rotated.notes] == ["part 1"]


def test_one_part_is_itself() -> None:
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    rotated = reconcile_parts([PartVectors(np.arange(3), X, np.ones(3))], np.zeros(3, int), np.empty(0, int))
    assert (rotated.vectors == X).all()


def test_procrustes_is_the_best_rotation() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(20, 4)), rng.normal(size=(20, 4))
    R = procrustes_map(X, Y)
    assert np.allclose(R.T @ R, np.eye(4))
    best = ((X @ R - Y) ** 2).sum()
    assert all(((X @ rotation(rng, 4) - Y) ** 2).sum() >= best - 1e-9 for _ in range(200))


def oracle_objective(X: Any, Y: Any, R: Any) -> float:
    """Eq. 12, term by term."""
    total = 0.0
    for i in range(len(X)):
        dot = sum(X[i, a] * R[a, b] * Y[i, b] for a in range(X.shape[1]) for b in range(Y.shape[1]))
        total += np.log(1 / (1 + np.exp(-dot)))
    return total


def test_the_papers_objective_is_maximised_over_matrices_of_its_norm() -> None:
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(15, 3)), rng.normal(size=(15, 3))
    R = paper_map(X, Y)
    assert np.linalg.norm(R) == pytest.approx(np.sqrt(3))
    best = oracle_objective(X, Y, R)
    for _ in range(300):
        other = rng.normal(size=(3, 3))
        assert oracle_objective(X, Y, other * np.sqrt(3) / np.linalg.norm(other)) <= best + 1e-3


def test_boundary_refinement_by_hand() -> None:
    # 0-1 inside part 0, 1-2 across. Account 1 has half its edges outside, so a quarter of the way to 2.
    network = Network.from_edges([(0, 1), (1, 2)], 3)
    X = np.array([[0.0], [0.0], [8.0]], np.float32)
    moved = refine_boundary(network, np.array([0, 0, 1]), X, 1)
    assert moved.ravel().tolist() == [0.0, 2.0, 4.0]
    assert (refine_boundary(network, np.array([0, 0, 1]), X, 0) == X).all()
    assert (refine_boundary(network, np.array([0, 0, 0]), X, 3) == X).all()


SMALL = [
    "partition.n_max=120", "partition.n_min=40", "partition.shared=40", "engine.name=serial",
    "mgcn.dimensions=8", "mgcn.steps=60", "hypergraph.nearest=8",
]  # fmt: skip


@pytest.fixture(scope="module")
def network() -> Network:
    return planted(300, 300, 200, 1800, 1800, 0.5, 0).left


def test_a_cut_network_keeps_neighbours_near(network: Network) -> None:
    config = resolve(assignments=SMALL)
    made = embed_network(Source(network, np.empty(0, np.int64), 0), config)
    assert made.parts.count >= 3
    X = made.vectors / np.linalg.norm(made.vectors, axis=1, keepdims=True)
    rows = np.repeat(np.arange(network.n), network.degrees)
    joined = (X[rows] * X[network.adjacency.indices]).sum(axis=1).mean()
    rng = np.random.default_rng(0)
    strangers = (X[rng.integers(network.n, size=2000)] * X[rng.integers(network.n, size=2000)]).sum(axis=1).mean()
    assert joined > strangers + 0.2


def test_processes_train_the_same_parts(network: Network) -> None:
    serial = embed_network(
        Source(network, np.empty(0, np.int64), 0), resolve(assignments=[*SMALL, "engine.name=serial"])
    )
    config = resolve(assignments=[*SMALL, "engine.name=processes", "engine.workers=2"])
    parallel = embed_network(Source(network, np.empty(0, np.int64), 0), config)
    assert np.array_equal(serial.vectors, parallel.vectors)


def test_one_part_equals_none(network: Network) -> None:
    whole = embed_network(
        Source(network, np.empty(0, np.int64), 0), resolve(assignments=[*SMALL, "partition.n_max=300"])
    )
    assert whole.parts.count == 1
    assert len(whole.parts.shared) == 0
