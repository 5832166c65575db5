"""The review app in a real Chromium: by keyboard and by mouse, wide and narrow, reload, crash, accessibility."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accessibility import Scheme, axe_script, serious_findings
from review_pages import SIZES, Server, Tab
from reviewing import HOSTILE, QUICK, open_log, small_problem

from kedge.answers import Entry
from kedge.config import Config
from kedge.pipeline import Inputs, match_to_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Entries: TypeAlias = Callable[[], list[Entry]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on the disk, hostile ids and all."""
    folder = tmp_path_factory.mktemp("browser")
    problem, _ = small_problem()
    for name, network in (("left", problem.left), ("right", problem.right)):
        ends = network.adjacency.tocoo()
        rows, columns = (network.ids.take(pa.array(side)) for side in (ends.row, ends.col))
        pq.write_table(pa.table({"a": rows, "b": columns}), folder / f"{name}.parquet")
    pq.write_table(
        pa.table({"a": problem.left.ids.take(pa.array(problem.anchors[:, 0])),
                  "b": problem.right.ids.take(pa.array(problem.anchors[:, 1]))}),
        folder / "anchors.parquet",
    )  # fmt: skip
    left, right, anchors = (folder / f"{name}.parquet" for name in ("left", "right", "anchors"))
    match_to_run(Inputs(left, right, anchors), folder / "run", Config.model_validate(QUICK))
    return folder / "run"


@pytest.fixture
def server(made: Path, tmp_path: Path) -> Iterator[Server]:
    shutil.copytree(made, tmp_path / "run")
    started = Server(tmp_path / "run")
    yield started
    started.kill()


@pytest.fixture
def entries(server: Server) -> Entries:
    def read() -> list[Entry]:
        log = open_log(server.run)
        log.close()
        return log.state.entries

    return read


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_the_whole_path_by_keyboard(chromium: Browser, server: Server, entries: Entries, size: tuple[int, int]) -> None:
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
    tab.page.wait_for_selector("text=You have no decision left")
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
def test_any_account_is_searched_compared_and_decided(
    chromium: Browser, server: Server, entries: Entries, size: tuple[int, int]
) -> None:
    tab = Tab(chromium, server, size)
    tab.name("Ann")
    first = tab.pair()
    shown = {name.inner_text() for name in tab.page.query_selector_all(".choices ol:not(.others) .choice .id")}
    tab.page.keyboard.press("o")
    tab.page.keyboard.type("b00")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector(".others .choice")
    others = {name.inner_text(): name for name in tab.page.query_selector_all(".others .choice .id")}
    picked = next(name for name in others if name not in shown)
    looked = tab.answered(others[picked].click, first)
    assert looked == (first[0], picked)
    assert "Why this probability" in tab.page.inner_text("main"), "explained like any other"
    tab.answered(lambda: tab.page.keyboard.press("n"), looked)
    last = entries()[-1]
    assert (last.action, last.left, last.right) == ("no", first[0], picked)
    tab.page.fill("#other", "no such account")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("text=no right account has this in its id")
    tab.close()


def test_keys_can_be_changed(chromium: Browser, server: Server, entries: Entries) -> None:
    tab = Tab(chromium, server)
    press, page = tab.page.keyboard.press, tab.page
    tab.name("Ann")

    def change(action: str, key: str) -> None:
        press("?")
        page.wait_for_selector("dialog dl")
        page.fill(f"#key-{action}", key)
        page.click("dialog button[value=ok]")

    change("yes", "j")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector(".answer.yes kbd:text-is('J')")
    second = tab.answered(lambda: press("j"), tab.pair())
    press("y")  # means nothing now
    assert tab.pair() == second
    change("no", "j")
    page.wait_for_selector("text=“j” is used twice")
    press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.reload()
    tab.pair()
    third = tab.answered(lambda: press("n"), second)
    page.evaluate('localStorage.setItem(\'kedge-keys\', \'{"yes": 7, "no": ""\')')
    tab.answered(lambda: press("y"), third)
    assert [entry.action for entry in entries()] == ["yes", "no", "yes"], "damaged settings are ignored"
    tab.close()


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_the_whole_path_by_mouse(chromium: Browser, server: Server, entries: Entries, size: tuple[int, int]) -> None:
    tab = Tab(chromium, server, size, has_touch=size[0] < 500)
    click = tab.page.click
    tab.page.fill("#name", "Bob")
    click("text=Continue")
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
    click("dialog >> text=Cancel")
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


def test_the_drawing_has_the_neighbours_of_the_evidence_and_the_probability_its_steps(
    chromium: Browser, server: Server
) -> None:
    tab = Tab(chromium, server)
    tab.name("Ann")
    for _ in range(4):
        shown = tab.pair()
        assert tab.page.locator(".rung").count() == tab.page.locator(".evidence tr.neighbour").count()
        titles = tab.page.locator(".evidence h3").all_inner_texts()
        assert [title[:8] for title in titles] == ["1. Evide", "2. Rival", "3. Count"]
        share, counterpart, probability = map(float, re.findall(r"[\d.]+", tab.page.inner_text(".product")))
        assert share * counterpart == pytest.approx(probability, abs=2e-3)
        head = tab.page.inner_text(".sure b")
        assert head.startswith((">", "<")) or abs(float(head.split()[0]) - 100 * probability) <= 0.6
        tab.answered(lambda: tab.page.keyboard.press("s"), shown)
    tab.close()


def test_a_reload_stays_at_the_pair_and_loses_nothing(chromium: Browser, server: Server, entries: Entries) -> None:
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


def test_a_crash_of_the_server_in_the_middle(chromium: Browser, server: Server, entries: Entries) -> None:
    tab = Tab(chromium, server)
    tab.name("Ann")
    second = tab.answered(lambda: tab.page.keyboard.press("n"), tab.pair())
    server.kill()
    tab.page.keyboard.press("y")
    tab.page.wait_for_selector("text=Your last answer is saved in this browser")
    assert len(entries()) == 1
    server.start()
    tab.page.wait_for_selector("text=open the new link")
    tab.page.goto(server.link)
    tab.page.wait_for_selector("text=Your saved answer was sent")
    assert [(e.action, e.reviewer) for e in entries()] == [("no", "Ann"), ("yes", "Ann")], "once, not twice"
    assert tab.pair() != second
    tab.troubles.clear()  # the browser's own words about refused connections
    tab.close()


def test_the_page_that_is_opened_leads_to_the_review(chromium: Browser, server: Server, tmp_path: Path) -> None:
    """As the browser is started: from a file, whose request counts as another site's."""
    server.kill()
    viewer, seen = tmp_path / "viewer", tmp_path / "seen"
    viewer.write_text(f'#!/bin/sh\necho "$1" > {seen}.part && mv {seen}.part {seen}\n')
    viewer.chmod(0o700)
    server.start("--port", 0, env={"BROWSER": f"{viewer} %s"})
    while not seen.exists():
        time.sleep(0.02)
    address = seen.read_text().strip()
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.fill("#name", "Ann")
    assert page.url.startswith(f"http://127.0.0.1:{server.port}/")
    assert "token" not in page.url
    assert not Path(address.removeprefix("file://")).exists()
    context.close()


def test_a_run_that_was_replaced_is_shown(chromium: Browser, server: Server) -> None:
    tab = Tab(chromium, server)
    tab.name("Ann")
    path = server.run / "manifest.json"
    path.write_text(path.read_text().replace(json.loads(path.read_text())["run_id"], "another"))
    tab.page.keyboard.press("y")
    tab.page.wait_for_selector("text=Nothing more is saved here")
    tab.close()


def test_what_is_hidden_in_a_note_is_spelled_out(chromium: Browser, server: Server) -> None:
    log = open_log(server.run)
    log.append("bob\u3164", "no", "a041", "b041", note="not \u202edetrever\u202c, a\u200bb \u2800 \ufe0f")
    log.close()
    tab = Tab(chromium, server)
    tab.name("Ann")
    tab.page.goto(f"http://127.0.0.1:{server.port}/history")
    tab.page.wait_for_selector("td q")
    assert tab.page.inner_text("td q") == "not U+202EdetreverU+202C, aU+200Bb U+2800 U+FE0F"
    assert "bobU+3164" in tab.page.inner_text("table")
    tab.close()


def test_two_tabs_on_one_pair(chromium: Browser, server: Server, entries: Entries) -> None:
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


def test_a_link_without_a_page_is_reported(chromium: Browser, server: Server) -> None:
    tab = Tab(chromium, server)
    tab.name("Ann")
    tab.page.goto(f"http://127.0.0.1:{server.port}/?left=999999&right=0")
    tab.page.wait_for_selector("text=no such account in this run")
    tab.page.click("text=Continue with the next pair")
    tab.pair()
    tab.troubles.clear()  # the browser's own words about a 404
    tab.close()


def test_hostile_names_are_text(chromium: Browser, server: Server) -> None:
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
def test_accessibility_has_no_serious_finding(chromium: Browser, server: Server, scheme: Scheme) -> None:
    script = axe_script()
    # The page's own policy refuses foreign scripts, so the checker gets a context that does not enforce it.
    tab = Tab(chromium, server, color_scheme=scheme, bypass_csp=True)
    base = f"http://127.0.0.1:{server.port}"
    found: list[tuple[str, ...]] = []

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


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_an_audit_is_blind_and_asks_its_sample_only(chromium: Browser, made: Path, tmp_path: Path, size: Any) -> None:
    shutil.copytree(made, tmp_path / "run")
    server = Server.__new__(Server)
    server.run = tmp_path / "run"
    server.start("--audit", "--answers", 3, "--no-open", "--reviewer", "ann")
    tab = Tab(chromium, server, size, bypass_csp=True)
    page, script, found = tab.page, axe_script(), []
    first = tab.pair()
    page.wait_for_selector("text=scores are shown after your answer")
    assert "%" not in page.inner_text("main")
    assert not page.is_visible("#blind")
    found += serious_findings(page, script)
    tab.answered(lambda: page.click(".choice:not([aria-current]) >> nth=0"), first)
    page.wait_for_selector("text=Not in the sample")
    assert not page.is_visible("button.answer.yes")
    found += serious_findings(page, script)
    page.click("text=Back to the audit")
    page.wait_for_selector("button.answer.yes")
    second = tab.answered(lambda: page.keyboard.press("y"), tab.pair())
    tab.answered(lambda: page.keyboard.press("n"), second)
    page.keyboard.press("u")
    page.wait_for_selector("text=The audit is complete")
    for place, words in (("Progress", "3of 3 pairs answered"), ("Queue", "3 pairs, in random order")):
        page.click(f"nav >> text={place}")
        page.wait_for_selector("main h1")
        if place == "Queue":
            page.select_option("#status", "all")
        page.wait_for_function("words => document.querySelector('main').textContent.includes(words)", arg=words)
        found += serious_findings(page, script)
    page.click("main table a >> nth=2")
    page.wait_for_selector("meter")  # answered, so its probability is shown
    server.kill()
    tab.close()
    assert found == []
