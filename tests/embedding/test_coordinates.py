"""Vectors of two networks in coordinates of known pairs, against a dense oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
from graphs import communities

from kedge.config import Config
from kedge.context.run_context import MemoryCache
from kedge.embedding import coordinates
from kedge.embedding.coordinates import Coordinates, compress, locate, prepare_levels
from kedge.types import FloatArray, Hypergraph, Network, Problem

ANCHORS = np.array([(0, 3), (5, 1), (9, 9), (20, 14)])
SHARED = {"members": 100, "entries": 100, "hops": 4}


def networks() -> tuple[Network, Network]:
    return communities(40, 4, 0.5, 0.05, 1), communities(30, 3, 0.5, 0.08, 2)


def problem(own: tuple[Hypergraph | None, Hypergraph | None] = (None, None)) -> Problem:
    return Problem(*networks(), ANCHORS, hypergraphs=own)


def config(**changes: Any) -> Config:
    return Config.model_validate({"shared": {**SHARED, **changes}})


def place(asked: Config, given: Problem | None = None) -> list[Coordinates]:
    given = given or problem()
    levels = prepare_levels(given, asked, MemoryCache())
    return [locate(levels[side], given.anchors[:, side], asked.shared) for side in (0, 1)]


def cosines(left: Coordinates, right: Coordinates) -> FloatArray:
    return np.asarray((left.entries @ right.entries.T).toarray() + left.tail @ right.mirrored.T)


def test_cosines_are_those_of_the_dense_vectors() -> None:
    asked = config()
    shared = asked.shared
    vectors = [
        oracle.shared_coordinates(
            network.adjacency.toarray().astype(float),
            ANCHORS[:, side].tolist(),
            (shared.restart, shared.hops),
            shared.own,
            shared.contrast,
            shared.degree,
        )
        for side, network in enumerate(networks())
    ]
    left, right = place(asked)
    np.testing.assert_allclose(cosines(left, right), vectors[0] @ vectors[1].T, atol=2e-5)
    np.testing.assert_allclose(np.diag(cosines(left, left)), 1, atol=2e-5)


def test_each_level_has_its_columns() -> None:
    simple, hypergraph, both = (place(config(levels=levels))[0] for levels in ("simple", "hypergraph", "both"))
    assert simple.entries.shape[1] == hypergraph.entries.shape[1] == len(ANCHORS)
    assert both.entries.shape[1] == 2 * len(ANCHORS)
    assert simple.entries.nnz < hypergraph.entries.nnz, "a walk reaches more than neighbours"


def test_rows_keep_their_largest_entries_and_networks_of_very_many_accounts_get_smaller_hyperedges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, cut = (place(config(levels="hypergraph", degree=0, entries=entries))[0] for entries in (100, 2))
    assert np.diff(whole.entries.indptr).max() > 2
    assert np.diff(cut.entries.indptr).max() == 2
    row = int(np.argmax(np.diff(whole.entries.indptr)))
    largest = np.argsort(-whole.entries[[row]].toarray()[0])[:2]
    assert set(cut.entries[[row]].indices) == set(largest)
    monkeypatch.setattr(coordinates, "_MOST_MEMBERS", 40 * 5)
    left, _ = prepare_levels(problem(), config(), MemoryCache())
    assert np.diff(left.hypergraph.indptr).max() == 5


def test_accounts_that_no_known_pair_reaches_have_no_place() -> None:
    apart = Network.from_edges([(0, 1), (1, 2), (3, 4)], 6)
    given = Problem(apart, apart, [(0, 0)])
    for side in place(config(), given):
        assert side.placed.tolist() == [0, 1, 2]
        assert not compress(side, 8, 0)[3:].any()


def test_ones_own_hyperedges_weigh_the_edges_that_they_contain() -> None:
    H = np.zeros((40, 1), np.float32)
    H[:10] = 1
    plain, weighed = (
        prepare_levels(problem(own), config(), MemoryCache())[0] for own in ((None, None), (Hypergraph(H), None))
    )
    A = networks()[0].adjacency.toarray()
    A[:10, :10] *= 2
    S = oracle.a_hat(A.astype(float)) - np.eye(40)
    own = config().shared.own
    np.testing.assert_allclose(weighed.simple.toarray(), own * np.eye(40) + (1 - own) * S, atol=1e-6)
    assert (plain.hypergraph != weighed.hypergraph).nnz > 0


def test_hyperedges_are_drawn_once_whatever_the_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, drawn = MemoryCache(), []
    surround = coordinates.surround
    monkeypatch.setattr(coordinates, "surround", lambda *given: drawn.append(1) or surround(*given))
    first = prepare_levels(problem(), config(), cache)
    again = prepare_levels(Problem(*networks(), ANCHORS[:2]), config(), cache)
    assert len(drawn) == 2, "one for each network"
    assert (first[1].hypergraph != again[1].hypergraph).nnz == 0


def test_compressed_vectors_keep_the_cosines_roughly() -> None:
    left, right = place(config())
    X, Y = (compress(side, 4096, 3) for side in (left, right))
    X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, Y))
    assert np.abs(X @ Y.T - cosines(left, right)).max() < 0.1


def test_values_of_profiles_are_coordinates_of_both_networks() -> None:
    """Against loops: a third level, of values that both networks have, and few accounts; none is neutral."""
    rng = np.random.default_rng(7)
    V = [(rng.random((n, 6)) < 0.1).astype(np.float32) for n in (40, 30)]
    V[0][:, 4], V[1][:, 5] = 0, 1  # a value of one network alone, and one that all have
    V[0][0, 0] = V[1][3, 0] = 1
    V[0][7] = 0  # no value at all
    drawn = {"largest": 12, "builders": "neighbourhood+profiles"}
    asked = Config.model_validate({"shared": {**SHARED, "degree": 0.2, "profiles": 0.3}, "hypergraph": drawn})
    given = replace(problem(), shared_values=(Hypergraph(V[0]), Hypergraph(V[1])))
    left, right = place(asked, given)
    kept = [e for e in range(6) if all(1 <= (own[:, e] > 0).sum() <= 12 for own in V)]
    assert 4 not in kept
    assert 5 not in kept
    assert left.widths == (4, 4, len(kept))
    shared = asked.shared
    vectors = []
    for side, network in enumerate(networks()):
        walk = (shared.restart, shared.hops)
        A = network.adjacency.toarray().astype(float)
        structure = oracle.shared_coordinates(A, ANCHORS[:, side].tolist(), walk, shared.own, shared.contrast, 0.2)
        rows = []
        for v in range(network.n):
            x = np.zeros(len(kept))
            for k, e in enumerate(kept):
                x[k] = np.log(shared.contrast + V[side][v, e] / V[side][:, e].mean())
            level = 0.3 * x / np.linalg.norm(x) if V[side][v, kept].any() else np.zeros(len(kept))
            # the oracle's two levels have length 1 each, so its whole had length (2 + (w z)²)^1/2
            row = np.concatenate([structure[v] * np.sqrt(2 + structure_degree(structure[v])), level])
            rows.append(row / np.linalg.norm(row))
        vectors.append(np.array(rows))
    np.testing.assert_allclose(cosines(left, right), vectors[0] @ vectors[1].T, atol=2e-5)
    X, Y = (compress(side, 4096, 3) for side in (left, right))
    X, Y = (Z / np.linalg.norm(Z, axis=1, keepdims=True) for Z in (X, Y))
    assert np.abs(X @ Y.T - cosines(left, right)).max() < 0.1


def structure_degree(row: FloatArray) -> float:
    """(w z)² of a vector whose two levels had length 1 before the whole was divided by (2 + (w z)²)^1/2."""
    last = row[-1] ** 2
    return float(2 * last / (1 - last))


def test_without_a_value_in_common_profiles_change_nothing() -> None:
    none = replace(
        problem(),
        shared_values=(Hypergraph(np.eye(40, 2, dtype=np.float32)), Hypergraph(np.zeros((30, 2), np.float32))),
    )
    for plain, given in zip(place(config()), place(config(), none), strict=True):
        assert (plain.entries != given.entries).nnz == 0
