"""The review app in a real Chromium: by keyboard and by mouse, wide and narrow, reload, crash, accessibility."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from accessibility import axe_script, serious_findings
from report_runs import PARTS, TRAINING, make_contents
from reviewing import HOSTILE, QUICK, open_log, small_problem

from kedge.report import build_report

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"  # noqa: E501
SIZES = [(1280, 860), (390, 844)]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class Server:
    """`kedge review` in a process of its own, that can be killed and started again on the same port."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.port = 0
        self.start()

    def start(self) -> None:
        words = ["review", self.run, "--no-open", "--port", self.port]
        command = [sys.executable, "-m", "kedge", *map(str, words)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", line):
                self.link, self.port = found[0], int(found[1])
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A finished run on the disk, hostile ids and all."""
    from kedge.config import Config
    from kedge.pipeline import Inputs, match_to_run

    folder = tmp_path_factory.mktemp("browser")
    problem, _ = small_problem()
    for name, network in (("left", problem.left), ("right", problem.right)):
        import pyarrow as pa
        import pyarrow.parquet as pq

        ends = network.adjacency.tocoo()
        rows, columns = (network.ids.take(pa.array(side)) for side in (ends.row, ends.col))
        pq.write_table(pa.table({"a": rows, "b": columns}), folder / f"{name}.parquet")
    pq.write_table(
        pa.table({"a": problem.left.ids.take(pa.array(problem.anchors[:, 0])),
                  "b": problem.right.ids.take(pa.array(problem.anchors[:, 1]))}),
        folder / "anchors.parquet",
    )  # fmt: skip
    paths = [folder / f"{name}.parquet" for name in ("left", "right", "anchors")]
    match_to_run(Inputs(*paths), folder / "run", Config.model_validate(QUICK))
    return folder / "run"


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def server(made, tmp_path):
    shutil.copytree(made, tmp_path / "run")
    started = Server(tmp_path / "run")
    yield started
    started.kill()


@pytest.fixture
def entries(server):
    def read():
        log = open_log(server.run)
        log.close()
        return log.state.entries

    return read


class Tab:
    """A page that fails the test on any script error, refused resource or request to elsewhere."""

    def __init__(self, browser, server, size=SIZES[0], **options):
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.troubles.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._said)
        self.page.on(
            "request", lambda r: None if r.url.startswith("http://127.0.0.1:") else self.troubles.append(r.url)
        )
        self.page.set_default_timeout(20_000)
        self.page.goto(server.link)

    def _said(self, message) -> None:
        # A conflict (409) is an answer that the app expects; the browser reports it all the same.
        if message.type == "error" and "409" not in message.text:
            self.troubles.append(message.text)

    def name(self, who: str) -> None:
        self.page.fill("#name", who)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("dialog", state="detached")
        self.pair()

    def pair(self) -> tuple[str, str]:
        self.page.wait_for_selector("main:not([aria-busy]) .person.left")
        return tuple(self.page.inner_text(f".person.{side} .id") for side in ("left", "right"))

    def answered(self, act, before) -> tuple[str, str]:
        """Do something that brings up another pair, and wait for it."""
        act()
        self.page.wait_for_function(
            "before => { const at = [...document.querySelectorAll('main:not([aria-busy]) .person .id')]"
            ".map(e => e.innerText); return at.length == 2 && (at[0] != before[0] || at[1] != before[1]) }",
            arg=list(before),
        )
        return self.pair()

    def close(self) -> None:
        self.context.close()
        assert self.troubles == []


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_the_whole_path_by_keyboard(chromium, server, entries, size):
    tab = Tab(chromium, server, size)
    press = tab.page.keyboard.press
    tab.name("Ann")
    first = tab.pair()
    second = tab.answered(lambda: press("y"), first)
    third = tab.answered(lambda: press("n"), second)
    press("m")
    tab.page.keyboard.type("yes, no, unsure: only a note")
    press("Enter")
    fourth = tab.answered(lambda: press("u"), third)
    tab.answered(lambda: press("s"), fourth)
    assert [entry.action for entry in entries()] == ["yes", "no", "unsure"]
    assert entries()[2].note == "yes, no, unsure: only a note"
    for expected in (third, second, first):  # undo, again and again
        before = tab.pair()
        assert tab.answered(lambda: press("z"), before) == expected
    press("z")
    tab.page.wait_for_selector("text=Nothing of yours is left")
    looked = tab.answered(lambda: press("2"), first)
    assert looked[0] == first[0]
    assert looked[1] != first[1]
    tab.answered(lambda: press("y"), looked)
    assert (entries()[-1].action, entries()[-1].reviewer) == ("yes", "Ann")
    press("b")
    tab.page.wait_for_selector("text=scores are hidden")
    assert "%" not in tab.page.inner_text("main")
    press("/")
    tab.page.keyboard.type("a00")
    press("Enter")
    tab.page.wait_for_selector("text=Left network")
    press("?")
    tab.page.wait_for_selector("dialog dl")
    press("Escape")
    tab.page.wait_for_selector("dialog", state="detached")
    tab.close()


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_the_whole_path_by_mouse(chromium, server, entries, size):
    tab = Tab(chromium, server, size, has_touch=size[0] < 500)
    click = tab.page.click
    tab.page.fill("#name", "Bob")
    click("text=Go on")
    first = tab.pair()
    second = tab.answered(lambda: click("button.answer.yes"), first)
    third = tab.answered(lambda: click("button.answer.no"), second)
    assert tab.answered(lambda: click("text=Undo"), third) == second
    tab.page.fill("#note", "by mouse")
    tab.answered(lambda: click("button.answer.unsure"), second)
    assert [entry.action for entry in entries()] == ["yes", "no", "undo", "unsure"]
    # A second partner for a confirmed account: warned, then despite it.
    click("nav >> text=History")
    click("tr:has(.badge.yes) a >> nth=0")
    tab.answered(lambda: click(".choice:not([aria-current]) >> nth=0"), second)
    tab.page.wait_for_selector(".head .warning")
    click("button.answer.yes")
    click("dialog >> text=Leave it")
    assert len(entries()) == 4
    shown = tab.pair()
    click("button.answer.yes")
    tab.answered(lambda: click("dialog >> text=Confirm anyway"), shown)
    assert len(entries()) == 5
    click("nav >> text=History")
    tab.page.wait_for_selector("text=none of these pairs is used")
    click("[aria-label='Undo decision 5']")
    tab.page.wait_for_selector("text=none of these pairs is used", state="detached")
    click("nav >> text=Queue")
    tab.page.select_option("#status", "decided")
    tab.page.wait_for_function("() => document.querySelectorAll('.list tbody tr').length == 2")
    click("nav >> text=Progress")
    tab.page.wait_for_selector("text=expected precision of")
    width = tab.page.evaluate("document.documentElement.scrollWidth")
    assert width <= size[0], "nothing sticks out sideways"
    tab.close()


def test_a_reload_stays_at_the_pair_and_loses_nothing(chromium, server, entries):
    tab = Tab(chromium, server)
    tab.name("Ann")
    second = tab.answered(lambda: tab.page.keyboard.press("y"), tab.pair())
    tab.page.reload()
    assert tab.pair() == second
    assert tab.page.inner_text("#reviewer") == "Ann", "the name is asked once"
    assert "token" not in tab.page.url
    tab.answered(tab.page.go_back, second)
    assert len(entries()) == 1
    tab.close()


def test_a_crash_of_the_server_in_the_middle(chromium, server, entries):
    tab = Tab(chromium, server)
    tab.name("Ann")
    second = tab.answered(lambda: tab.page.keyboard.press("n"), tab.pair())
    server.kill()
    tab.page.keyboard.press("y")
    tab.page.wait_for_selector("text=Your last answer is kept here")
    assert len(entries()) == 1
    server.start()
    tab.page.wait_for_selector("text=open the new link")
    tab.page.goto(server.link)
    tab.page.wait_for_selector("text=sent now")
    assert [(e.action, e.reviewer) for e in entries()] == [("no", "Ann"), ("yes", "Ann")], "once, not twice"
    assert tab.pair() != second
    tab.troubles.clear()  # the browser's own words about refused connections
    tab.close()


def test_two_tabs_on_one_pair(chromium, server, entries):
    tab = Tab(chromium, server)
    tab.name("Ann")
    shown = tab.pair()
    other = tab.context.new_page()
    other.goto(tab.page.url)
    other.wait_for_selector(".person.left")
    tab.answered(lambda: tab.page.keyboard.press("y"), shown)
    other.keyboard.press("n")
    other.wait_for_selector("text=decided elsewhere")
    assert [entry.action for entry in entries()] == ["yes"]
    other.wait_for_selector(".head .badge.yes")
    tab.close()


def test_a_link_that_leads_nowhere_says_so(chromium, server):
    tab = Tab(chromium, server)
    tab.name("Ann")
    tab.page.goto(f"http://127.0.0.1:{server.port}/?left=999999&right=0")
    tab.page.wait_for_selector("text=no such account in this run")
    tab.page.click("text=Go on with the most informative pair")
    tab.pair()
    tab.troubles.clear()  # the browser's own words about a 404
    tab.close()


def test_hostile_names_are_text(chromium, server):
    tab = Tab(chromium, server)
    tab.name("<img src=x onerror=alert(1)>")
    find = "async text => (await (await fetch('/api/search?q=' + encodeURIComponent(text))).json()).left"
    for text in HOSTILE:
        tab.page.fill("#find", text)
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_selector("text=Left network")
        found = tab.page.evaluate(find, text)[0]
        assert found["id"] == text
        tab.page.goto(f"http://127.0.0.1:{server.port}/?left={found['account']}&right={found['partner']['account']}")
        tab.pair()
        shown = tab.page.inner_text(".person.left .id")
        assert not set("\u202e\u202c\u200b\u2067") & set(shown), "what is hidden is spelled out"
        assert shown == text or "U+" in shown
    assert tab.page.evaluate("document.querySelectorAll('main img, main script, bdi > *:not(.odd)').length") == 0
    assert tab.page.evaluate("document.scripts.length") == 1
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_has_no_serious_finding(chromium, server, scheme):
    script = axe_script()
    # The page's own policy refuses foreign scripts, so the checker gets a context that does not enforce it.
    tab = Tab(chromium, server, color_scheme=scheme, bypass_csp=True)
    base = f"http://127.0.0.1:{server.port}"
    found = []

    def check(where: str) -> None:
        found.extend((where, *one) for one in serious_findings(tab.page, script))

    tab.page.wait_for_selector("dialog")
    check("name")
    tab.name("Ann")
    check("pair")
    tab.answered(lambda: tab.page.keyboard.press("y"), tab.pair())
    for size in SIZES:
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        for path in ("/queue?status=all", "/queue?status=disputed", "/history", "/progress", "/queue?find=a0", "/"):
            tab.page.goto(base + path)
            tab.page.wait_for_selector("main h1")
            tab.page.wait_for_selector(".strip b")
            check(f"{path} {size[0]}")
        tab.page.keyboard.press("?")
        tab.page.wait_for_selector("dialog dl")
        check(f"keys {size[0]}")
        tab.page.keyboard.press("Escape")
    assert found == []
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_has_no_serious_finding(chromium, tmp_path, scheme):
    script = axe_script()
    contents = make_contents(names=HOSTILE, training=TRAINING, parts=PARTS)
    (tmp_path / "report.html").write_text(build_report(contents), "utf-8")
    for size in SIZES:
        viewport = {"width": size[0], "height": size[1]}
        context = chromium.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto((tmp_path / "report.html").as_uri())
        for closed in page.locator("details").all():
            closed.evaluate("one => { one.open = true }")
        assert serious_findings(page, script) == [], size
        context.close()
