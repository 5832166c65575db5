"""The report in a browser: the slider, accessibility, figures as PNG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from accessibility import Scheme, axe_script, serious_findings
from command import kedge
from report_runs import HOSTILE, PARTS, TRAINING, facts_of, make_contents, write_contents

from kedge.report import build_report
from kedge.report.chromium import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize


def test_in_chromium_the_slider_moves_the_numbers_and_nothing_complains(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(build_report(make_contents(names=HOSTILE)), "utf-8")
    facts = facts_of(path.read_text("utf-8"))
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.goto(path.as_uri())

    def check(place: int) -> None:
        curve = facts["validation_curve"]
        wanted = {
            "threshold": f"{facts['thresholds'][place]:.2f}",
            "matches": f"{facts['matches'][place]:,}",
            "review": f"{facts['review'][place]:,}",
        }
        for key in ("precision", "recall"):
            value = curve[key][place]
            wanted[f"validation_curve.{key}"] = "–" if value is None else f"{100 * value:.1f}%"
        for name, text in wanted.items():
            assert page.locator(f'[data-live="{name}"]').first.text_content() == text

    start = facts["thresholds"].index(facts["threshold"])
    slider = page.locator("#slider")
    check(start)
    for _ in range(3):
        slider.press("ArrowRight")
    check(start + 3)
    slider.press("Home")
    check(0)
    slider.press("End")
    check(len(facts["thresholds"]) - 1)
    page.click("#back")
    check(start)
    assert "threshold 0.60" in (slider.get_attribute("aria-valuetext") or "")
    assert page.locator("img, iframe, object").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_has_no_serious_finding(chromium: Browser, tmp_path: Path, scheme: Scheme) -> None:
    script = axe_script()
    path = tmp_path / "report.html"
    path.write_text(build_report(make_contents(names=HOSTILE, training=TRAINING, parts=PARTS)), "utf-8")
    for width, height in ((1280, 860), (390, 844)):
        viewport: ViewportSize = {"width": width, "height": height}
        context = chromium.new_context(viewport=viewport, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(path.as_uri())
        for closed in page.locator("details").all():
            closed.evaluate("one => { one.open = true }")
        assert serious_findings(page, script) == [], width
        context.close()


@pytest.mark.skipif(find_chromium() is None, reason="no chromium on the path")
def test_figures_as_png(tmp_path: Path) -> None:
    run = write_contents(make_contents(tested=False), tmp_path / "run")
    kedge("report", run, "--figures", tmp_path / "f", "--format", "png")
    for path in (tmp_path / "f").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 3000
