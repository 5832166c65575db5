"""What held-back anchors say of embeddings before a run, and what test anchors get: is the advice good?

    python benchmarks/settled.py [PROBLEM ...]

A problem is a research pair, `NETWORK:ALPHA_S:ALPHA_C:ANCHORS` (two sub-networks of one real network by the paper's
rule), or `planted:ACCOUNTS` (as in methods_at_20k.py). Each prints what was said when it was settled, and on test
anchors Hits@1, mean reciprocal rank and CPU seconds by evidence alone, with its prior (one turn), and as it was settled
(choosing included).
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from shared_pairs import ROOT, load

from kedge import evaluate, synth
from kedge.config import Config, resolve
from kedge.ingest import read_network
from kedge.methods import METHODS, settle
from kedge.progress import Silent
from kedge.types import IntArray, Problem
from kedge.workshop import MemoryShelf, Workshop

PROBLEMS = (
    "acm-dblp",
    "arxiv-multiplex-2-12",
    "cora",
    "dblp17-19-mauil",
    "douban",
    "foursquare-twitter",
    "phone-email",
    "ego-facebook:0.6:0.2:1500",
    "ego-facebook:0.6:0.5:1500",
    "gemsec-fb-public-figure:0.6:0.5:300",
    "gemsec-fb-public-figure:0.6:0.5:2000",
    "gemsec-deezer-hu:0.6:0.5:300",
    "gemsec-deezer-hu:0.6:0.5:8000",
    "soc-epinions1:0.6:0.5:5000",
    "planted:20000",
)
ASKED = 5000  # test anchors


class Listener(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        """As a user would read it."""
        self.said.append(text)


def read(name: str) -> tuple[Problem, IntArray]:
    """The problem and its test anchors."""
    kind, *numbers = name.split(":")
    if not numbers:
        _, problem, test = load(kind)
        return problem, test
    if kind == "planted":
        n = int(numbers[0])
        pair = synth.planted(n, n, n // 2, 5 * n, 5 * n, overlap=0.5, seed=0)
        known, test = synth.split(pair.anchors, 0.5, 0)
        return Problem(pair.left, pair.right, known), test
    network, _ = read_network(ROOT.parent / "singles" / kind / "edges.tsv")
    pair = synth.subnetworks(network, float(numbers[0]), float(numbers[1]), 0)
    known, test = np.split(np.random.default_rng(0).permutation(np.asarray(pair.anchors)), [int(numbers[2])])
    return Problem(pair.left, pair.right, known), test[:ASKED]


def figures(problem: Problem, test: IntArray, config: Config, workshop: Workshop, began: float) -> str:
    alignment = METHODS["kedge"](problem, config, 0, workshop)
    seconds = time.process_time() - began
    found = evaluate.ranking(alignment, test)
    return f"{found['hits1']:.3f} / {found['mrr']:.3f} ({seconds:.1f} s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    auto = resolve(assignments=["method=kedge", "pairing.vectors=sketch"])
    for name in asked.problems:
        folder = ROOT / name if ":" not in name else ROOT.parent / "singles" / name.split(":")[0]
        if not name.startswith("planted:") and not folder.is_dir():
            print(f"{name}: skipped, not under {ROOT.parent} (set KEDGE_DATA)")
            continue
        problem, test = read(name)
        alone, prior = (
            figures(
                problem,
                test,
                resolve(assignments=["method=kedge", "pairing.vectors=sketch", *given]),
                Workshop(MemoryShelf()),
                time.process_time(),
            )
            for given in (["pairing.use=no"], ["pairing.use=yes", "pairing.turns=1"])
        )
        listener = Listener()
        began = time.process_time()
        workshop = Workshop(MemoryShelf(), listener)
        chosen = figures(problem, test, settle(problem, auto, 0, workshop), workshop, began)
        print(f"{name}: {problem.left.n} and {problem.right.n} accounts, {len(problem.anchors)} anchors")
        for said in listener.said:
            print(f"  {said}")
        print(f"  test: evidence alone {alone}, prior {prior}, as settled {chosen}", flush=True)


if __name__ == "__main__":
    main()
