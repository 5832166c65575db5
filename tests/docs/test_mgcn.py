"""The tables of docs/mgcn.md have the kept figures."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_made_from_the_kept_figures() -> None:
    show = "import mgcn_matching as m; print(m.BEGIN + m.page(m.read_kept(m.KEPT)) + m.END, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "mgcn.md").read_text("utf-8")
