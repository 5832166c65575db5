"""MGCN whole against cut into parts, on the same pair: what cutting costs, and what boundary refinement gives back.

    python benchmarks/partitioned.py NETWORK [--n-max 12000] [--dimensions 128] [--alpha 0.9] [--train 0.2]

NETWORK (e.g. gemsec-deezer-hu) is cut into the paper's two sub-networks; every row is Hits@1, Hits@10 and MRR on the
anchors that were not given. Settings are fixed beforehand; nothing is chosen by these figures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np

from kedge import evaluate
from kedge.config import Config, ReadConfig, resolve
from kedge.ingest import read_network
from kedge.methods import METHODS
from kedge.synth import subnetworks
from kedge.types import Problem
from kedge.workshop import MemoryShelf, Workshop


class Hoard(MemoryShelf):
    """Keeps parts after their network is finished: the variants differ in what happens to the same parts."""

    def drop(self, keys: Collection[str]) -> None:
        """Not here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", type=Path)
    parser.add_argument("--n-max", type=int, default=12_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--alpha", type=float, default=0.9)
    parser.add_argument("--train", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    network, _ = read_network(asked.network, ReadConfig())
    pair = subnetworks(network, asked.alpha, asked.alpha, asked.seed)
    anchors = pair.anchors[np.random.default_rng(asked.seed).permutation(len(pair.anchors))]
    known, test = np.split(anchors, [round(asked.train * len(anchors))])
    problem = Problem(pair.left, pair.right, known)
    print(f"{network.n:,} accounts, {network.edges:,} edges; {len(known):,} anchors given, {len(test):,} held out")
    shelf = Hoard()
    base = [f"mgcn.dimensions={asked.dimensions}", f"mgcn.steps={asked.steps}", "engine.name=serial"]
    cut = [*base, f"partition.n_max={asked.n_max}", "partition.boundary_steps=0"]
    variants = {
        "whole": [*base, f"partition.n_max={network.n}"],
        "cut, boundary left alone": cut,
        "cut, boundary refined (default)": cut[:-1],
        "cut, the paper's shared accounts and Eq. 12": [*cut, "partition.shared_by=paper", "partition.reconcile=paper"],
        "cut, the paper's shared accounts, rotated, refined": [*cut[:-1], "partition.shared_by=paper"],
    }
    print("variant | CPU s | hits1 | hits10 | mrr")
    for name, settings in variants.items():
        show(name, problem, test, resolve(assignments=settings), asked.seed, Workshop(shelf))


def show(name: str, problem: Problem, test: np.ndarray, config: Config, seed: int, workshop: Workshop) -> None:
    began = time.process_time()
    found = evaluate.ranking(METHODS["mgcn"](problem, config, seed, workshop), test)
    spent = time.process_time() - began
    print(f"{name} | {spent:.0f} | {found['hits1']:.4f} | {found['hits10']:.4f} | {found['mrr']:.4f}", flush=True)


if __name__ == "__main__":
    main()
