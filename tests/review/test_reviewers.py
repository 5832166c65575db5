"""A name belongs to the session that took it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reviewing import HOST, Browser, open_log, small_run
from starlette.requests import Request

from kedge.review.app import create_app
from kedge.review.guard import Access
from kedge.review.reviewers import Reviewers
from kedge.store.decisions import DecisionLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    opened = open_log(tmp_path)
    yield opened
    opened.close()


def test_a_session_cannot_decide_under_the_name_of_another(log: DecisionLog) -> None:
    data, keys = small_run()[0], Access(frozenset({HOST}))
    app = create_app(data, log, keys)
    ann, bob = (Browser.into(app, keys, data) for _ in range(2))
    ann.post("/api/reviewer", {"name": "Ann"}, 200)
    for name in ("Ann", " ann ", "\uff21nn"):
        assert "another browser decides" in bob.post("/api/reviewer", {"name": name}, 409)["error"]
    bob.decide(bob.next(), "no", 403)
    bob.client.cookies.set("kedge-reviewer", "Ann", domain="127.0.0.1")
    bob.decide(bob.next(), "no", 403)
    bob.post("/api/reviewer", {"name": "Bob"}, 200)
    session = bob.session
    bob.client.cookies.clear()
    bob.client.cookies.set("kedge", session, domain="127.0.0.1")
    bob.client.cookies.set("kedge-reviewer", "Ann", domain="127.0.0.1")
    bob.decide(bob.next(), "no")
    assert [entry.reviewer for entry in log.state.entries] == ["Bob"], "the session decides, not the other cookie"
    assert bob.get("/api/session")["reviewer"] == "Bob"
    # Ann's browser is closed and loses its session, but not its name.
    again = Browser.into(app, keys, data, ann.client.cookies)
    assert again.session != ann.session
    assert again.get("/api/session")["reviewer"] == "Ann"
    assert ann.get("/api/session")["reviewer"] == "Ann", "it has the same signed cookie"


def test_a_name_is_free_again_when_its_session_is_idle() -> None:
    now = [0.0]
    names = Reviewers(Access(frozenset({HOST})), None, lambda: now[0])
    first, second = (Request({"type": "http", "headers": [], "session_cookie": one}) for one in "ab")
    assert names.claim(first, "Ann")
    now[0] = 500.0
    assert names.of(first) == "Ann"
    now[0] = 1000.0
    assert not names.claim(second, "Ann")
    now[0] = 1101.0
    assert names.claim(second, "Ann")
    assert names.of(first) is None
