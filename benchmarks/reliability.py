"""The table of docs/reliability.md, from the figures kept in docs/results/reliability.json.

`make reliability` runs the benchmarks with KEDGE_KEEP=1: each keeps its row in that file, with the date and the newest
commit of main that it ran on. This script then writes the rows into the page.
"""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "results" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- begin: made by benchmarks/reliability.py -->\n", "<!-- end -->\n"
ORDER = ("kills", "errors", "flips", "inputs", "lines", "log", "half-open", "purge")
HEAD = "| tried | how often | result | command | on |\n|---|---|---|---|---|\n"


def keep(name: str, tried: str, often: str, result: str, command: str) -> None:
    """Keep one row, in the place of an earlier one of that name; nothing unless KEDGE_KEEP is set."""
    if not os.environ.get("KEDGE_KEEP"):
        return
    rows = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    rows[name] = {
        "tried": tried,
        "often": often,
        "result": result,
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": newest_of_main(),
    }
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(rows, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def newest_of_main() -> str:
    """The newest commit of the main branch that these sources have: one of a branch may be gone after its merge."""
    for main in ("main", "origin/main", "HEAD"):
        found = subprocess.run(["git", "merge-base", "HEAD", main], cwd=ROOT, capture_output=True, text=True)
        if found.returncode == 0:
            break
    return found.stdout[:7]


def table() -> str:
    """The rows as Markdown."""
    rows = json.loads(KEPT.read_text("utf-8"))
    return HEAD + "".join(
        f"| {row['tried']} | {row['often']} | {row['result']} | `{row['command']}` | {row['date']}, {row['commit']} |\n"
        for row in (rows[name] for name in ORDER if name in rows)
    )


def main() -> None:
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
