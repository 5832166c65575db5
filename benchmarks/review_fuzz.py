"""Schemathesis against the running review app: made-up requests from its OpenAPI document. Goal: no 5xx.

Every answer must also have a documented status, a documented form and the documented type, and after all of it the
chain of decisions must verify. `tests/review/test_safety.py` has a smaller dose of the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from measuring import ROOT
from review_speed import Review

from kedge.store import DECISIONS_FILE
from kedge.store.decisions import DecisionLog

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10, help="made-up requests an operation and phase, at most")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, report = Path(folder) / "run", Path(folder) / "requests.har"
        kedge = [sys.executable, "-m", "kedge", "demo", "-q", "-o", str(run), "--json"]
        subprocess.run(
            kedge, check=True, stdout=subprocess.DEVNULL, env={"PYTHONPATH": str(ROOT / "src"), "HOME": folder}
        )
        review = Review(run)
        words = [sys.executable, "-m", "schemathesis.cli", "run", f"http://{review.host}/api/openapi.json"]
        words += ["--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--seed", str(asked.seed)]
        words += ["--max-examples", str(asked.examples), "--continue-on-failure", "--warnings", "off"]
        words += ["--report-har-path", str(report), "--generation-database", "none"]
        for name, value in review.headers.items():
            words += ["--header", f"{name}: {value}"]
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = done.stdout[-6000:] if done.returncode else ""
        alive = review.process.poll() is None
        review.stop()
        log = DecisionLog(run / DECISIONS_FILE)
        rows = log.verify()
        log.close()
        statuses = Counter(_statuses(report))
    print(said)
    counted = ", ".join(f"{status} x {count:,}" for status, count in sorted(statuses.items()))
    print(f"{sum(statuses.values()):,} requests; answers: {counted}")
    print(f"5xx: {sum(n for s, n in statuses.items() if s >= 500)}; checks {', '.join(CHECKS)}: exit {done.returncode}")
    print(f"the server {'is still there' if alive else 'DIED'}; {rows:,} decisions were made, the chain verifies")


def _statuses(report: Path) -> list[int]:
    """The status of every answer in schemathesis' own record."""
    return [entry["response"]["status"] for entry in json.loads(report.read_text())["log"]["entries"]]


if __name__ == "__main__":
    main()
