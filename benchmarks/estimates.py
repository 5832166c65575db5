"""What a whole `kedge match` costs with each method, and how far the estimate before it is from that.

    python benchmarks/estimates.py            # whole matches that docs/results/estimates.json does not have yet
    python benchmarks/estimates.py --nodes 300 1200 --method kedge percolation --limit 300
    python benchmarks/estimates.py --aligns   # single runs of each method on a pair of 300 accounts per side
    python benchmarks/estimates.py --fit      # prints the constants of kedge.methods.shared.costs from single runs
    python benchmarks/estimates.py --check    # prints estimate and measurement of each match, and the factor

Planted pairs, five edges per account, a fifth of the anchors known. A method whose smaller match took more than a
quarter of `--limit` CPU seconds is not run on a larger pair; one that exceeds the limit is recorded as stopped. Single
runs on larger networks are those that other benchmarks printed: `source` of a row names which.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from kedge import synthetic
from kedge.config import resolve
from kedge.methods import METHODS
from kedge.methods.shared.costs import estimate_seconds
from kedge.probability import count_folds
from kedge.types import Problem

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "estimates.json"
_LEAST = 0.005  # CPU seconds: what is shorter is not told apart


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[300, 1_200])
    parser.add_argument("--method", nargs="+", default=list(METHODS))
    parser.add_argument("--limit", type=int, default=200, help="CPU seconds that one match may take")
    for name in ("aligns", "fit", "check"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    kept = json.loads(asked.out.read_text()) if asked.out.exists() else {"aligns": [], "matches": []}
    if asked.fit:
        print(json.dumps(fit(kept["aligns"]), indent=1))
    elif asked.check:
        check(kept["matches"])
    elif asked.aligns:
        run_aligns(asked, kept)
    else:
        run(asked, kept)


def run_aligns(asked: argparse.Namespace, kept: dict[str, Any]) -> None:
    """One run of each method in this process, the second: the first compiles and imports."""
    pair = synthetic.planted(300, 300, 150, 1500, 1500, overlap=0.5, seed=0)
    problem = Problem(pair.left, pair.right, synthetic.split(pair.anchors, 0.5, 0)[0])
    source = "benchmarks/estimates.py --aligns, 300 accounts"
    for method in asked.method:
        config = resolve(overrides={"method": method})
        METHODS[method].align(problem, config)
        began = time.process_time()
        METHODS[method].align(problem, config)
        row = {"method": method, "size": 3600, "cpu": round(time.process_time() - began, 3), "source": source}
        print(json.dumps(row), flush=True)
        same = [old for old in kept["aligns"] if (old["method"], old["source"]) != (method, source)]
        kept["aligns"] = [*same, row]
        asked.out.write_text(json.dumps(kept, indent=1) + "\n")


def run(asked: argparse.Namespace, kept: dict[str, Any]) -> None:
    """Match with every method and size that the results do not have yet."""
    known = {(row["method"], row["nodes"]): row for row in kept["matches"]}
    for nodes in sorted(asked.nodes):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            words = ["synth", "-o", str(data), "--nodes", str(nodes), "--seed", "1", "-q"]
            subprocess.run([sys.executable, "-m", "kedge", *words], check=True, stdout=subprocess.DEVNULL)
            for method in asked.method:
                smaller = [row["cpu"] for (name, size), row in known.items() if name == method and size < nodes]
                if (method, nodes) in known or any(cpu is None or cpu > asked.limit / 4 for cpu in smaller):
                    continue
                known[method, nodes] = row = run_one(Path(folder), data, nodes, method, asked.limit)
                kept["matches"].append(row)
                print(json.dumps(row), flush=True)
                asked.out.write_text(json.dumps(kept, indent=1) + "\n")


def run_one(folder: Path, data: Path, nodes: int, method: str, limit: int) -> dict[str, Any]:
    """One row: sizes, CPU seconds and memory; None where the limit was reached or the method refuses the size."""
    files = [str(data / f"{name}.tsv") for name in ("left", "right", "train")]
    done = subprocess.run(
        [
            sys.executable, "-m", "kedge", "match", files[0], files[1], "--anchors", files[2],
            "-o", str(folder / f"run-{method}"), "--method", method, "--json", "-q",
        ],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )  # fmt: skip
    found = json.loads(done.stdout) if done.returncode == 0 else {"cpu_seconds": None, "peak_mb": None}
    lines = {name: sum(1 for _ in (data / f"{name}.tsv").open()) for name in ("left", "right", "train")}
    return {
        "method": method,
        "nodes": nodes,
        "edges": lines["left"] + lines["right"],
        "anchors": lines["train"],
        "cpu": found["cpu_seconds"],
        "peak_mb": found["peak_mb"],
    }


def fit(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """For each method a and p of a · ((accounts + edges) / 10,000)^p CPU seconds of one run.

    Of one size alone p is assumed: 2 for a method that scores every pair, else 1.1, which is usual for the others.
    """
    made = {}
    for method in METHODS.values():
        mine = [row for row in rows if row["method"] == method.name and row["cpu"] >= _LEAST]
        size = np.log([row["size"] / 1e4 for row in mine])
        cpu = np.log([row["cpu"] for row in mine])
        power = 2.0 if method.scores_every_pair else 1.1
        if len(mine) > 1:
            power = float(np.clip(np.polyfit(size, cpu, 1)[0], 0.5, 2.5))
        factor = float(np.exp(np.median(cpu - power * size))) if mine else _LEAST
        made[method.name] = [round(factor, 3), round(power, 2)]
    return made


def check(rows: list[dict[str, Any]]) -> None:
    """The estimate of each row next to what was measured."""
    print("method | accounts a side | edges | measured CPU s | estimated | factor")
    factors = []
    for row in sorted(rows, key=lambda row: (row["method"], row["nodes"])):
        if not row["cpu"]:
            continue
        config = resolve(row.get("preset", "default"), overrides={"method": row["method"]})
        runs = count_folds(row["anchors"], config.decide.holdout, config.decide.folds)
        method = METHODS[row["method"]]
        estimated = estimate_seconds(method, config, 2 * row["nodes"], row["edges"], runs)
        if estimated is None:  # that of evidence hangs on more than sizes: `kedge check` prints it
            continue
        factors.append(max(estimated / row["cpu"], row["cpu"] / estimated))
        print(f"{row['method']} | {row['nodes']} | {row['edges']} | {row['cpu']} | {estimated:.1f} | {factors[-1]:.2f}")
    beyond = sum(factor > 1.5 for factor in factors)
    print(f"{len(factors)} matches: the worst factor is {max(factors):.2f}; {beyond} are beyond 1.5")


if __name__ == "__main__":
    main()
