"""The prior from MGCN's shared space: leads by loops, true pairs above false ones, and where it has nothing to say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphs import communities
from hypothesis import given
from hypothesis import strategies as st

from kedge.config import resolve
from kedge.context import RunContext
from kedge.embedding.coordinates import prepare_levels
from kedge.evidence.pairing import with_vectors
from kedge.evidence.shared_prior import lead, shared_prior
from kedge.methods import METHODS
from kedge.synthetic import subnetworks
from kedge.types import Hypergraph, IntArray, Problem

CONFIG = resolve(assignments=["method=kedge"])


@pytest.fixture(scope="module")
def drawn() -> tuple[Problem, IntArray]:
    pair = subnetworks(communities(300, 15, 0.5, 0.005, 1), 0.8, 0.8, 1)
    anchors = np.random.default_rng(1).permutation(pair.anchors)
    return Problem(pair.left, pair.right, anchors[:30]), anchors[30:]


def prior(problem: Problem, known: IntArray | None = None) -> np.ndarray | None:
    levels = prepare_levels(problem, CONFIG, RunContext().cache)
    found = shared_prior(problem, problem.anchors if known is None else known, levels, CONFIG.shared, 0)
    return None if found is None else found.toarray()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3)), max_size=12))
def test_a_lead_is_over_the_best_other_candidate_of_the_account(rows: list[tuple[int, int]]) -> None:
    account, score = (np.array([row[i] for row in rows], dtype) for i, dtype in ((0, np.int64), (1, np.float64)))
    expected = []
    for i, (mine, value) in enumerate(rows):
        others = [other for j, (its, other) in enumerate(rows) if its == mine and j != i]
        expected.append(value - max(others) if others else 0.3)
    assert lead(account, score, 4).tolist() == expected


def test_true_pairs_are_likelier_than_false_ones_and_known_pairs_are_no_candidates(
    drawn: tuple[Problem, IntArray],
) -> None:
    problem, held = drawn
    found = prior(problem)
    assert found is not None
    true = found[held[:, 0], held[:, 1]]
    assert np.median(true[true != 0]) > 2
    false = found.copy()
    false[held[:, 0], held[:, 1]] = 0
    assert np.median(false[false != 0]) < 0
    assert not found[problem.anchors[:, 0]].any()
    assert not found[:, problem.anchors[:, 1]].any()


def test_a_certain_match_has_a_prior_from_placements_in_which_it_is_no_coordinate(
    drawn: tuple[Problem, IntArray],
) -> None:
    problem, held = drawn
    wrong = np.array([[held[0, 0], held[1, 1]]])
    found = prior(problem, np.concatenate([problem.anchors, wrong]))
    assert found is not None
    assert found[tuple(wrong[0])] < found[tuple(held[0])], "to be known does not make a pair likelier"


def test_rejected_pairs_have_none(drawn: tuple[Problem, IntArray]) -> None:
    problem, held = drawn
    found = prior(replace(problem, rejected=held[:5]))
    assert found is not None
    assert not found[held[:5, 0], held[:5, 1]].any()


def test_too_few_known_pairs_are_no_prior(drawn: tuple[Problem, IntArray]) -> None:
    assert prior(drawn[0], drawn[0].anchors[:2]) is None


def test_the_shared_space_is_used_where_it_is_asked_for(drawn: tuple[Problem, IntArray]) -> None:
    problem, _ = drawn
    assert with_vectors(problem, CONFIG).pairing.vectors == "sketch"
    asked = CONFIG.model_copy(update={"pairing": CONFIG.pairing.model_copy(update={"vectors": "shared"})})
    assert with_vectors(problem, asked) is asked
    own = Hypergraph(communities(problem.left.n, 3, 0.1, 0.1, 0).adjacency)
    assert with_vectors(replace(problem, hypergraphs=(own, None)), CONFIG).pairing.vectors == "mgcn"


def test_the_method_with_it_gives_the_same_scores_every_time(drawn: tuple[Problem, IntArray]) -> None:
    config = resolve(assignments=["method=kedge", "pairing.use=yes", "pairing.vectors=shared", "evidence.form=sparse"])
    one, two = (METHODS["kedge"].align(drawn[0], config) for _ in range(2))
    assert np.array_equal(one.scores.toarray(), two.scores.toarray())  # type: ignore[attr-defined]
