"""MGCN in the space that known pairs give two networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kedge.config import PRESETS, Config, resolve, stored_config
from kedge.context.run_context import MemoryCache, RunContext
from kedge.errors import KedgeError
from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.methods import METHODS, mgcn
from kedge.synthetic import planted
from kedge.types import Hypergraph, Problem

SHARED = Config(method="mgcn")


def problem(anchors: int = 12) -> tuple[Problem, np.ndarray]:
    pair = planted(200, 200, 180, 1200, 1200, 0.9, 1)
    drawn = np.random.default_rng(0).permutation(pair.anchors)
    return Problem(pair.left, pair.right, drawn[:anchors]), drawn[anchors:]


def found(given: Problem, test: np.ndarray, *changes: str) -> float:
    """The share of test pairs that are first, from the left."""
    config = resolve(assignments=["method=mgcn", *changes])
    best, _ = mgcn.align(given, config, RunContext()).top(test[:, 0], 1)
    return float((best[:, 0] == test[:, 1]).mean())


def test_each_round_places_accounts_by_the_pairs_that_the_one_before_found(monkeypatch: pytest.MonkeyPatch) -> None:
    given, test = problem()
    coordinates: list[np.ndarray] = []
    locate = mgcn.locate
    monkeypatch.setattr(
        mgcn, "locate", lambda levels, accounts, s: coordinates.append(accounts) or locate(levels, accounts, s)
    )
    reached = found(given, test)
    lefts = coordinates[::2]
    assert len(lefts) == SHARED.shared.rounds
    for accounts in lefts:
        np.testing.assert_array_equal(accounts[: len(given.anchors)], given.anchors[:, 0])
        assert len(np.unique(accounts)) == len(accounts), "one to one"
    assert len(lefts[-1]) > len(lefts[0]) == len(given.anchors)
    assert reached > found(given, test, "shared.rounds=1") + 0.1, "pairs of high confidence help to find others"


def test_a_rejected_pair_is_no_coordinate(monkeypatch: pytest.MonkeyPatch) -> None:
    given, test = problem()
    pairs = test[:50]
    seen: list[np.ndarray] = []
    locate = mgcn.locate
    monkeypatch.setattr(
        mgcn, "locate", lambda levels, accounts, s: seen.append(accounts) or locate(levels, accounts, s)
    )
    found(given, test)
    assert _pairs(seen) & set(map(tuple, pairs.tolist())), "without a reviewer's answer some of them are"
    seen.clear()
    found(replace(given, rejected=pairs), test)
    assert not _pairs(seen) & set(map(tuple, pairs.tolist()))


def _pairs(seen: list[np.ndarray]) -> set[tuple[int, int]]:
    """All pairs that were coordinates of a round."""
    return {
        pair
        for left, right in zip(seen[::2], seen[1::2], strict=True)
        for pair in zip(left.tolist(), right.tolist(), strict=True)
    }


def test_the_space_is_a_setting_and_the_papers_is_trained() -> None:
    given, _ = problem(40)
    few = ["mgcn.steps=5", "mgcn.dimensions=8", "mgcn.space=projected"]
    assert isinstance(METHODS["mgcn"].align(given, SHARED), SparseAlignment)
    assert not METHODS["mgcn"].trains_vectors(SHARED)
    config = resolve(assignments=["method=mgcn", *few])
    try:
        assert isinstance(METHODS["mgcn"].align(given, config), VectorAlignment)
    except KedgeError as error:
        assert "collapsed" in str(error)  # noqa: PT017 (after five steps)
    assert METHODS["mgcn"].trains_vectors(config)
    assert PRESETS["paper"]["mgcn"]["space"] == "projected"


def test_a_run_of_an_earlier_version_was_projected() -> None:
    stored = SHARED.model_dump(mode="json")
    del stored["mgcn"]["space"], stored["shared"]
    assert stored_config(stored).mgcn.space == "projected"
    assert stored_config(SHARED.model_dump(mode="json")).mgcn.space == "shared"


def test_no_anchors_no_place() -> None:
    given, _ = problem()
    with pytest.raises(KedgeError, match="mgcn has no anchors to place accounts by; give at least one known pair"):
        METHODS["mgcn"].align(replace(given, anchors=np.empty((0, 2), np.int64)), SHARED)


def test_a_second_run_with_other_anchors_draws_no_hyperedges() -> None:
    given, test = problem()
    context = RunContext(MemoryCache())
    first = METHODS["mgcn"].align(given, SHARED, context)
    again = METHODS["mgcn"].align(given, SHARED, context)
    np.testing.assert_array_equal(first.score(test), again.score(test))


def test_values_that_both_networks_have_place_accounts_too() -> None:
    given, test = problem(anchors=4)
    rng = np.random.default_rng(5)
    partner = np.full(200, -1)
    partner[np.concatenate([given.anchors, test])[:, 0]] = np.concatenate([given.anchors, test])[:, 1]
    V = [np.zeros((200, 40), np.float32) for _ in range(2)]
    for u in range(200):  # one of 40 values; a fifth of the partners have another
        value = rng.integers(40)
        V[0][u, value] = 1
        if partner[u] >= 0:
            V[1][partner[u], value if rng.random() < 0.8 else rng.integers(40)] = 1
    with_values = replace(given, shared_values=(Hypergraph(V[0]), Hypergraph(V[1])))
    drawn = "hypergraph.builders=neighbourhood+profiles"
    plain = found(given, test)
    assert found(with_values, test, drawn) > plain + 0.2
    assert found(with_values, test, drawn, "shared.profiles=0") == pytest.approx(plain, abs=0.05)
