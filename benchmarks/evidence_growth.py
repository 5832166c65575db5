"""CPU seconds an edge and peak memory of evidence propagation over growing planted pairs, each in a fresh process.

python benchmarks/evidence_growth.py [--nodes 10000 100000 1000000]

Kernels are compiled beforehand, reading is not counted. The goal: CPU an edge grows at most twofold from the smallest
to the largest pair.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measuring import measure


def child(nodes: int) -> None:
    """Plant, propagate once on a toy so that kernels are loaded, then propagate and rank."""
    import time

    import numpy as np

    from kedge.config import EvidenceConfig
    from kedge.evaluation import metrics as evaluate
    from kedge.evidence.propagate import propagate
    from kedge.evidence.ranking import ranking_scores
    from kedge.linalg import SparseAlignment
    from kedge.synthetic import planted
    from kedge.types import Network, Problem

    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    config = EvidenceConfig(form="sparse")
    propagate(Problem(star, star, np.array([(0, 0), (1, 1)])), config)
    pair = planted(nodes, nodes, int(0.7 * nodes), 5 * nodes, 5 * nodes, 0.6, seed=5)
    order = np.random.default_rng(5).permutation(len(pair.anchors))
    cut = len(order) // 5
    seen, asked = (np.asarray(pair.anchors)[np.sort(part)] for part in (order[:cut], order[cut:]))
    began = time.process_time()
    evidence = propagate(Problem(pair.left, pair.right, seen), config)
    seconds = time.process_time() - began
    ranking = evaluate.ranking(SparseAlignment(ranking_scores(evidence)), asked)
    figures = {"cpu": seconds, "rounds": evidence.rounds, "hits1": ranking["hits1"], "mrr": ranking["mrr"]}
    print(json.dumps(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    print("accounts a side | edges in all | rounds | CPU s | CPU µs an edge | peak MB | hits1 | mrr", flush=True)
    costs = []
    for nodes in options.nodes:
        run = measure(sys.executable, str(Path(__file__)), "--child", str(nodes), env={"OMP_NUM_THREADS": "1"})
        found = json.loads(run.printed)
        edges = 10 * nodes
        costs.append(found["cpu"] / edges)
        print(
            f"{nodes:,} | {edges:,} | {found['rounds']} | {found['cpu']:.1f} | {costs[-1] * 1e6:.1f} |"
            f" {run.peak_mb:.0f} | {found['hits1']:.3f} | {found['mrr']:.3f}",
            flush=True,
        )
    print(f"CPU an edge, last against first: {costs[-1] / costs[0]:.2f}")


if __name__ == "__main__":
    main()
