"""1,000 decisions, the server killed at 20 random moments: none acknowledged may be lost, the chain must verify.

A reviewer's browser is played by plain requests: it asks for the next pair, answers, and sends an unanswered decision
again under the same key once the server is back. Goal: 0 lost, 0 counted twice.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
from measuring import ROOT
from review_speed import Review

from kedge.store import DECISIONS_FILE
from kedge.store.decisions import DecisionLog


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        env = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": folder}
        subprocess.run(
            [sys.executable, "-m", "kedge", "demo", "-q", "-o", str(run)],
            check=True,
            stdout=subprocess.DEVNULL,
            env=env,
        )
        acknowledged: dict[str, tuple[int, str]] = {}
        fates = {"before": 0, "within": 0}
        pending: dict[str, object] | None = None
        marks = sorted(rng.choice(asked.decisions - 1, asked.kills, replace=False).tolist())
        review = Review(run)
        kills = 0
        while len(acknowledged) < asked.decisions:
            if kills < len(marks) and len(acknowledged) >= marks[kills]:
                # Somewhere within the next few requests: between, before or after their write.
                threading.Timer(float(rng.uniform(0, 0.15)), review.process.kill).start()
                kills += 1
            try:
                if pending is None:
                    pair = json.loads(review.ask("GET", "/api/next")[1])["pair"]
                    verdict = ("yes", "no", "unsure")[int(rng.integers(3))]
                    pending = {"left": pair["left"]["account"], "right": pair["right"]["account"], "verdict": verdict,
                               "key": f"kill-{len(acknowledged):07d}", "run": pair["run"], "seen": pair["seen"],
                               "despite": True}  # fmt: skip
                answer, body = review.ask("POST", "/api/decisions", pending)
                assert answer.status == 201, body
                entry = json.loads(body)["entry"]
                acknowledged[str(pending["key"])] = (entry["seq"], entry["hash"])
                pending = None
            except (OSError, http.client.HTTPException, ValueError):
                review.process.wait()
                log = DecisionLog(run / DECISIONS_FILE)
                log.verify()
                if pending is not None:
                    fates["within" if str(pending["key"]) in log.state.by_key else "before"] += 1
                log.close()
                review = Review(run)
        review.stop()
        log = DecisionLog(run / DECISIONS_FILE)
        rows = log.verify()
        kept = {entry.key: (entry.seq, entry.hash) for entry in log.state.entries}
        log.close()
    lost = sum(kept.get(key) != value for key, value in acknowledged.items())
    print(f"{len(acknowledged):,} decisions acknowledged, {kills} kills; {rows:,} rows, the chain verifies")
    print(f"killed before a decision was written {fates['before']} times, between write and answer {fates['within']}")
    print(f"acknowledged and lost: {lost}; counted twice: {rows - len(acknowledged)}")


if __name__ == "__main__":
    main()
