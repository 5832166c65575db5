"""The table of docs/audit.md has the kept figures."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_is_made_from_the_kept_figures() -> None:
    show = "import json, audit as a; rows = json.loads(a.KEPT.read_text('utf-8'))['problems']; "
    show += "print(a.BEGIN + a.table(rows) + '\\n' + a.END, end='')"
    made = subprocess.run([sys.executable, "-c", show], cwd=ROOT / "benchmarks", capture_output=True, check=True)
    assert made.stdout.decode("utf-8") in (ROOT / "docs" / "audit.md").read_text("utf-8")
