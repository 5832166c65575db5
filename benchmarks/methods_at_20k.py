"""Every method on a planted pair of 20,000 accounts a side: CPU seconds, memory, accuracy, or why it refuses.

    python benchmarks/methods_at_20k.py [--accounts 20000] [--methods a,b] [--limit 900] [--set name=value ...]

Each method runs in a fresh process with one thread. The pair: ten friends an account, half of the accounts on both
sides, half of the edges among these in both networks, half of the anchors known. CPU seconds include the compilation of
kernels that a machine has not run before; memory is the process's peak.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings

from measuring import answer_within, own_peak_mb


def measure(accounts: int, method: str, settings: list[str]) -> dict[str, object]:
    """One method in this process."""
    from kedge import synthetic
    from kedge.config import resolve
    from kedge.errors import KedgeError
    from kedge.evaluation import metrics as evaluate
    from kedge.methods import METHODS
    from kedge.types import Problem

    warnings.simplefilter("ignore")
    pair = synthetic.planted(accounts, accounts, accounts // 2, 5 * accounts, 5 * accounts, overlap=0.5, seed=0)
    train, test = synthetic.split(pair.anchors, 0.5, 0)
    problem = Problem(pair.left, pair.right, train)
    began = time.process_time()
    try:
        alignment = METHODS[method].align(problem, resolve("default", assignments=settings))
    except KedgeError as error:
        return {"refused": str(error)}
    cpu, peak = time.process_time() - began, own_peak_mb()
    found = evaluate.ranking(alignment, test)
    return {"cpu": cpu, "peak": peak, "hits1": found["hits1"], "mrr": found["mrr"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--methods", default="", help="comma-separated; all by default")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of one method")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="settings of all methods")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.accounts, asked.one, asked.set)))
        return
    from kedge.methods import METHODS

    print("| method | CPU s | MB | Hits@1 | MRR |\n|---|---:|---:|---:|---:|")
    for method in [name for name in asked.methods.split(",") if name] or list(METHODS):
        command = [sys.executable, __file__, "--accounts", str(asked.accounts), "--one", method]
        command += [word for one in asked.set for word in ("--set", one)]
        row = answer_within(asked.limit, *command)
        if isinstance(row, str):
            print(f"| {method} | {row} | | | |", flush=True)
            continue
        if "refused" in row:
            print(f"| {method} | refused: {row['refused']} | | | |", flush=True)
            continue
        print(
            f"| {method} | {row['cpu']:.0f} | {row['peak']:.0f} | {row['hits1']:.3f} | {row['mrr']:.3f} |", flush=True
        )


if __name__ == "__main__":
    main()
