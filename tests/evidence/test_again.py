"""Evidence after accounts have lost their edges: near to a run from the beginning, without the removed accounts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evidence_problems import planted

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence import realign
from kedge.linalg import row_index, without_entries
from kedge.methods import METHODS
from kedge.types import IntArray, Network, Problem


def _without(network: Network, accounts: IntArray) -> Network:
    return Network(without_entries(network.adjacency, accounts, accounts), network.ids)


def _first(found: object, n: int) -> IntArray:
    return np.asarray(found.top(np.arange(n), 1)[0][:, 0])  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["evidence", "kedge"])
def test_it_is_near_to_a_run_from_the_beginning_and_lacks_the_removed_accounts(name: str) -> None:
    problem, _ = planted(n=300, anchors=60, seed=5)
    method, config = METHODS[name], Config(method=name)
    config = method.choose_settings(
        problem, config.model_copy(update={"evidence": config.evidence.model_copy(update={"form": "sparse"})})
    )
    before = method.align(problem, config)
    free = np.setdiff1d(np.arange(300), problem.anchors[:, 1])[:8]
    lost = replace(problem, right=_without(problem.right, free))
    again = method.realign(lost, before, config, RunContext())
    fresh = method.align(lost, config)
    assert not np.isin(again.strengths.indices, free).any()  # type: ignore[attr-defined]
    assert not np.isin(again.support.beliefs.indices, free).any()  # type: ignore[union-attr]
    agreed = _first(again, 300) == _first(fresh, 300)
    assert agreed.mean() > 0.9
    anchors = again.support.beliefs[problem.anchors[:, 0], problem.anchors[:, 1]]  # type: ignore[union-attr]
    assert (anchors == 1).all(), "anchors stay certain"


def test_sides_exchanged_give_the_mirrored_result() -> None:
    problem, _ = planted(n=200, anchors=50, seed=6)
    method, config = METHODS["evidence"], Config(method="evidence")
    config = method.choose_settings(problem, config)
    lost = replace(problem, right=_without(problem.right, np.arange(150, 160)))
    one = method.realign(lost, method.align(problem, config), config, RunContext())
    other = method.realign(lost.mirrored(), method.align(problem.mirrored(), config), config, RunContext()).mirrored()
    np.testing.assert_allclose(one.scores.toarray(), other.scores.toarray(), atol=1e-9)  # type: ignore[attr-defined]


def test_where_beliefs_are_not_all_the_run_starts_from_the_beginning() -> None:
    problem, _ = planted(n=80, anchors=30, seed=7)
    config = Config(method="evidence")
    before = METHODS["evidence"].align(problem, config)
    mixed = config.model_copy(update={"pairing": config.pairing.model_copy(update={"mixture": (1.0,) * 6})})
    assert realign(problem, mixed, before, RunContext()) is None
    dense = config.model_copy(update={"evidence": config.evidence.model_copy(update={"form": "dense"})})
    assert realign(problem, dense, before, RunContext()) is None
    other = METHODS["common-neighbours"]
    found = other.align(problem, config)
    assert realign(problem, config, found, RunContext()) is None, "no beliefs"
    again = other.realign(problem, found, config, RunContext())
    assert (row_index(again.scores) == row_index(found.scores)).all()  # type: ignore[attr-defined]


def test_nothing_changes_where_nothing_is_lost_and_beliefs_rest() -> None:
    problem, _ = planted(n=200, anchors=80, seed=8)
    config = Config(method="evidence")
    sparse: Problem = problem
    settled = config.model_copy(
        update={"evidence": config.evidence.model_copy(update={"form": "sparse", "rounds": 80, "least_rounds": 80})}
    )
    before = METHODS["evidence"].align(sparse, settled)
    again = realign(sparse, settled, before, RunContext())
    assert again is not None
    assert (_first(again, 200) == _first(before, 200)).mean() > 0.98
