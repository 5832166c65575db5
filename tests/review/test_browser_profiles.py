"""The profiles of a pair in a real Chromium: opening an address, keys, blind mode, right-to-left, long values."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from accessibility import axe_script, serious_findings
from review_pages import SIZES, Server, Tab
from reviewing import QUICK, open_log, small_problem

from kedge.config import Config
from kedge.pipeline import Inputs, match_to_run
from kedge.types import Network

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

HTML = "<img src=x onerror=alert(1)> =HYPERLINK(1)"
LONG = "donaudampfschifffahrtsgesellschaft" * 60  # one word of 2,000 letters, as long as a page shows


def profiles_of(network: Network, person: dict[int, int], likes: str) -> pa.Table:
    """Names in Hebrew, an address, and texts that are very long or markup."""
    people = [person.get(i, 1000 + i) for i in range(network.n)]
    return pa.table(
        {
            "id": network.ids,
            "name": [f"דוד לוי {p}" for p in people],
            "home": [f"https://example.org/people/{p}" for p in people],
            "bio": [f"{HTML} person{p} likes {likes} and {LONG}" for p in people],
        }
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profiles")
    problem, others = small_problem(hostile=False)
    truth = [*problem.anchors.tolist(), *others.tolist()]
    known = [{u: k for k, (u, _) in enumerate(truth)}, {v: k for k, (_, v) in enumerate(truth)}]
    for name, network, person in zip(("left", "right"), (problem.left, problem.right), known, strict=True):
        ends = network.adjacency.tocoo()
        rows, columns = (network.ids.take(pa.array(side)) for side in (ends.row, ends.col))
        pq.write_table(pa.table({"a": rows, "b": columns}), folder / f"{name}.parquet")
        pq.write_table(
            profiles_of(network, person, "lutes" if name == "left" else "chess"), folder / f"{name}.profiles.parquet"
        )
    networks = (problem.left, problem.right)
    pairs = [network.ids.take(pa.array(problem.anchors[:, i])) for i, network in enumerate(networks)]
    pq.write_table(pa.table({"a": pairs[0], "b": pairs[1]}), folder / "anchors.parquet")
    left, right, anchors = (folder / f"{name}.parquet" for name in ("left", "right", "anchors"))
    tables = (folder / "left.profiles.parquet", folder / "right.profiles.parquet")
    match_to_run(Inputs(left, right, anchors, profiles=tables), folder / "run", Config.model_validate(QUICK))
    return folder / "run"


@pytest.fixture(scope="module")
def server(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    run = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(made, run)
    started = Server(run)
    yield started
    started.kill()


def wide(page: Page) -> bool:
    """Whether anything makes the page wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_an_address_is_opened_by_keyboard_and_learns_nothing(chromium: Browser, server: Server, size: Any) -> None:
    tab = Tab(chromium, server, size)
    asked: list[Request] = []

    def answer(route: Any) -> None:
        asked.append(route.request)
        route.fulfill(status=200, content_type="text/html", body="<title>there</title>")

    tab.context.route("https://example.org/**", answer)
    tab.name("Ann")
    before = tab.pair()
    assert asked == [], "an address is text until the reviewer opens it"
    assert tab.page.locator(".profiles a").count() == 0
    open_left = tab.page.get_by_role("button", name="Open left home in a new tab")
    open_left.focus()
    with tab.context.expect_page() as opened:
        tab.page.keyboard.press("Enter")
    opened.value.wait_for_load_state()
    assert len(asked) == 1
    assert asked[0].url.startswith("https://example.org/people/")
    assert "referer" not in asked[0].all_headers()
    assert opened.value.evaluate("window.opener === null && document.referrer === ''")
    opened.value.close()
    # The key opened the address, and answered nothing; the link that is there now has the focus.
    assert tab.pair() == before
    link = tab.page.locator(".profiles a")
    assert link.inner_text() == "Open again"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert tab.page.evaluate("document.activeElement.tagName") == "A"
    log = open_log(server.run)
    log.close()
    assert log.state.entries == []
    tab.close()


@pytest.mark.parametrize("size", SIZES, ids=["1280", "390"])
def test_long_and_right_to_left_values_stay_within_the_card(chromium: Browser, server: Server, size: Any) -> None:
    tab = Tab(chromium, server, size)
    tab.name("Ann")
    tab.pair()
    assert not wide(tab.page)
    card = tab.page.locator(".card.profiles")
    assert card.locator("tbody tr").count() == 3
    name = card.locator("td.left bdi").first
    assert name.get_attribute("dir") == "auto"
    assert name.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert card.locator("td.left mark").count() > 0
    # Markup is text, and a long value scrolls within a box that the keyboard reaches.
    assert tab.page.locator("main img").count() == 0
    long = card.get_by_role("region", name="left bio")
    assert HTML in long.inner_text()
    box, own = card.bounding_box(), long.bounding_box()
    assert box is not None
    assert own is not None
    assert own["x"] >= box["x"]
    assert own["x"] + own["width"] <= box["x"] + box["width"]
    assert own["height"] < 200
    long.focus()
    tab.page.keyboard.press("End")
    tab.page.wait_for_function("e => e.scrollTop > 0", arg=long.element_handle())
    # Keys of the app work from there too.
    tab.page.keyboard.press("b")
    tab.page.wait_for_selector("text=scores are hidden")
    tab.close()


def test_blind_mode_shows_values_without_similarities(chromium: Browser, server: Server) -> None:
    tab = Tab(chromium, server)
    tab.name("Ann")
    tab.pair()
    seen = tab.page.locator(".card.profiles")
    values = seen.locator("bdi").all_inner_texts()
    assert seen.locator("text=% similar").count() == 1
    tab.page.keyboard.press("b")
    tab.page.wait_for_selector("text=scores are hidden")
    assert tab.page.locator(".card.profiles bdi").all_inner_texts() == values
    assert "similar" not in tab.page.inner_text(".card.profiles")
    assert "%" not in tab.page.inner_text("main")
    tab.close()


def test_the_card_has_no_serious_finding_of_accessibility(chromium: Browser, server: Server) -> None:
    script = axe_script()
    tab = Tab(chromium, server, bypass_csp=True)
    tab.name("Ann")
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.pair()
        assert serious_findings(tab.page, script) == []
    tab.close()
