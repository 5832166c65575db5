"""The tables of docs/profiles.md have the kept figures."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_made_from_the_kept_figures() -> None:
    show = "import profiles_tables as t; page = t.PAGE.read_text('utf-8'); print(t.replaced(page) == page, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode() == "True", "run benchmarks/profiles_tables.py"


def test_every_cell_has_its_three_rows() -> None:
    rows = json.loads((ROOT / "docs" / "results" / "profiles.json").read_text("utf-8"))["rows"]
    cells: dict[tuple[str, float], set[str]] = {}
    for row in rows:
        if row["table"] == "accuracy":
            cells.setdefault((row["pair"], row["share"]), set()).add(row["from"])
    assert len(cells) == 24
    assert all(arms == {"structure", "profiles", "both"} for arms in cells.values())
