"""The browser gets its session by a page that only its user can read, and that works once."""

from __future__ import annotations

import re
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from command import ENVIRONMENT, kedge, match_words, process
from reviewing import HOST, ORIGIN, QUICK_WORDS, Client, open_log, small_run

from kedge.review.app import create_app
from kedge.review.guard import HANDOVER, Access
from kedge.review.handover import Handover
from kedge.store.decisions import DecisionLog


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    opened = open_log(tmp_path)
    yield opened
    opened.close()


def test_the_browser_gets_a_page_that_works_once(log: DecisionLog, tmp_path: Path) -> None:
    handover = Handover()
    keys = Access(frozenset({HOST}), is_handover=handover.take)
    app = create_app(small_run()[0], log, keys)
    with handover.page(ORIGIN + HANDOVER, tmp_path) as page:
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        found = re.search(rf"{ORIGIN}(/open\?token=[\w-]+)", page.read_text())
        assert found is not None
        assert keys.token not in page.read_text(), "the printed link is another one"
        for wrong in (f"/open?token={keys.token}", found[1][:-1], found[1] + "&token=x", "/open?token=", "/open"):
            assert Client(app).get(wrong, follow=False).status_code == 401
        assert Client(app).get(found[1].replace("/open", "/"), follow=False).status_code == 401
        client = Client(app)
        answer = client.get(found[1], follow=False)
        assert answer.status_code == 200
        assert 'content="0;url=/"' in answer.text
        assert "samesite=strict" in answer.headers["set-cookie"].lower()
        assert client.get("/api/session").status_code == 200
        assert not page.exists()
        assert Client(app).get(found[1], follow=False).status_code == 401, "once"
    with Handover().page(ORIGIN, tmp_path) as page:
        assert page.exists()
    assert not page.exists(), "unused, it is gone at the end"


def test_the_command_line_of_the_browser_is_no_secret(tmp_path: Path) -> None:
    kedge("synth", "-o", tmp_path / "pair", "--nodes", 200, "--overlap", 0.8, "-q")
    kedge(*match_words(tmp_path / "pair", tmp_path / "run", "-q", *QUICK_WORDS))
    viewer, seen = tmp_path / "viewer", tmp_path / "seen"
    viewer.write_text(f'#!/bin/sh\necho "$0 $@" > {seen}.part\nmv {seen}.part {seen}\n')
    viewer.chmod(0o700)
    server = subprocess.Popen(
        process("review", tmp_path / "run"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**ENVIRONMENT, "BROWSER": f"{viewer} %s"},
    )  # fmt: skip
    try:
        assert server.stdout is not None
        printed = next(line for line in server.stdout if "token=" in line)
        while not seen.exists():
            time.sleep(0.02)
        words = seen.read_text().split()
        page = Path(words[-1].removeprefix("file://"))
        link = re.search(r"http://127\.0\.0\.1:\d+/open\?token=[\w-]+", page.read_text())
        assert link is not None
        token, printed_token = (text.partition("token=")[2].strip() for text in (link[0], printed))
        assert token not in printed + seen.read_text()
        assert printed_token not in seen.read_text()
        assert httpx.get(link[0], timeout=120).status_code == 200
        assert not page.exists()
    finally:
        server.kill()
        server.communicate()
