"""The pictures of the documentation, made from a run on the spot: `make screenshots`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kedge.cli.chromium import open_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = Path(__file__).parent / "images"
# (file, width, height, scheme, scrolled to)
SHOTS = (
    ("report.png", 1280, 1330, "light", "body"),
    ("report-errors.png", 1280, 1180, "dark", "#errors"),
    ("report-phone.png", 390, 844, "light", ".explorer"),
)


def take_review(run: Path) -> None:
    """The review app at work: a pair, two reviewers' progress, a phone."""
    from playwright.sync_api import sync_playwright

    words = [sys.executable, "-m", "kedge", "review", str(run), "--no-open"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+token=\S+", line)))
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])

        def enter(who: str, width: int, height: int, scheme: Literal["light", "dark"]) -> Page:
            page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
            page.goto(link)
            page.fill("#name", who)
            page.keyboard.press("Enter")
            page.wait_for_selector("dialog", state="detached")
            page.wait_for_selector(".strip b")
            return page

        def answer(page: Page, keys: str) -> None:
            for key in keys:
                before = page.url
                page.wait_for_selector("main:not([aria-busy]) .answers")
                page.keyboard.press(key)
                page.wait_for_function("before => location.href != before", arg=before)
                page.wait_for_timeout(300)

        def keep(page: Page, name: str) -> None:
            page.wait_for_selector(".strip b")
            page.screenshot(path=IMAGES / name)
            print(f"{name}: {(IMAGES / name).stat().st_size / 1e3:.0f} kB")

        ann = enter("Ann", 1280, 860, "light")
        while ann.locator(".rung").count() < 7:  # a pair with something to see
            answer(ann, "s")
        keep(ann, "review.png")
        answer(ann, "ynuynnyy")
        bob = enter("Bob", 1280, 760, "dark")
        bob.goto(link.partition("?")[0] + "?status=second")
        answer(bob, "ynnynn")
        bob.goto(link.partition("?")[0] + "progress")
        bob.wait_for_selector(".kappa")
        keep(bob, "review-progress.png")
        keep(enter("Cleo", 390, 844, "light"), "review-phone.png")
        browser.close()
    server.terminate()
    server.wait()


def main() -> None:
    """Plant a pair, match it, and take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data, run = Path(folder) / "data", Path(folder) / "run"
        kedge = [sys.executable, "-m", "kedge"]
        # Half of the pairs are known and the networks overlap much, so that every part of the report has something.
        planted = ["--nodes", "2500", "--overlap", "0.9", "--train", "0.5"]
        subprocess.run(
            [*kedge, "synth", "-o", str(data), "-q", "--json", *planted], check=True, stdout=subprocess.DEVNULL
        )
        files = [str(data / f"{name}.tsv") for name in ("left", "right", "train", "test")]
        words = ["match", files[0], files[1], "--anchors", files[2], "--test", files[3], "-o", str(run), "-q", "--json"]
        subprocess.run([*kedge, *words], check=True, stdout=subprocess.DEVNULL)
        with open_browser() as browser:
            for name, width, height, scheme, place in SHOTS:
                browser.size(width, height)
                browser.prefer(scheme)
                browser.open((run / "report.html").as_uri())
                browser.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
                browser.evaluate(f"document.querySelector('{place}').scrollIntoView()")
                image = browser.picture()
                (IMAGES / name).write_bytes(image)
                print(f"{name}: {len(image) / 1e3:.0f} kB")
        take_review(run)


if __name__ == "__main__":
    main()
