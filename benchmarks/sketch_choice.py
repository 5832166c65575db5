"""How the settings of cut networks were chosen: MGCN on three pairs, judged on anchors held back for this alone.

    python benchmarks/sketch_choice.py [--networks gemsec-fb-tvshow gemsec-fb-politician planted] [--only bridges ...]

Each network (or a planted pair) is cut into the paper's two sub-networks, alpha 0.9; a fifth of the anchors is given, a
fifth judges, the others are not looked at. These networks are not the ones that partitioned.py reports.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from partitioned import KeepingCache
from shared_pairs import ROOT

from kedge.config import ReadConfig, resolve
from kedge.context.run_context import RunContext
from kedge.embedding.network import embed_both
from kedge.evaluation import metrics as evaluate
from kedge.ingest import read_network
from kedge.similarity import project_by
from kedge.synthetic import planted, subnetworks
from kedge.types import IntArray, Problem

BASE = "mgcn.dimensions=64 mgcn.steps=150 engine.name=serial".split()
CHANGES = {
    "the default": "",
    "boundary_steps=0": "partition.boundary_steps=0",
    "boundary_steps=16": "partition.boundary_steps=16",
    "learned_weight=0": "partition.learned_weight=0",
    "learned_weight=0, boundary_steps=0": "partition.learned_weight=0 partition.boundary_steps=0",
    "learned_weight=0.1": "partition.learned_weight=0.1",
    "learned_weight=1": "partition.learned_weight=1",
    "sketch_length=4": "partition.sketch_length=4",
    "sketch_length=16": "partition.sketch_length=16",
    "sketch_steps=4": "partition.sketch_steps=4",
    "sketch_steps=16": "partition.sketch_steps=16",
    "shared_by=bridges": "partition.shared_by=bridges",
    "shared_by=paper": "partition.shared_by=paper",
    "half the steps": "mgcn.steps=75",
    "whole": "partition.n_max=1000000",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["gemsec-fb-tvshow", "gemsec-fb-politician", "planted"])
    parser.add_argument("--only", nargs="+", choices=list(CHANGES), default=list(CHANGES))
    asked = parser.parse_args()
    pairs = {name: load(name) for name in asked.networks}
    caches = {name: RunContext(KeepingCache()) for name in pairs}
    print("change | mean MRR |", " | ".join(f"{name} Hits@1, MRR" for name in pairs))
    for change in asked.only:
        found = {}
        for name, (problem, held) in pairs.items():
            n = problem.left.n
            cut = [f"partition.n_max={n // 3}", f"partition.n_min={n // 15}", f"partition.shared={n // 18}"]
            config = resolve(assignments=[*BASE, *cut, *CHANGES[change].split()])
            left, right = embed_both(problem, config, 0, caches[name])
            found[name] = evaluate.ranking(project_by(left.vectors, right.vectors, problem.anchors, 0)[0], held)
        mean = np.mean([one["mrr"] for one in found.values()])
        cells = " | ".join(f"{one['hits1']:.3f}, {one['mrr']:.3f}" for one in found.values())
        print(f"{change} | {mean:.4f} | {cells}", flush=True)


def load(name: str) -> tuple[Problem, IntArray]:
    """The pair with a fifth of its anchors, and another fifth to judge by."""
    if name == "planted":
        pair = planted(5000, 5000, 4000, 40_000, 40_000, 0.8, 11)
    else:
        network, _ = read_network(Path(ROOT.parent / "singles" / name / "edges.tsv"), ReadConfig())
        pair = subnetworks(network, 0.9, 0.9, 0)
    anchors = pair.anchors[np.random.default_rng(0).permutation(len(pair.anchors))]
    fifth = round(len(anchors) / 5)
    return Problem(pair.left, pair.right, anchors[:fifth]), anchors[fifth : 2 * fifth]


if __name__ == "__main__":
    main()
