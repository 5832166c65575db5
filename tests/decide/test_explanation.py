from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from kedge.decide.explanation import PairEvidence, as_dict, as_text, explain
from kedge.evidence.model import Term
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
    assert "the match of left3 is no neighbour" in as_text(found)


def test_dict_is_json(problem: Problem, matches: Matches) -> None:
    found = explain(problem, matches, (0, 0), PairEvidence(TERMS), ("few anchors",))
    data = json.loads(json.dumps(as_dict(found), allow_nan=False))
    assert data["hits"][0] == {"left": "left1", "right": "right1", "belief": 1.0, "weight": 2.5}
    assert data["notes"] == ["few anchors"]


def test_text_is_a_waterfall_whose_steps_add_up(problem: Problem, matches: Matches) -> None:
    many = [Term(1, 1, 1.0, 1 / (i + 1)) for i in range(30)]
    text = as_text(explain(problem, matches, (0, 0), PairEvidence(many, prior=0.5)), most=4)
    steps = [line for line in text.splitlines() if line.startswith("    ")]
    values = [float(next(w for w in line.split() if w[0] in "+-" and "." in w)) for line in steps]
    assert "26 more matched neighbours" in text
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=0.01)
    assert "runner-up for left0: right4 (0.100)" in text


def test_text_without_evidence(problem: Problem, matches: Matches) -> None:
    text = as_text(explain(problem, matches, (2, 5), PairEvidence()))
    assert "no matched neighbour is evidence for or against" in text


def test_hostile_names_stay_on_their_line() -> None:
    left = Network.from_edges([[0, 1]], 2, ["evil\n\x1b[31m", "b"])
    right = Network.from_edges([[0, 1]], 2, ["c", "d"])
    empty = np.empty(0)
    matches = Matches(
        left.ids, right.ids, *([empty.astype(int)] * 3), *([empty] * 3), empty.astype(int), empty, empty > 0, 0.5
    )
    text = as_text(explain(Problem(left, right, []), matches, (0, 0), PairEvidence()))
    assert "\x1b" not in text
    assert text.splitlines()[0] == "evil\\n\\x1b[31m  =  c ?"
