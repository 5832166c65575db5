"""What embeddings are worth as a prior of evidence, and what kedge makes of them by itself.

    python benchmarks/prior_worth.py [PROBLEM ...]

A problem is a research pair, `NETWORK:ALPHA_S:ALPHA_C:ANCHORS` (two sub-networks of one real network by the paper's
rule), `NETWORK:copies:KEPT:LOST:ANCHORS` (two copies of it that keep a share of the accounts and lose a share of the
edges), or `planted:ACCOUNTS` (as in methods_at_20k.py). ANCHORS is a number, or a share below 1. Each prints the
notes of the choice of settings, and on test anchors Hits@1, mean reciprocal rank and CPU seconds by evidence alone,
with its prior (one refinement), and as chosen (choosing included). The last line has the means over all.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence

import numpy as np
from copies import partial_copies
from shared_pairs import ROOT, load, mean_ranking

from kedge import synthetic
from kedge.config import Config, resolve
from kedge.context.run_context import MemoryCache, RunContext, Silent
from kedge.ingest import read_network
from kedge.methods import METHODS
from kedge.types import IntArray, Problem

PAIRS = (
    "acm-dblp",
    "arxiv-multiplex-2-12",
    "cora",
    "dblp17-19-mauil",
    "douban",
    "foursquare-twitter",
    "phone-email",
)
NETWORKS = (
    "ego-facebook",
    "fb100-swarthmore42",
    "gemsec-fb-tvshow",
    "gemsec-fb-politician",
    "gemsec-fb-government",
    "gemsec-fb-athletes",
    "gemsec-fb-company",
    "email-enron",
)
KINDS = ("0.6:0.5:300", "0.6:0.7:0.2", "copies:0.7:0.3:0.1", "copies:1:0.5:0.05")
OTHERS = (
    "ego-facebook:0.6:0.2:1500",
    "gemsec-deezer-hu:0.6:0.5:300",
    "gemsec-deezer-hu:0.6:0.5:8000",
    "soc-epinions1:0.6:0.5:5000",
    "planted:20000",
)
PROBLEMS = (*PAIRS, *(f"{network}:{kind}" for network in NETWORKS for kind in KINDS), *OTHERS)
ASKED = 5000  # test anchors


class Listener(Silent):
    """Keeps the notes of a run."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """As a user would read it."""
        self.notes.append(text)


def read(name: str) -> tuple[Problem, IntArray]:
    """The problem and its test anchors."""
    kind, *numbers = name.split(":")
    if not numbers:
        _, problem, test = load(kind)
        return problem, test
    if kind == "planted":
        n = int(numbers[0])
        pair = synthetic.planted(n, n, n // 2, 5 * n, 5 * n, overlap=0.5, seed=0)
        known, test = synthetic.split(pair.anchors, 0.5, 0)
        return Problem(pair.left, pair.right, known), test
    network, _ = read_network(ROOT.parent / "singles" / kind / "edges.tsv")
    if numbers[0] == "copies":
        kept, lost, known_share = (float(number) for number in numbers[1:])
        problem, test = partial_copies(network, kept, lost, known_share, seed=1)
        return problem, test[:ASKED]
    pair = synthetic.subnetworks(network, float(numbers[0]), float(numbers[1]), 1)
    drawn = np.random.default_rng(1).permutation(np.asarray(pair.anchors))
    count = float(numbers[2])
    known, test = np.split(drawn, [int(count) if count >= 1 else int(count * len(drawn))])
    return Problem(pair.left, pair.right, known), test[:ASKED]


def figures(problem: Problem, test: IntArray, config: Config, context: RunContext, began: float) -> list[float]:
    """Hits@1, mean reciprocal rank, CPU seconds since `began`."""
    alignment = METHODS["kedge"].align(problem, config, context)
    seconds = time.process_time() - began
    found = mean_ranking(alignment, test)
    return [found["hits1"], found["mrr"], seconds]


def shown(rows: Sequence[Sequence[float]]) -> str:
    words = ("evidence alone", "prior", "as chosen")
    return ", ".join(f"{word} {a:.3f} / {b:.3f} ({c:.1f} s)" for word, (a, b, c) in zip(words, rows, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    auto = resolve(assignments=["method=kedge", "pairing.vectors=sketch"])
    forced = [
        resolve(assignments=["method=kedge", "pairing.vectors=sketch", *given])
        for given in (["pairing.use=no"], ["pairing.use=yes", "pairing.refinements=1"])
    ]
    table = []
    for name in asked.problems:
        folder = ROOT / name if ":" not in name else ROOT.parent / "singles" / name.split(":")[0]
        if not name.startswith("planted:") and not folder.is_dir():
            print(f"{name}: skipped, not under {ROOT.parent} (set KEDGE_DATA)")
            continue
        problem, test = read(name)
        rows = [figures(problem, test, one, RunContext(MemoryCache()), time.process_time()) for one in forced]
        listener = Listener()
        began = time.process_time()
        context = RunContext(MemoryCache(), listener)
        rows.append(figures(problem, test, METHODS["kedge"].choose_settings(problem, auto, context), context, began))
        table.append(rows)
        print(f"{name}: {problem.left.n} and {problem.right.n} accounts, {len(problem.anchors)} anchors")
        for note in dict.fromkeys(listener.notes):
            print(f"  {note}")
        print(f"  test: {shown(rows)}", flush=True)
    if table:
        better = sum(prior[1] > alone[1] for alone, prior, _ in table)
        means = np.mean(table, axis=0).tolist()
        print(f"means of {len(table)}: {shown(means)}; the prior gains in {better}")


if __name__ == "__main__":
    main()
