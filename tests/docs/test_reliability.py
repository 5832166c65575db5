"""docs/reliability.md: its table is the one that the kept figures give, and none of them shows a failure."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "docs" / "results" / "reliability.json").read_text("utf-8"))


def test_the_table_is_made_from_the_kept_figures() -> None:
    show = "import reliability; print(reliability.BEGIN + reliability.table() + reliability.END, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "reliability.md").read_text("utf-8")


def test_every_command_exists_and_no_figure_is_a_failure() -> None:
    assert ROWS.keys() == {"kills", "errors", "flips", "inputs", "lines", "log", "half-open", "purge"}
    for name, row in ROWS.items():
        assert (ROOT / row["command"].removeprefix("python ")).exists()
        if name == "half-open":
            assert all(int(ms) < 200 for ms in re.findall(r"(\d+) ms", row["result"]))
        else:
            assert row["result"].startswith("0 ")
