"""What a change of MGCN's training does to matching by its vectors alone (method mgcn).

    python benchmarks/mgcn_matching.py
    python benchmarks/mgcn_matching.py --changes "" "mgcn.release=0"

Half of the training anchors are held back and ranked; the test anchors are not looked at. Hits@1 and the mean
reciprocal rank, both directions averaged, and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace

import numpy as np
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import resolve
from kedge.methods import METHODS
from kedge.synth import planted
from kedge.types import IntArray, Problem

PAIRS = ("planted", "arenas95", "cora")
FORMER = "mgcn.stop=edges mgcn.gate=fixed mgcn.release=0 mgcn.steps=150 mgcn.patience=4"  # as decision 10 left it


def open_problem(name: str) -> tuple[Problem, IntArray] | None:
    """A pair with half of its training anchors, and the other half."""
    if name == "planted":
        pair = planted(1500, 1500, 1000, 15000, 15000, 0.85, 7)
        known = np.random.default_rng(0).permutation(pair.anchors)[:400]
        problem = Problem(pair.left, pair.right, known)
    elif (ROOT / name).is_dir():
        _, problem, _ = load(name)
    else:
        print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
        return None
    drawn = np.random.default_rng(1).permutation(problem.anchors)
    half = len(drawn) // 2
    return replace(problem, anchors=drawn[:half]), drawn[half:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--changes", nargs="*", default=[FORMER, ""], help="settings to compare")
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.pairs.split(","):
        opened = open_problem(name)
        if opened is None:
            continue
        problem, held = opened
        for change in asked.changes:
            config = resolve(assignments=["method=mgcn", *change.split()])
            before = time.process_time()
            found = [
                mean_ranking(METHODS["mgcn"].align(problem, config.model_copy(update={"seed": seed})), held)
                for seed in range(asked.seeds)
            ]
            cpu = (time.process_time() - before) / asked.seeds
            hits, mrr = (np.array([one[of] for one in found]) for of in ("hits1", "mrr"))
            each = " ".join(f"{value:.3f}" for value in hits)
            figures = f"hits@1 {hits.mean():.3f} ({each}) mrr {mrr.mean():.3f} {cpu:.0f} CPU s"
            print(f"{name:10} {change or '(the defaults)':66} {figures}", flush=True)


if __name__ == "__main__":
    main()
