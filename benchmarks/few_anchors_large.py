"""Few anchors in large networks: evidence alone and what kedge chooses, on sub-networks of one real network.

    python benchmarks/few_anchors_large.py [--networks gemsec-deezer-hu,soc-epinions1] [--counts 50,300] [--seeds 1]
    python benchmarks/few_anchors_large.py --alpha-s 0.8 --alpha-c 0.8

Two sub-networks of each are drawn by the paper's rule (`kedge synth`), `--counts` of their anchors are given, and 5,000
of the others are asked for. Figures are Hits@1 and mean reciprocal ranks, mean of both directions and of the seeds; CPU
seconds are of the whole method, choosing included.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from few_anchors import run
from shared_pairs import ROOT

from kedge.context.run_context import RunContext
from kedge.evaluation import metrics as evaluate
from kedge.ingest import read_network
from kedge.synthetic import subnetworks
from kedge.types import Problem

NETWORKS = ("gemsec-fb-public-figure", "gemsec-deezer-hu", "soc-epinions1")
METHODS = ("evidence", "kedge")
ASKED = 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--counts", default="50,300", help="numbers of anchors")
    parser.add_argument("--alpha-s", type=float, default=0.6)
    parser.add_argument("--alpha-c", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    head = " ".join(f"{name:>8} hits1    mrr    cpu" for name in METHODS)
    print(f"{'network':24} accounts anchors {head}  chosen")
    for name in asked.networks.split(","):
        file = ROOT.parent / "singles" / name / "edges.tsv"
        if not file.exists():
            print(f"{name}: skipped, not under {ROOT.parent} (set KEDGE_DATA)")
            continue
        network, _ = read_network(file)
        for count in map(int, asked.counts.split(",")):
            found = np.zeros((len(METHODS), 3))
            said = []
            for seed in range(asked.seeds):
                pair = subnetworks(network, asked.alpha_s, asked.alpha_c, seed)
                drawn = np.random.default_rng(seed).permutation(np.asarray(pair.anchors))
                problem = Problem(pair.left, pair.right, drawn[:count])
                for row, method in enumerate(METHODS):
                    before = time.process_time()
                    alignment, chosen = run(method, problem, seed, RunContext())
                    seconds = time.process_time() - before
                    ranking = evaluate.ranking(alignment, drawn[count : count + ASKED])
                    found[row] += (ranking["hits1"], ranking["mrr"], seconds)
                    said += [chosen] if chosen else []
            cells = " ".join(f"{'':8} {a:.3f} {b:6.3f} {c:6.0f}" for a, b, c in found / asked.seeds)
            print(f"{name:24} {problem.left.n + problem.right.n:8d} {count:7d} {cells}  {', '.join(said)}", flush=True)


if __name__ == "__main__":
    main()
