"""The greedy choice of builders: the best, what joins it, the bound on trials, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kedge.errors import KedgeError
from kedge.hypergraph.choice import BuilderChoice, choose_builders

JUDGED = ("AUC", "a network")


def judge_by(figures: dict[str, float]) -> tuple[list[str], Callable[[str], float]]:
    calls: list[str] = []

    def judge(builders: str) -> float:
        calls.append(builders)
        if builders not in figures:
            raise KedgeError(f"no {builders}")
        return figures[builders]

    return calls, judge


def test_the_best_is_joined_by_what_gains_enough_in_the_order_of_their_figures() -> None:
    figures = {"a": 0.5, "b": 0.7, "c": 0.6, "b+c": 0.705, "b+a": 0.75, "b+a+c": 0.8}
    calls, judge = judge_by(figures)
    found = choose_builders(["a", "b", "c"], judge, 10, 0.01, JUDGED)
    assert found.builders == "b+a"  # c came first, and gained too little
    assert calls == ["a", "b", "c", "b+c", "b+a"], "nothing is tried twice"
    assert [(one, figure) for one, figure, _ in found.trials] == [(one, figures[one]) for one in calls]


def test_no_more_trials_than_allowed() -> None:
    calls, judge = judge_by({"a": 0.5, "b": 0.7, "c": 0.9})
    assert choose_builders(["a", "b", "c"], judge, 2, 0.0, JUDGED).builders == "b"
    assert calls == ["a", "b"]


def test_the_first_stays_where_others_are_hardly_better() -> None:
    _, judge = judge_by({"a": 0.7, "b": 0.709, "a+b": 0.709})
    assert choose_builders(["a", "b"], judge, 9, 0.01, JUDGED).builders == "a"


def test_a_base_stays_where_nothing_gains_and_is_joined_where_something_does() -> None:
    _, judge = judge_by({"base": 0.7, "base+a": 0.705, "base+b": 0.6})
    assert choose_builders(["a", "b"], judge, 9, 0.01, JUDGED, base=["base"]).builders == "base"
    _, judge = judge_by({"base": 0.7, "base+a": 0.8, "base+b": 0.75, "base+a+b": 0.85})
    assert choose_builders(["a", "b"], judge, 9, 0.01, JUDGED, base=["base"]).builders == "base+a+b"


def test_what_cannot_be_drawn_is_listed_with_its_reason_and_all_of_it_is_refused_in_one_line() -> None:
    _, judge = judge_by({"b": 0.6})
    found = choose_builders(["a", "b"], judge, 9, 0.01, JUDGED)
    assert found.builders == "b"
    assert found.trials[0] == ("a", None, "no a")
    assert "a refused (no a)" in found.describe()
    with pytest.raises(KedgeError, match="no hypergraph can be drawn: no a; name hypergraph.builders"):
        choose_builders(["a"], judge, 9, 0.01, JUDGED)


def test_a_choice_is_the_same_after_it_was_written_and_read() -> None:
    made = BuilderChoice("a+b", *JUDGED, (("a", 0.5, ""), ("b", None, "refused")))
    assert BuilderChoice.from_facts(made.facts()) == made
