"""docs/methods.md: its table of public implementations is the one that the kept figures give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kedge.methods import METHODS

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "docs" / "results" / "method_checks.json").read_text("utf-8"))["rows"]


def test_the_table_is_made_from_the_kept_figures() -> None:
    show = "import json, method_checks as m; print(m.section(json.loads(m.KEPT.read_text())['rows']), end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "methods.md").read_text("utf-8")


def test_every_row_has_a_method_and_what_it_was_compared_with() -> None:
    show = "import json, method_checks as m; print(json.dumps([*m.PEERS, *m.LAYERS]))"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert {row["method"] for row in ROWS} == set(json.loads(made.stdout)) <= set(METHODS)
    for row in ROWS:
        for side in ("kedge", "peer"):
            if side in row:
                assert 0 <= row[side]["hits1"] <= min(row[side]["mrr"], row[side]["hits10"]) <= 1
        assert "peer" in row or row["layer"] < 1e-5
