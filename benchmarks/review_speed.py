"""The review app over a run of 100,000 matches. Goals: first page under 1 s, next pair under 150 ms (95th percentile
over 200 requests), server under 500 MB.

The networks are planted, the scores made from the truth with noise (matching itself is not what is measured); the run
directory is written by kedge's own stages and served by `kedge review` in a process of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring import ROOT
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.decide.decisions import decide
from kedge.linalg import SparseAlignment
from kedge.pipeline.results import results
from kedge.pipeline.solve import Outcome
from kedge.probability.calibration import fit_folds
from kedge.probability.folds import Fold
from kedge.store import JSON, Identity, layout, open_run, to_plain
from kedge.types import Network, Problem


def noisy_scores(truth: np.ndarray, n: int, rng: np.random.Generator) -> SparseAlignment:
    """The true partner and nine others of each account; the truth leads mostly."""
    rows = np.repeat(np.arange(n), 10)
    columns = rng.integers(n, size=len(rows))
    columns[::10] = truth
    values = rng.normal(0, 4, len(rows))
    values[::10] = rng.normal(8, 5, n)
    scores = csr_array((values.astype(np.float32), (rows, columns)), shape=(n, n))
    return SparseAlignment(scores)


def write_run(folder: Path, matches: int, degree: int) -> None:
    rng = np.random.default_rng(0)
    n = int(matches / 0.86)  # some accounts stay without a partner
    weight = np.cumsum(rng.pareto(1.8, n) + 1)
    edges = np.searchsorted(weight, rng.random((n * degree // 2, 2)) * weight[-1])
    truth = rng.permutation(n)
    kept = [edges[rng.random(len(edges)) < 0.8] for _ in range(2)]
    left = Network.from_edges(kept[0], n, [f"user_{i:07d}" for i in range(n)])
    right = Network.from_edges(truth[kept[1]], n, [f"member_{i:07d}" for i in range(n)])
    anchors = np.column_stack([np.arange(n), truth])[rng.permutation(n)[: n // 10]]
    problem, config = Problem(left, right, anchors), Config()
    alignment = noisy_scores(truth, n, rng)
    held = Problem(left, right, anchors[: len(anchors) // 2])
    calibrator = fit_folds([Fold(held, alignment, anchors[len(anchors) // 2 :])])
    decided = decide(problem, alignment, calibrator, config)
    positive = alignment.scores.data > 6
    rows = np.repeat(np.arange(n), np.diff(alignment.scores.indptr))[positive]
    support = csr_array((np.full(len(rows), 0.9), (rows, alignment.scores.indices[positive])), shape=(n, n))
    with open_run(folder, Identity({}, config.model_dump(mode="json"))) as run:
        run.stage(layout.NETWORKS[0], lambda: left)
        run.stage(layout.NETWORKS[1], lambda: right)
        known = {"anchors": anchors, "rejected": np.empty((0, 2), np.int64)}
        run.stage(layout.ANCHORS, lambda: known)
        run.stage(layout.CALIBRATION, lambda: to_plain(calibrator))
        run.stage(layout.SCORES, lambda: alignment)
        run.stage(layout.SUPPORT, lambda: support)
        run.stage(layout.MATCHES, decided.table)
        for file, value in results(Outcome(problem, config, alignment, calibrator, decided), None).items():
            run.write(file, JSON, value)
    print(f"{int(decided.assigned.sum()):,} matches of {n:,} accounts, {left.edges:,} and {right.edges:,} edges")


class Review:
    """A running `kedge review` and a connection that has opened its link."""

    def __init__(self, run: Path, *words: str) -> None:
        command = [sys.executable, "-m", "kedge", "review", str(run), "--no-open", "--reviewer", "bench", *words]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )  # fmt: skip
        assert self.process.stdout is not None
        link = next(found for line in self.process.stdout if (found := re.search(r"http://(\S+)/\?token=(\S+)", line)))
        self.ready = time.perf_counter() - self.started
        self.host, self.token = link[1], link[2]
        self.connection = http.client.HTTPConnection(self.host, timeout=60)
        self.headers = {"origin": f"http://{self.host}"}
        answer, _ = self.ask("GET", f"/?token={self.token}")
        self.headers["cookie"] = answer.headers["set-cookie"].partition(";")[0]
        self.headers["x-kedge-csrf"] = json.loads(self.ask("GET", "/api/session")[1])["csrf"]

    def ask(self, method: str, path: str, body: object = None) -> tuple[http.client.HTTPResponse, bytes]:
        """One request as the page would send it."""
        headers = {**self.headers, "content-type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        return answer, answer.read()

    def peak_mb(self) -> float:
        """The largest resident memory of the server so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1e3  # type: ignore[index]

    def stop(self) -> None:
        """Kill it: nothing that was acknowledged is lost."""
        self.process.kill()
        self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--degree", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        write_run(run, asked.matches, asked.degree)
        review = Review(run)
        started = time.perf_counter()
        for path in ("/", "/static/style.css", "/static/main.js", "/api/session", "/api/next", "/api/progress"):
            review.ask("GET", path)
        first = time.perf_counter() - started
        steps, decisions = [], []
        for i in range(200):
            started = time.perf_counter()
            pair = json.loads(review.ask("GET", "/api/next")[1])["pair"]
            steps.append(time.perf_counter() - started)
            body = {"left": pair["left"]["account"], "right": pair["right"]["account"], "verdict": ("yes", "no")[i % 2],
                    "key": f"bench-{i:06d}", "run": pair["run"], "seen": pair["seen"], "despite": True}  # fmt: skip
            started = time.perf_counter()
            answer, _ = review.ask("POST", "/api/decisions", body)
            decisions.append(time.perf_counter() - started)
            assert answer.status == 201
        for path in ("/api/queue?q=77", "/api/search?q=0012", "/api/history", "/api/progress"):
            started = time.perf_counter()
            review.ask("GET", path)
            print(f"{path:22} {1000 * (time.perf_counter() - started):6.0f} ms")
        print(f"start of the server    {review.ready:6.1f} s")
        print(f"first page             {first:6.2f} s (goal 1 s)")
        for name, times in (("next pair", steps), ("decision on the disk", decisions)):
            late, middle = 1000 * np.percentile(times, [95, 50])
            print(f"{name:22} {late:6.0f} ms at the 95th percentile of 200, median {middle:.0f} ms")
        print(f"memory of the server   {review.peak_mb():6.0f} MB at its peak (goals: next pair 150 ms, 500 MB)")
        review.stop()


if __name__ == "__main__":
    main()
