"""Each promise of safety, with someone who tries to break it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from command import ENVIRONMENT, kedge, match_words, process
from hypothesis import HealthCheck, settings
from reviewing import HOST, HOSTILE, ORIGIN, QUICK_WORDS, Browser, Client, open_log, small_run

from kedge.errors import KedgeError
from kedge.review.app import create_app
from kedge.review.data import ReviewData
from kedge.review.guard import HEADERS, MAX_BODY, Access, hosts_of
from kedge.review.openapi import document
from kedge.review.server import LOCAL, _bind
from kedge.store.decisions import DecisionLog

STATIC = Path(__file__).parents[2] / "src" / "kedge" / "review" / "static"


@pytest.fixture(scope="module")
def data() -> ReviewData:
    return small_run()[0]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    opened = open_log(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def browser(data: ReviewData, log: DecisionLog) -> Browser:
    return Browser(data, log)


def body(browser: Browser, **more: Any) -> dict[str, Any]:
    pair = browser.next()
    return {
        "left": pair["left"]["account"],
        "right": pair["right"]["account"],
        "verdict": "no",
        "key": browser.key(),
        "run": pair["run"],
        "seen": 0,
        **more,
    }


def raw(
    browser: Browser,
    method: str = "POST",
    path: str = "/api/decisions",
    headers: dict[str, Any] | None = None,
    drop: tuple[str, ...] = (),
    content: Any = None,
) -> httpx.Response:
    """A request as the page would send it, but for what an attacker changes or leaves out."""
    whole = {"origin": ORIGIN, "x-kedge-csrf": browser.csrf, "content-type": "application/json", **(headers or {})}
    whole = {name: value for name, value in whole.items() if name not in drop}
    content = json.dumps(body(browser)).encode() if content is None and method == "POST" else content
    return browser.client.request(method, path, headers=whole, content=content, follow=False)


def test_the_page_as_it_is_may_write(browser: Browser, log: DecisionLog) -> None:
    assert raw(browser).status_code == 201
    assert len(log.state.entries) == 1


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1:8000.evil.example", "",
     "0.0.0.0:8000", "127.0.0.1:8000@evil.example", "2130706433:8000", "localhost:8000"],
)  # fmt: skip
def test_another_host_name_is_refused(browser: Browser, log: DecisionLog, host: str) -> None:
    for method, path in (("GET", "/"), ("GET", "/api/next"), ("POST", "/api/decisions"), ("GET", "/static/main.js")):
        answer = raw(browser, method, path, {"host": host}, drop=() if method == "POST" else ("origin",))
        assert answer.status_code == 421
    token = browser.keys.token
    answer = Client(browser.app).get(f"/?token={token}", headers={"host": host}, follow=False)
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers
    assert log.state.entries == []


def test_the_hosts_of_this_machine_and_no_other() -> None:
    assert hosts_of("127.0.0.1", 5) == {"127.0.0.1:5", "localhost:5", "[::1]:5"}
    assert hosts_of("192.0.2.7", 5) == {"192.0.2.7:5"}
    assert hosts_of("2001:db8::1", 80) == {"[2001:db8::1]:80", "[2001:db8::1]"}


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "https://127.0.0.1:8000", "http://127.0.0.1:8001", "http://127.0.0.1", "file://",
     "http://127.0.0.1:8000.evil.example", "http://localhost:8000"],
)  # fmt: skip
def test_another_origin_is_refused(browser: Browser, log: DecisionLog, origin: str) -> None:
    assert raw(browser, headers={"origin": origin}).status_code == 403
    assert raw(browser, "GET", "/api/next", {"origin": origin}).status_code == 403
    assert log.state.entries == []


def test_a_write_without_origin_is_refused(browser: Browser, log: DecisionLog) -> None:
    assert raw(browser, drop=("origin",)).status_code == 403
    assert raw(browser, "GET", "/api/next", drop=("origin",)).status_code == 200, "a plain look has none"
    assert log.state.entries == []


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "é"])
def test_a_write_without_our_csrf_token_is_refused(
    browser: Browser, data: ReviewData, log: DecisionLog, token: str
) -> None:
    other = Browser(data, log)
    assert raw(browser, headers={"x-kedge-csrf": token.encode("latin-1")}).status_code == 403
    assert raw(browser, drop=("x-kedge-csrf",)).status_code == 403
    assert raw(browser, headers={"x-kedge-csrf": other.csrf}).status_code == 403, "another session's token"
    assert log.state.entries == []


def test_only_json_is_taken(browser: Browser, log: DecisionLog) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        assert raw(browser, headers={"content-type": kind}).status_code == 415
    assert log.state.entries == []


def test_nothing_without_the_link(data: ReviewData, log: DecisionLog) -> None:
    keys = Access(frozenset({HOST}))
    app = create_app(data, log, keys)
    paths = ["/", "/queue", "/static/main.js", "/api/session", "/api/next", "/api/openapi.json", "/nowhere"]
    for path in paths:
        assert Client(app).get(path).status_code == 401, path
    for token in ("", "x", keys.token[:-1], keys.token + "x", keys.token.upper()):
        answer = Client(app).get("/", params={"token": token}, follow=False)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
    for path in ("/queue", "/api/session"):
        assert Client(app).get(f"{path}?token={keys.token}").status_code == 401, "only the front door takes the token"
    for cookie in ("", "x", "x.y", ".", keys.token, f"x.{keys.token}", "é"):
        answer = Client(app).get("/api/session", headers={"cookie": f"kedge={cookie}".encode("latin-1")})
        assert answer.status_code == 401
    other = Access(frozenset({HOST})).new_session()
    assert Client(app).get("/api/session", headers={"cookie": f"kedge={other}"}).status_code == 401, "of another start"


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(data: ReviewData, log: DecisionLog) -> None:
    keys = Access(frozenset({HOST}))
    client = Client(create_app(data, log, keys))
    answer = client.get(f"/?token={keys.token}", follow=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/", "the token leaves the address bar"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie
    assert keys.token.lower() not in cookie
    answer = client.post("/api/reviewer", json={"name": "x"}, headers={"origin": ORIGIN,
        "x-kedge-csrf": client.get("/api/session").json()["csrf"]})  # fmt: skip
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=strict" in answer.headers["set-cookie"].lower()


def test_every_answer_carries_the_headers(browser: Browser) -> None:
    answers = [browser.client.get(path) for path in ("/", "/api/next", "/static/style.css", "/nowhere", "/api/pair")]
    answers += [raw(browser), raw(browser, drop=("origin",)), raw(browser, content=b"x" * (MAX_BODY + 1))]
    answers.append(Client(browser.app).get("/"))
    answers.append(Client(browser.app).get(f"/?token={browser.keys.token}", follow=False))
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (answer.status_code, name)
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
    assert HEADERS["x-content-type-options"] == "nosniff"


def test_bodies_are_limited_announced_or_not(browser: Browser, log: DecisionLog) -> None:
    assert raw(browser, content=b" " * (MAX_BODY + 1)).status_code == 413
    for length in ("99999999999999999999", "-1", "x"):
        assert raw(browser, headers={"content-length": length}, content=b"{}").status_code == 413

    async def forever() -> AsyncIterator[bytes]:
        while True:  # chunked, without a length, and without an end
            yield b"[" * 1024

    assert raw(browser, content=forever()).status_code == 413
    assert log.state.entries == []


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"left": NaN}', b"[" * 16000, b'{"left":' + b"9" * 15000 + b"}",
     b'{"verdict": "maybe"}'],
)  # fmt: skip
def test_bodies_that_are_no_decision_are_refused(browser: Browser, log: DecisionLog, content: bytes) -> None:
    assert raw(browser, content=content).status_code == 422
    assert log.state.entries == []


@pytest.mark.parametrize(
    "change",
    [{"left": -1}, {"left": 1.5}, {"left": "0"}, {"left": True}, {"left": 2**70}, {"verdict": "undo"}, {"key": "#1"},
     {"key": "short"}, {"key": "x" * 65}, {"note": "x" * 2001}, {"note": "a\0b"}, {"seen": -1}, {"seen": None},
     {"reviewer": "root"}, {"left": None}],
)  # fmt: skip
def test_fields_are_checked_strictly(browser: Browser, log: DecisionLog, change: dict[str, Any]) -> None:
    browser.post("/api/decisions", body(browser, **change), 422)
    assert log.state.entries == []


def test_half_a_surrogate_is_no_text(browser: Browser, log: DecisionLog) -> None:
    text = json.dumps(body(browser, note="x")).replace('"x"', '"\\ud800"').encode()
    assert raw(browser, content=text).status_code == 422
    browser.post("/api/reviewer", {"name": "a\u202eb"}, 422)
    browser.post("/api/reviewer", {"name": "   "}, 422)
    assert log.state.entries == []


def test_accounts_outside_the_run_are_not_there(browser: Browser) -> None:
    browser.post("/api/decisions", body(browser, left=10**6), 404)
    browser.get("/api/pair", 404, left=10**6, right=0)


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/....//app.py", "/static//etc/passwd",
     "/static/%2fetc%2fpasswd", "/static/main.js%00.css", "/static/", "/static", "/etc/passwd", "/..%5capp.py",
     "/static/__init__.py", "//evil.example/", "/api/../../decisions.sqlite", "/decisions.sqlite"],
)  # fmt: skip
def test_no_path_reaches_the_disk(browser: Browser, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def forbidden(*_args: Any, **_kwargs: Any) -> None:
        raise AssertionError("a file was opened")

    browser.client.get("/api/session")
    monkeypatch.setattr("builtins.open", forbidden)
    monkeypatch.setattr(Path, "open", forbidden)
    monkeypatch.setattr(os, "open", forbidden)
    answer = browser.client.get(path)
    assert answer.status_code == 404
    assert "error" in answer.json()


def test_names_are_json_text_and_the_page_never_makes_markup_of_them(browser: Browser, data: ReviewData) -> None:
    for text in HOSTILE:
        account = int(data.problem.left.find([text])[0])
        answer = browser.client.get(f"/api/pair?left={account}&right=0")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["pair"]["left"]["id"] == text
    for file in STATIC.glob("*.js"):
        code = file.read_text()
        banned = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|DOMParser|setHTML|javascript:"
        assert not re.search(banned, code), file.name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", code), f"{file.name} reaches out"
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|https?://", page)
    assert "http" not in (STATIC / "style.css").read_text()


def test_the_server_listens_on_this_machine_alone() -> None:
    listener = _bind(LOCAL, 0)
    assert listener.getsockname()[0] == "127.0.0.1"
    taken = listener.getsockname()[1]
    with pytest.raises(KedgeError, match="cannot listen"):
        _bind(LOCAL, taken)
    listener.close()
    wildcards = ["0.0.0.0", "::", "", " ", "*", "0", "0x0", "00", "0.0", "0.0x0.0", "000.0.0.0", "::0", "0::0"]
    for wildcard in (*wildcards, "::0.0.0.0", "::ffff:0.0.0.0", "::ffff:0:0", "0:0:0:0:0:0:0:0"):
        with pytest.raises(KedgeError, match="every address"):
            _bind(wildcard, 0)
    for host in ("no.such.host.invalid", "a" * 80, "\udcff"):
        with pytest.raises(KedgeError, match="cannot listen"):
            _bind(host, 0)


schema = schemathesis.openapi.from_dict(document())


@pytest.fixture(scope="module")
def fuzzed(data: ReviewData, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    log = open_log(tmp_path_factory.mktemp("fuzzed"))
    yield Browser(data, log)
    assert log.verify() == len(log.state.entries)
    log.close()


@schema.parametrize()
@settings(
    max_examples=500 if os.environ.get("KEDGE_FUZZ") else 25, deadline=None, suppress_health_check=list(HealthCheck)
)
def test_no_request_breaks_the_server(case: schemathesis.Case[Any], fuzzed: Browser) -> None:
    known = case.as_transport_kwargs(base_url=ORIGIN)
    headers = {**dict(known.get("headers") or {}), "origin": ORIGIN, "x-kedge-csrf": fuzzed.csrf}
    headers = {name: value for name, value in headers.items() if name.lower() not in ("cookie", "user-agent")}
    if "json" in known:
        headers["content-type"] = "application/json"
    wanted = {name: known[name] for name in ("params", "json") if name in known}
    answer = fuzzed.client.request(case.method, case.formatted_path, headers=headers, **wanted)
    assert answer.status_code < 500
    if case.method.upper() == case.operation.method.upper():  # schemathesis also tries methods that a path lacks
        documented = case.operation.definition.raw["responses"]
        assert str(answer.status_code) in documented, (case.method, case.path, answer.status_code, answer.text)
        case.operation.validate_response(schemathesis.Response.from_any(answer))


def test_an_interrupt_ends_the_server_cleanly(tmp_path: Path) -> None:
    kedge("synth", "-o", tmp_path / "pair", "--nodes", 200, "--overlap", 0.8, "-q")
    kedge(*match_words(tmp_path / "pair", tmp_path / "run", "-q", *QUICK_WORDS))
    server = subprocess.Popen(
        process("review", tmp_path / "run", "--no-open", "--reviewer", "ann"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert server.stdout is not None
    link = next(found for line in server.stdout if (found := re.search(r"http://([\d.]+):(\d+)/\?token=(\S+)", line)))
    host, port, token = link.groups()
    assert host == "127.0.0.1"
    with closing(http.client.HTTPConnection(host, int(port), timeout=300)) as connection:
        connection.request("GET", f"/?token={token}")
        answer = connection.getresponse()
        assert answer.status == 303
        assert f"kedge-{port}=" in answer.headers["set-cookie"], "two servers on one machine keep their cookies apart"
        assert "server" not in answer.headers
        answer.read()
        server.send_signal(signal.SIGINT)  # while the connection is still open
        _, errors = server.communicate(timeout=300)
    assert server.returncode == 0, errors
    assert "Traceback" not in errors
    assert "0 entries" in errors
    assert "head " + "0" * 64 in errors
