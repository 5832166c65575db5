"""The pictures of the documentation, made from a run on the spot: `make screenshots`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

from kedge.cli.chromium import find_chromium
from playwright.sync_api import Browser, Page, sync_playwright

IMAGES = Path(__file__).parent / "images"
KEDGE = [sys.executable, "-m", "kedge"]
Scheme = Literal["light", "dark"]
# The first pair of the queue with seven neighbours to draw: the most informative ones have few.
SOMETHING_TO_SEE = """async () => {
  const get = async (path) => (await fetch(path)).json();
  for (let offset = 0; ; offset += 50) {
    const { pairs } = await get(`/api/queue?limit=50&offset=${offset}`);
    for (const { left, right } of pairs) {
      const { pair } = await get(`/api/pair?left=${left.account}&right=${right.account}`);
      if (pair.ego.joined.length >= 7) return [left.account, right.account];
    }
    if (!pairs.length) throw new Error("no pair has seven");
  }
}"""


class Shot(NamedTuple):
    """A picture of the report: its file, the window, the colours, and the element at its top."""

    file: str
    width: int
    height: int
    scheme: Scheme
    top: str


SHOTS = (
    Shot("report.png", 1280, 1330, "light", "body"),
    Shot("report-errors.png", 1280, 1180, "dark", "#errors"),
    Shot("report-phone.png", 390, 844, "light", ".explorer"),
)


def open_page(browser: Browser, width: int, height: int, scheme: Scheme) -> Page:
    """A page in a window of its own."""
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
    page.set_default_timeout(120_000)
    return page


def save(page: Page, name: str) -> None:
    """The window as a file."""
    page.screenshot(path=IMAGES / name)
    print(f"{name}: {(IMAGES / name).stat().st_size / 1e3:.0f} kB")


def take_report(browser: Browser, run: Path) -> None:
    """The report at its places."""
    for shot in SHOTS:
        page = open_page(browser, shot.width, shot.height, shot.scheme)
        page.goto((run / "report.html").as_uri())
        page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        page.evaluate(f"document.querySelector('{shot.top}').scrollIntoView()")
        save(page, shot.file)


def take_review(browser: Browser, run: Path) -> None:
    """The review app at work: a pair, two reviewers' progress, a phone."""
    server = subprocess.Popen([*KEDGE, "review", str(run), "--no-open"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+token=\S+", line)))
    base = link.partition("?")[0]

    def enter(who: str, width: int, height: int, scheme: Scheme) -> Page:
        page = open_page(browser, width, height, scheme)
        page.goto(link)
        page.fill("#name", who)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")
        page.wait_for_selector(f"#reviewer:has-text('{who}')")
        page.wait_for_selector(".strip b")
        return page

    def answer(page: Page, keys: str) -> None:
        for key in keys:
            before = page.url
            page.wait_for_selector("main:not([aria-busy]) .answers")
            page.keyboard.press(key)
            page.wait_for_function("before => location.href != before", arg=before)
            page.wait_for_load_state("networkidle")

    ann = enter("Ann", 1280, 860, "light")
    left, right = ann.evaluate(SOMETHING_TO_SEE)
    ann.goto(f"{base}?left={left}&right={right}")
    ann.wait_for_selector(".rung")
    save(ann, "review.png")
    answer(ann, "ynuynnyy")
    bob = enter("Bob", 1280, 760, "dark")
    bob.goto(f"{base}?status=second")
    answer(bob, "ynnynn")
    bob.goto(f"{base}progress")
    bob.wait_for_selector(".kappa b")
    save(bob, "review-progress.png")
    save(enter("Cleo", 390, 844, "light"), "review-phone.png")
    server.terminate()
    server.wait()


def main() -> None:
    """Plant a pair, match it, and take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data, run = Path(folder) / "data", Path(folder) / "run"
        # Half of the pairs are known and the networks overlap much, so that every part of the report has something.
        planted = ["--nodes", "2500", "--overlap", "0.9", "--train", "0.5"]
        left, right, train, test = (str(data / f"{name}.tsv") for name in ("left", "right", "train", "test"))
        match = [left, right, "--anchors", train, "--test", test, "-o", str(run)]
        for command in (["synth", "-o", str(data), *planted], ["match", *match]):
            subprocess.run([*KEDGE, *command, "-q", "--json"], check=True, stdout=subprocess.DEVNULL)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
            )
            take_report(browser, run)
            take_review(browser, run)
            browser.close()


if __name__ == "__main__":
    main()
