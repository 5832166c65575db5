"""The report of a run of 100,000 matches: size, CPU to build it, time to open it in Chromium.

Goals: under 5 MB, opening in under 3 s.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT, measure
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "src"))

from report_runs import make_contents, write_contents

from kedge.report.chromium import find_chromium
from kedge.report.facts import gather_facts


def main() -> None:
    contents = make_contents(112_000, held_out=5000, settings={"decide": {"threshold": 0.05}})
    with tempfile.TemporaryDirectory() as folder:
        run = write_contents(contents, Path(folder) / "run")
        built = [measure(sys.executable, "-m", "kedge", "report", str(run)) for _ in range(3)]
        idle = min(measure(sys.executable, "-c", "import kedge.pipeline, kedge.report").cpu_seconds for _ in range(3))
        page = run / "report.html"
        print(f"{gather_facts(contents).decisions['match']:,} matches, {contents.table.num_rows:,} candidates")
        print(f"report: {page.stat().st_size / 1e3:,.0f} kB (goal 5,000)")
        best = min(built, key=lambda one: one.cpu_seconds)
        print(f"kedge report: {best.cpu_seconds:.2f} s CPU, of these {idle:.2f} s imports; peak {best.peak_mb:.0f} MB")
        if find_chromium() is None:
            print("opening: no chromium on the path")
            return
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
            )
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            taken = []
            for _ in range(5):
                started = time.perf_counter()
                tab.goto(page.as_uri())
                # Two frames later the page is painted.
                tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
                taken.append(time.perf_counter() - started)
            browser.close()
            print(f"opening and painting in Chromium: {', '.join(f'{t:.2f}' for t in taken)} s wall (goal 3)")


if __name__ == "__main__":
    main()
