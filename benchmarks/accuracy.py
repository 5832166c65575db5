"""Ranking accuracy and cost on every research pair, each in a fresh process, beside the best published peer.

    python benchmarks/accuracy.py --data ../shared/data [--split main] [--methods evidence] [--pairs cora,douban]
    python benchmarks/accuracy.py --methods kedge,evidence,mgcn --seeds 5 --cache bench-out/accuracy.json

`main` is off20 where a pair has it, else r20_s0. Several splits (comma-separated) also print their mean. Figures are
means over both directions; matched = share of test accounts whose partner is right when
scores are taken greedily, one to one. CPU seconds are those of
the method alone, on one thread, its compiled kernels already cached; memory is the peak of the whole process.
mgcn and what kedge holds back are random: both run with each of `--seeds`, whose mean is printed; mgcn ranks all pairs
and matches none. With `--cache` finished rows are kept in a file and not run again: delete it after a change of the
code.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from measuring import ONE_THREAD, own_peak_mb
from shared_pairs import ROOT, load, match_greedily, matched_share, mean_ranking

NAMES = ("kedge", "evidence", "mgcn")
RANDOM = ("kedge", "mgcn")


def measure(pair: str, split: str, method: str, seed: int) -> dict[str, float]:
    """One method on one split, in this process."""
    from kedge.config import Config
    from kedge.methods import METHODS
    from kedge.types import Network, Problem

    _, problem, held = load(pair, split)
    # A first run on two small stars loads the compiled kernels.
    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    METHODS["evidence"].align(Problem(star, star, np.array([(0, 0), (1, 1)])), Config())
    config = Config(method=method, seed=seed)
    began = time.process_time()
    alignment = METHODS[method].align(problem, config)
    seconds = time.process_time() - began
    # Methods that rank by vectors have a score for each pair: too many to assign.
    matched = float("nan") if method == "mgcn" else matched_share(match_greedily(alignment), held)
    return {**mean_ranking(alignment, held), "matched": matched, "cpu": seconds, "peak_mb": own_peak_mb()}


def best_peers(data: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Of each pair and split: the best Hits@1 of a ranking and of a matching, the best MRR, PARROT's CPU seconds."""
    best: dict[tuple[str, str], dict[str, float]] = {}
    file = data / "peers.json"
    for row in json.loads(file.read_text())["results"] if file.exists() else []:
        entry = best.setdefault((row["data"], row["split"]), {})
        for name, value in (("mrr", row["mrr"]), ("hits1" if row["mrr"] is not None else "matched", row["hits1"])):
            if value is not None:
                entry[name] = max(entry.get(name, 0.0), value)
        if row["method"].startswith("PARROT"):
            entry["parrot_cpu"] = min(entry.get("parrot_cpu", 1e9), row["cpu_s"])
    return best


def measure_apart(data: Path, what: tuple[str, str, str, int], cache: Path | None) -> dict[str, float] | str:
    """`measure` in a fresh process on one thread, or from the cache; the last line of its error where it failed."""
    kept = json.loads(cache.read_text()) if cache and cache.exists() else {}
    key = "/".join(map(str, what))
    if key in kept:
        found: dict[str, float] = kept[key]
        return found
    command = [sys.executable, __file__, "--one", *map(str, what)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD | {"KEDGE_DATA": str(data)}
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    row: dict[str, float] = json.loads(done.stdout)
    if cache:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(kept | {key: row}))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent)
    parser.add_argument("--split", default="main", help="comma-separated; main = off20 or r20_s0")
    parser.add_argument("--methods", default="kedge", help=f"comma-separated, of: {', '.join(NAMES)}")
    parser.add_argument("--pairs", default="", help="comma-separated; all by default")
    parser.add_argument("--one", nargs=4, metavar=("PAIR", "SPLIT", "METHOD", "SEED"), help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=int, default=1, help="for methods that are random")
    parser.add_argument("--cache", type=Path, help="file of rows that need not run again")
    options = parser.parse_args()
    if options.one:
        pair, split, method, seed = options.one
        print(json.dumps(measure(pair, split, method, int(seed))))
        return
    peers = best_peers(options.data)
    pairs = [name for name in options.pairs.split(",") if name] or sorted(
        folder.name for folder in (options.data / "pairs").iterdir()
    )
    columns = ("hits1", "hits10", "hits30", "mrr", "matched", "cpu", "peak_mb")
    head = " ".join(f"{name:>8}" for name in columns)
    print(f"{'pair':24} {'split':7} {'method':9} {head} | peers: hits1    mrr matched PARROT-cpu")
    for pair in pairs:
        for method in options.methods.split(","):
            rows = []
            for wanted in options.split.split(","):
                folder = options.data / "pairs" / pair / "splits"
                split = wanted if wanted != "main" else "off20" if (folder / "off20").is_dir() else "r20_s0"
                if not (folder / split).is_dir():
                    continue
                seeds = range(options.seeds if method in RANDOM else 1)
                runs = [measure_apart(options.data, (pair, split, method, seed), options.cache) for seed in seeds]
                done = [run for run in runs if not isinstance(run, str)]
                if len(done) < len(runs):
                    failed = next(run for run in runs if isinstance(run, str))
                    print(f"{pair:24} {split:7} {method:9} failed: {failed}")
                    continue
                row = {name: sum(run[name] for run in done) / len(done) for name in columns}
                rows.append(row)
                line(pair, split, method, row, columns, peers.get((pair, split), {}))
            if len(rows) > 1:
                mean = {name: sum(row[name] for row in rows) / len(rows) for name in columns}
                line(pair, "mean", method, mean, columns, {})


def line(
    pair: str, split: str, method: str, row: dict[str, float], columns: tuple[str, ...], peer: dict[str, float]
) -> None:
    cells = " ".join(f"{row[name]:8.4f}" if name not in ("cpu", "peak_mb") else f"{row[name]:8.2f}" for name in columns)
    names = ("hits1", "mrr", "matched", "parrot_cpu")
    other = " ".join(f"{peer[name]:7.4g}" if name in peer else f"{'-':>7}" for name in names)
    print(f"{pair:24} {split:7} {method:9} {cells} |   {other}", flush=True)


if __name__ == "__main__":
    main()
