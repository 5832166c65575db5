"""The review app in an audit: the sample and nothing else, blind until answered, apart from other answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reviewing import Browser, small_run

from kedge.answers.audit import Sample, draw
from kedge.review.data import ReviewData
from kedge.store.decisions import DecisionLog


@pytest.fixture(scope="module")
def run() -> tuple[ReviewData, Sample]:
    data, _ = small_run()
    return data, draw(data.matches, 12, 0)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    opened = DecisionLog(tmp_path / "decisions.sqlite", audit=True)
    yield opened
    opened.close()


@pytest.fixture
def browser(run: tuple[ReviewData, Sample], log: DecisionLog) -> Browser:
    return Browser(run[0].for_audit(run[1]), log)


def test_the_queue_is_the_sample_in_its_order(browser: Browser, run: tuple[ReviewData, Sample]) -> None:
    assert browser.get("/api/session")["audit"]
    shown = browser.get("/api/queue")["pairs"]
    assert [(row["left"]["id"], row["right"]["id"]) for row in shown] == run[1].pairs
    for pair in run[1].pairs:
        found = browser.next()
        assert (found["left"]["id"], found["right"]["id"]) == pair
        browser.decide(found, "yes")
    assert browser.next() is None
    progress = browser.get("/api/progress")
    assert (progress["decided"], progress["yes"], progress["queue"]) == (12, 12, 12)


def test_scores_are_shown_after_the_answer_only(browser: Browser) -> None:
    found = browser.next()
    assert (found["blind"], found["probability"], found["decision"]) == (True, None, None)
    assert {choice["probability"] for choice in found["candidates"]} == {None}
    row = browser.get("/api/queue")["pairs"][0]
    assert (row["probability"], row["decision"]) == (None, None)
    browser.decide(found, "unsure")
    again = browser.get("/api/pair", left=found["left"]["account"], right=found["right"]["account"])["pair"]
    assert not again["blind"]
    assert again["probability"] is not None
    assert browser.get("/api/progress")["unsure"] == 1


def test_only_pairs_of_the_sample_are_answered(
    browser: Browser, run: tuple[ReviewData, Sample], log: DecisionLog
) -> None:
    found = browser.next()
    other = next(choice for choice in found["candidates"] if choice["account"] != found["right"]["account"])
    shown = browser.get("/api/pair", left=found["left"]["account"], right=other["account"])["pair"]
    assert not shown["asked"]
    assert "not in the sample" in browser.decide(shown, "yes", code=409)["error"]
    assert log.state.entries == []
    assert found["asked"]


def test_answers_of_an_audit_and_of_a_review_are_apart(
    browser: Browser, run: tuple[ReviewData, Sample], log: DecisionLog
) -> None:
    found = browser.next()
    browser.decide(found, "no")
    other = DecisionLog(log.path)
    reviewing = Browser(run[0], other)
    seen = reviewing.get("/api/pair", left=found["left"]["account"], right=found["right"]["account"])["pair"]
    assert (seen["verdict"], seen["seen"]) == (None, 0)
    assert reviewing.get("/api/history")["total"] == 0
    assert reviewing.get("/api/progress")["decided"] == 0
    assert other.state.resolved().rejected == ()
    assert browser.get("/api/history")["total"] == 1
    other.close()
