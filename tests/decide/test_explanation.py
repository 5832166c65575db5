from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kedge.decide.explanation import PairEvidence, explain
from kedge.evidence.terms import Term
from kedge.types import Matches, Network, Problem

TERMS = [Term(1, 1, 1.0, 2.5), Term(2, 2, 0.5, 0.5), Term(3, -1, 0.9, -0.75), Term(-1, 3, 0.4, -0.25)]


@pytest.fixture
def problem() -> Problem:
    left = Network.from_edges([[0, 1], [0, 2], [0, 3]], 6, [f"left{i}" for i in range(6)])
    right = Network.from_edges([[0, 1], [0, 2], [0, 3]], 6, [f"right{i}" for i in range(6)])
    return Problem(left, right, [[1, 1]], [[5, 5]])


@pytest.fixture
def matches(problem: Problem) -> Matches:
    return Matches(
        problem.left.ids,
        problem.right.ids,
        left=np.array([0, 0, 4]),
        right=np.array([0, 4, 0]),
        rank=np.array([1, 2, 1]),
        score=np.array([2.0, 1.0, 1.5]),
        probability=np.array([0.8, 0.1, 0.3]),
        margin=np.array([1.0, -1.0, 1.5]),
        decision=np.array([2, 0, 0]),
        counterpart=np.array([0.95, 0.95, 0.6]),
        assigned=np.array([True, False, False]),
        threshold=0.5,
    )


def test_terms_add_up_to_the_log_odds(problem: Problem, matches: Matches) -> None:
    found = explain(problem, matches, (0, 0), PairEvidence(TERMS, prior=-1.0, similarity=0.7))
    assert found.log_odds == pytest.approx(-1.0 + 2.5 + 0.5 - 0.75 - 0.25)
    assert [(r.left, r.right) for r in found.hits] == [("left1", "right1"), ("left2", "right2")]
    assert [(r.left, r.right) for r in found.misses] == [(None, "right3"), ("left3", None)]
    assert (found.probability, found.rank, found.decision) == (0.8, 1, "match")
    assert found.runner_up.right == "right4"
    assert found.rival.left == "left4"
    assert found.counterpart == 0.95


@pytest.mark.parametrize(
    ("pair", "verdict"),
    [
        ((0, 0), "match"),
        ((0, 4), "no match: the left account is assigned to right0"),
        ((4, 0), "no match: the right account is assigned to left0"),
        ((1, 1), "a known pair: one of the anchors"),
        ((1, 2), "ruled out: the left account is known to be right1"),
        ((2, 1), "ruled out: the right account is known to be left1"),
        ((5, 5), "ruled out by a reviewer"),
    ],
)
def test_the_verdict_is_the_decision_in_words(problem: Problem, matches: Matches, pair: Any, verdict: str) -> None:
    assert explain(problem, matches, pair, PairEvidence()).verdict == verdict


def test_any_pair_is_explained_also_one_that_is_no_candidate(problem: Problem, matches: Matches) -> None:
    found = explain(problem, matches, (4, 5), PairEvidence(TERMS[2:]))
    assert found.probability is None
    assert found.verdict.startswith("not a candidate")
    assert found.runner_up.right == "right0"
    assert "the match of left3 is no neighbour" in str(found)


def test_the_way_to_the_probability_is_a_product(problem: Problem, matches: Matches) -> None:
    found = explain(problem, matches, (0, 0), PairEvidence(TERMS))
    assert found.competition is not None
    assert found.competition.given_counterpart * found.counterpart == pytest.approx(found.probability)
    # Shares of the left account: this candidate 0.8 / 0.95, the other 0.1 / 0.95, the rest is none of them.
    assert found.competition.given_counterpart == pytest.approx(0.8 / 0.95)
    assert found.competition.unlisted == pytest.approx(0.05 / 0.95)
    assert found.competition.others == 0
    assert [(lead.side, lead.rival, lead.lead) for lead in found.competition.leads] == [
        ("left", "right4", 1.0),
        ("right", "left4", 0.5),
    ]
    assert explain(problem, matches, (4, 5), PairEvidence(TERMS)).competition is None, "no candidate"


def test_without_any_chance_of_a_counterpart_nothing_is_divided(problem: Problem, matches: Matches) -> None:
    none = replace(matches, counterpart=np.zeros(3), probability=np.zeros(3))
    found = explain(problem, none, (0, 0), PairEvidence(TERMS)).competition
    assert found is not None
    assert (found.given_counterpart, found.unlisted) == (0.0, 1.0)


def test_a_method_without_evidence_has_no_log_odds(problem: Problem, matches: Matches) -> None:
    assert explain(problem, matches, (0, 0), PairEvidence(None)).log_odds is None


def test_a_neighbour_alone_is_a_miss_only_where_it_counts_against_the_pair(problem: Problem, matches: Matches) -> None:
    found = explain(problem, matches, (0, 0), PairEvidence([Term(2, -1, 0.6, 0.5), Term(3, -1, 0.9, -0.5)]))
    assert [reason.left for reason in found.hits] == ["left2"]
    assert [reason.left for reason in found.misses] == ["left3"]
