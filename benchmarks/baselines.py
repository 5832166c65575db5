"""Every method on shared pairs beside the public implementation of the same method, each in a fresh process.

    python benchmarks/baselines.py --data ../shared/data [--pairs arenas95,cora] [--methods isorank,final] [--markdown]

The split is off20 where a pair has it, else r20_s0. Figures are means over both directions with all accounts as
candidates and ties at their average rank. Accounts are renumbered at random first. `peer` is the best figure of the
same method and split in peers.json; a peer that only returns a matching has Hits@1 alone. CPU seconds are of the method
alone, one thread, after a first run on a small network that loads compiled kernels. A method that takes longer than
`--limit` CPU seconds is left with a line that says so. With `--validation` no test pair is read: a fifth of
the training anchors, drawn by the seed, is measured instead, which is how choices are made.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from measuring import answer_within
from shared_pairs import mean_ranking

PEERS = {
    "common-neighbours": "Adamic-Adar",
    "isorank": "IsoRank",
    "final": "FINAL",
    "regal": "REGAL",
    "user-matching": "user-matching",
    "percolation": "expand-when-stuck",
    "faq": "seeded graph matching",
    "parrot": "PARROT",
    "joena": "JOENA",
}


def read_pairs(path: Path) -> list[list[str]]:
    return [line.split("\t")[:2] for line in path.read_text().splitlines()]


def measure(folder: Path, split: str, method: str, seed: int, validation_only: bool) -> dict[str, float]:
    """One method on one split, in this process; `validation_only`: on a fifth of the training anchors."""
    import warnings

    import numpy as np

    from kedge.config import Config
    from kedge.methods import METHODS
    from kedge.types import Network, Problem

    warnings.simplefilter("ignore")
    train, test = (read_pairs(folder / "splits" / split / f"{part}.tsv") for part in ("train", "test"))
    networks = []
    for side, name in enumerate(("left", "right")):
        edges = read_pairs(folder / f"{name}.tsv")
        ids = list(dict.fromkeys([account for edge in edges for account in edge] + [pair[side] for pair in train]))
        ids = [ids[i] for i in np.random.default_rng(side).permutation(len(ids))]
        place = {account: i for i, account in enumerate(ids)}
        networks.append(Network.from_edges([(place[u], place[v]) for u, v in edges], len(ids), ids))

    def find(pairs: list[list[str]]) -> np.ndarray:
        return np.column_stack([networks[side].find([pair[side] for pair in pairs]) for side in (0, 1)])

    left, right = networks
    problem, held = Problem(left, right, find(train)), find(test)
    if validation_only:
        order = np.random.default_rng(seed).permutation(len(problem.anchors))
        validation, known = problem.anchors[order[: len(order) // 5]], problem.anchors[order[len(order) // 5 :]]
        problem, held = Problem(left, right, known), validation
    groups = [(i, j) for i in range(80) for j in range(i) if i % 10 == j % 10 or i - j == 1]
    small = Network.from_edges(groups, 80)
    METHODS[method].align(Problem(small, small, np.array([(i, i) for i in range(20)])), Config())
    began = time.process_time()
    alignment = METHODS[method].align(problem, Config(seed=seed))
    seconds = time.process_time() - began
    found = mean_ranking(alignment, held)
    return {**{name: found[name] for name in ("hits1", "hits10", "mrr")}, "cpu": seconds}


def peer_of(data: Path, pair: str, split: str, method: str) -> dict[str, float]:
    """The best Hits@1 and MRR of the same method on the same split, and the CPU seconds of the best Hits@1."""
    best: dict[str, float] = {}
    file = data / "peers.json"
    for row in json.loads(file.read_text())["results"] if file.exists() and method in PEERS else []:
        if (row["data"], row["split"]) != (pair, split) or PEERS[method] not in row["method"]:
            continue
        if row["hits1"] > best.get("hits1", -1.0):
            best["hits1"], best["cpu"] = row["hits1"], row["cpu_s"]
        if row["mrr"] is not None:
            best["mrr"] = max(best.get("mrr", 0.0), row["mrr"])
    return best


def line(cells: list[str], widths: list[int], markdown: bool) -> str:
    if markdown:
        return "| " + " | ".join(cells) + " |"
    return " ".join(
        cell.rjust(width) if i > 1 else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--pairs", default="arenas95,cora")
    parser.add_argument("--methods", default="", help="comma-separated; all by default")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds of one method on one pair")
    parser.add_argument("--validation", action="store_true", help="measure a fifth of the training anchors")
    parser.add_argument("--one", nargs=3, metavar=("PAIR", "SPLIT", "METHOD"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        pair, split, method = options.one
        folder = options.data / "pairs" / pair
        print(json.dumps(measure(folder, split, method, options.seed, options.validation)))
        return
    from kedge.methods import METHODS

    names = ["pair", "method", "Hits@1", "Hits@10", "MRR", "CPU s", "peer Hits@1", "peer MRR", "peer CPU s"]
    widths = [24, 18, 7, 8, 7, 7, 12, 9, 11]
    print(line(names, widths, options.markdown))
    if options.markdown:
        print("|" + "---|" * len(names))
    for pair in options.pairs.split(","):
        split = "off20" if (options.data / "pairs" / pair / "splits" / "off20").is_dir() else "r20_s0"
        for method in [name for name in options.methods.split(",") if name] or list(METHODS):
            command = [sys.executable, __file__, "--data", str(options.data), "--seed", str(options.seed)]
            command += ["--one", pair, split, method, *(["--validation"] if options.validation else [])]
            row = answer_within(options.limit, *command)
            if isinstance(row, str):
                print(f"{pair} {method}: {row}", flush=True)
                continue
            peer: dict[str, float] = {}
            if not options.validation:
                peer = peer_of(options.data, pair, split, method)
            cells = [f"{row[name]:.3f}" for name in ("hits1", "hits10", "mrr")] + [f"{row['cpu']:.1f}"]
            cells += [f"{peer[name]:.3f}" if name in peer else "-" for name in ("hits1", "mrr")]
            cells += [f"{peer['cpu']:.1f}" if "cpu" in peer else "-"]
            print(line([pair, method, *cells], widths, options.markdown), flush=True)


if __name__ == "__main__":
    main()
