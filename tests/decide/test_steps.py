"""An explanation in three steps: what is shown adds up, and every neighbour is counted once."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.decide.explanation import Candidate, Competition, Explanation, Lead, Reason
from kedge.decide.steps import (
    LOG_ODDS_DIGITS,
    add_up,
    as_dict,
    as_text,
    counterpart_words,
    evidence_lines,
    isolated,
    lead_words,
    rival_lines,
)

WEIGHTS = st.lists(st.floats(-60, 60), max_size=40)
SHARES = st.floats(0, 1)


def explanation(hits: list[float], misses: list[float], prior: float = 0.0, vectors: float = 0.0) -> Explanation:
    return Explanation(
        left="anna",
        right="anna_99",
        verdict="review",
        prior=prior,
        hits=tuple(Reason(f"a{i}", f"b{i}", 0.5, weight) for i, weight in enumerate(hits)),
        misses=tuple(Reason(None, f"m{i}", 0.5, weight) for i, weight in enumerate(misses)),
        log_odds=prior + vectors + sum(hits) + sum(misses),
        similarity=None,
        score=3.0,
        probability=0.36,
        counterpart=0.9,
        rank=1,
        decision="review",
        competition=Competition((Lead("left", "ann", -0.25),), 0.4, 3, 0.1, 0.2),
        runner_up=Candidate("anna", "ann", 3.25, 0.27, 0.3, "no match"),
        rival=None,
        vectors=vectors,
    )


@given(st.lists(st.floats(-1e4, 1e4), max_size=60), st.integers(0, 4))
def test_rounded_values_add_up_to_the_rounded_total(values: list[float], digits: int) -> None:
    shown = add_up(values, sum(values), digits)
    assert round(sum(shown), digits) == pytest.approx(round(sum(values), digits), abs=1e-9)
    assert np.abs(np.asarray(shown) - values).max(initial=0.0) <= 10**-digits + 1e-9


@given(WEIGHTS, WEIGHTS, st.floats(-9, 9), st.floats(-9, 9), st.integers(0, 12))
def test_lines_add_up_to_the_log_odds_and_count_every_neighbour(
    hits: list[float], misses: list[float], prior: float, vectors: float, most: int
) -> None:
    found = explanation(hits, misses, prior, vectors)
    assert found.log_odds is not None
    lines = evidence_lines(found, most)
    assert sum(line.value for line in lines) == pytest.approx(round(found.log_odds, LOG_ODDS_DIGITS), abs=1e-6)
    assert sum(line.neighbours for line in lines) == len(hits) + len(misses)
    named = [line.words for line in lines if line.neighbours == 1]
    assert len(set(named)) == len(named) <= 2 * most + 2


@given(SHARES, SHARES, SHARES)
def test_the_shares_of_the_candidates_add_up_to_one(mine: float, second: float, others: float) -> None:
    whole = max(mine + second + others, 1.0)
    mine, second, others = mine / whole, second / whole, others / whole
    found = explanation([], [])
    assert found.competition is not None
    assert found.runner_up is not None
    competition = replace(found.competition, given_counterpart=mine, others_given_counterpart=others)
    shown = replace(found, competition=competition, runner_up=replace(found.runner_up, given_counterpart=second))
    lines = rival_lines(shown)
    assert lines[0].value == round(mine, 3)
    assert sum(line.value for line in lines) == pytest.approx(1.0, abs=2e-3)
    if len(lines) == 4:
        assert sum(line.value for line in lines) == pytest.approx(1.0, abs=1e-9)


def test_shares_that_are_more_than_one_together_are_explained() -> None:
    found = explanation([], [])
    assert found.competition is not None
    assert not any("more than 1" in str(words) for words in lead_words(found))
    crowded = replace(found, competition=replace(found.competition, given_counterpart=0.7, unlisted=0.0))
    assert [line.value for line in rival_lines(crowded)] == [0.7, 0.3, 0.1]
    assert "together more than 1" in as_text(crowded)


@given(SHARES, SHARES)
def test_the_product_shown_is_the_probability(share: float, counterpart: float) -> None:
    found = explanation([], [])
    assert found.competition is not None
    competition = replace(found.competition, given_counterpart=share)
    shown = replace(found, competition=competition, counterpart=counterpart, probability=share * counterpart)
    numbers, _ = counterpart_words(shown)
    first, second, result = map(float, re.findall(r"[\d.]+", str(numbers[0])))
    assert first * second == pytest.approx(result, abs=2e-3)


def test_text_has_three_named_steps_and_adds_up() -> None:
    text = as_text(explanation([1 / (i + 1) for i in range(30)], [-0.5], prior=0.5), most=4)
    titles = [line.strip()[:12] for line in text.splitlines() if re.match(r"  \d\. ", line)]
    assert titles == ["1. Evidence ", "2. Rivals: w", "3. Counterpa"]
    first = text[text.index("1. ") : text.index("2. ")]
    values = [float(found) for found in re.findall(r"^ +([+-][\d.]+)", first, re.M)]
    assert sum(values[:-1]) == pytest.approx(values[-1], abs=1e-9)
    assert "and 26 more for the pair, together" in text
    assert "score 0.25 below ann, the left account's best other candidate" in text
    assert "0.400 × 0.900 = 0.360" in text


def test_json_has_the_steps_by_name_and_all_neighbours() -> None:
    found = replace(explanation([2.5] * 30, [-0.5] * 3, prior=1.0), notes=("few anchors",))
    data = json.loads(json.dumps(as_dict(found), allow_nan=False))
    evidence, rivals, counterpart = data["steps"]
    assert [step["name"] for step in data["steps"]] == ["evidence", "rivals", "counterpart"]
    assert evidence["neighbours"] + evidence["prior"] + evidence["vectors"] == pytest.approx(evidence["log_odds"])
    assert evidence["neighbours"] == pytest.approx(sum(r["weight"] for r in data["hits"] + data["misses"]))
    assert rivals["given_counterpart"] * counterpart["counterpart"] == pytest.approx(counterpart["probability"])
    assert data["hits"][0] == {"left": "a0", "right": "b0", "belief": 0.5, "weight": 2.5}
    assert (len(data["hits"]), len(data["misses"])) == (30, 3)
    assert data["notes"] == ["few anchors"]


def test_a_method_without_evidence_has_its_score_and_the_other_steps() -> None:
    text = as_text(replace(explanation([], []), log_odds=None, similarity=0.75))
    assert "not known of single neighbours; score 3.00" in text
    assert "similarity of the vectors 0.750" in text
    assert "0.400 × 0.900 = 0.360" in text


def test_small_scores_are_not_rounded_to_nothing() -> None:
    found = replace(explanation([], []), score=0.0123, log_odds=None)
    assert found.competition is not None
    found = replace(found, competition=replace(found.competition, leads=(Lead("right", "bob", 0.00034),)))
    assert "this pair (score 0.012)" in as_text(found)
    assert "score 0.00034 above bob, the right account's best other candidate" in as_text(found)


def test_a_pair_that_is_no_candidate_has_no_product() -> None:
    text = as_text(replace(explanation([], []), competition=None, probability=None, score=None, rank=None))
    assert "no matched neighbour is evidence for or against" in text
    assert "best candidate for anna: ann (0.270)" in text
    assert "=" not in text[text.index("?") :]


def test_hostile_names_stay_on_their_line() -> None:
    text = as_text(replace(explanation([1.0], []), left="evil\n\x1b[31m", right="c"))
    assert "\x1b" not in text
    assert text.splitlines()[0] == "evil\\n\\x1b[31m  =  c ?"


def test_names_from_right_to_left_do_not_reorder_the_line() -> None:
    assert isolated("דניאל") == "\u2068דניאל\u2069"
    assert isolated("کتاب\u200cخانه") == "\u2068کتاب\u200cخانه\u2069", "a joiner is a letter"
    assert isolated("daniel") == "daniel"
    assert isolated("a\u202eb") == "a\\u202eb"
