"""MGCN whole against cut into parts, on the same pair: what cutting costs, and what gives it back.

    python benchmarks/partitioned.py NETWORK [--n-max 12000] [--dimensions 128] [--alpha 0.9] [--train 0.2] [--only ...]

NETWORK (e.g. gemsec-deezer-hu's edges.tsv) is cut into the paper's two sub-networks; every row is Hits@1, Hits@10 and
MRR on the anchors that were not given, by the vectors' cosine without a pair network. Each variant runs in a process of
its own, for its CPU seconds and memory; those that differ only in what happens to the same parts take them from the
first one's cache, so their seconds leave out the training. Nothing is chosen by these figures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import numpy as np
from measuring import measure

from kedge.config import Config, ReadConfig, resolve
from kedge.context.run_context import MemoryCache, RunContext
from kedge.embedding.network import embed_both
from kedge.embedding.sketch import concatenate_sketch
from kedge.evaluation import metrics as evaluate
from kedge.ingest import read_network
from kedge.linalg import sketch_network
from kedge.similarity import project_by
from kedge.store import DiskCache
from kedge.synthetic import subnetworks
from kedge.types import Alignment, IntArray, Problem

WHOLE = "partition.n_max=10000000"
ALONE, BESIDE = "the sketch alone, nothing trained", "whole, concatenated with its sketch"
BRIDGES, PAPER = "partition.shared_by=bridges", "partition.shared_by=paper"
VARIANTS = {
    "whole": WHOLE,
    ALONE: WHOLE,
    BESIDE: WHOLE,
    "cut from one sketch, boundary left alone": "partition.boundary_steps=0 partition.learned_weight=0",
    "cut from one sketch, boundary refined": "partition.learned_weight=0",
    "cut, refined, concatenated with the sketch (default)": "",
    "cut, shared bridges, boundary left alone": f"{BRIDGES} partition.boundary_steps=0",
    "cut, shared bridges, refined (default before)": BRIDGES,
    "cut, the paper's shared accounts and Eq. 12": f"{PAPER} partition.reconcile=paper partition.boundary_steps=0",
    "cut, the paper's shared accounts, rotated, refined": PAPER,
}


class KeepingCache(MemoryCache):
    """Keeps parts after their network is finished: the variants differ in what happens to the same parts."""

    def drop(self, keys: Collection[str]) -> None:
        """Not here."""


class KeepingDiskCache(DiskCache):
    """The same for variants that run in processes of their own."""

    def drop(self, keys: Collection[str]) -> None:
        """Not here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", type=Path)
    parser.add_argument("--n-max", type=int, default=12_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--alpha", type=float, default=0.9)
    parser.add_argument("--train", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--cache", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cache:
        print(run_one(asked, asked.only[0]))
        return
    print("variant | CPU s | MB at most | hits1 | hits10 | mrr", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        for variant in asked.only:
            words = [sys.executable, __file__, *sys.argv[1:], "--only", variant, "--cache", cache]
            found = measure(*words)
            print(f"{variant} | {found.cpu_seconds:.0f} | {found.peak_mb:,.0f} | {found.printed.strip()}", flush=True)


def run_one(asked: argparse.Namespace, variant: str) -> str:
    """One variant, here; its figures as a row's last cells."""
    network, _ = read_network(asked.network, ReadConfig())
    pair = subnetworks(network, asked.alpha, asked.alpha, asked.seed)
    anchors = pair.anchors[np.random.default_rng(asked.seed).permutation(len(pair.anchors))]
    known, test = np.split(anchors, [round(asked.train * len(anchors))])
    problem = Problem(pair.left, pair.right, known)
    sizes = f"{pair.left.n:,} and {pair.right.n:,} accounts, {pair.left.edges:,} and {pair.right.edges:,} edges; "
    print(f"{sizes}{len(known):,} anchors given, {len(test):,} held out", file=sys.stderr)
    settings = [f"mgcn.dimensions={asked.dimensions}", f"mgcn.steps={asked.steps}", "engine.name=serial"]
    config = resolve(assignments=[*settings, f"partition.n_max={asked.n_max}", *VARIANTS[variant].split()])
    return figures(align(problem, config, asked.seed, variant, RunContext(KeepingDiskCache(asked.cache, print))), test)


def align(problem: Problem, config: Config, seed: int, variant: str, context: RunContext) -> Alignment:
    """Cosines of MGCN's vectors; for two variants of the sketch, alone or concatenated with whole networks' vectors."""
    made = () if variant == ALONE else embed_both(problem, config, seed, context)
    if variant not in (ALONE, BESIDE):
        return project_by(made[0].vectors, made[1].vectors, problem.anchors, seed)[0]
    d, steps, weight = config.mgcn.dimensions, config.partition.sketch_steps, config.partition.learned_weight
    sides = [
        sketch_network(network, d, steps, seed + side) for side, network in enumerate((problem.left, problem.right))
    ]
    if variant == BESIDE:
        sides = [concatenate_sketch(S, one.vectors, weight) for S, one in zip(sides, made, strict=True)]
    return project_by(sides[0], sides[1], problem.anchors, seed)[0]


def figures(alignment: Alignment, test: IntArray) -> str:
    """Hits@1, Hits@10 and MRR on pairs that were not given."""
    found = evaluate.ranking(alignment, test)
    return f"{found['hits1']:.4f} | {found['hits10']:.4f} | {found['mrr']:.4f}"


if __name__ == "__main__":
    main()
