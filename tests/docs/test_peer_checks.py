"""docs/methods.md: its table of newer methods is the one that the kept figures give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kedge.methods import METHODS

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "docs" / "results" / "peer_checks.json").read_text("utf-8"))


def test_the_table_is_made_from_the_kept_figures() -> None:
    show = "import peer_checks as made; print(made.BEGIN + made.table() + made.END, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "methods.md").read_text("utf-8")


def test_every_method_has_a_figure_and_what_is_public_of_it() -> None:
    show = "import json, peer_checks; print(json.dumps(list(peer_checks.PUBLIC)))"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert {row["method"] for row in ROWS} == set(json.loads(made.stdout)) <= set(METHODS)
    for row in ROWS:
        assert 0 <= row["hits1"] <= min(row["mrr"], row["hits10"]) <= 1
