"""Which constants evidence should have: each changed alone, judged on anchors held back from training.

    python benchmarks/evidence_choice.py [--pairs cora,douban] [--planted 4000] [--constants temperature,raise]

No test pair is read. Of the research pairs each training anchor is hidden once (three folds); of planted pairs all
anchors that are not for training are asked. Prints, for each value, the mean reciprocal rank over all problems (both
directions, ties at their average), and its mean difference from the default with the standard error over problems. A
default changes only for a difference of more than two standard errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import EvidenceConfig
from kedge.evidence import model, ranking
from kedge.evidence import propagate as rounds
from kedge.evidence.propagate import propagate
from kedge.linalg import SparseAlignment
from kedge.synthetic import planted
from kedge.types import IntArray, Problem

# Settings by their name in EvidenceConfig; constants of modules by module and name. The default stands in the code.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "first_temperature": (2.0, 8.0),
    "temperature": (0.7, 1.4),
    "rounds": (15, 45),
    "candidates": (5, 20),
    "least_belief": (0.003, 0.03),
}
CONSTANTS: dict[str, tuple[ModuleType, str, tuple[Any, ...]]] = {
    "raise": (ranking, "_RAISE", (0.0, 1.5, 5.0)),
    "damping": (rounds, "_DAMPING", (0.0, 0.3, 0.7)),
    "profile_pseudo": (model, "_PSEUDO", (3.0, 30.0)),
    "profile_most": (model, "_MOST", (0.9, 0.99)),
}
# Overlap of edges and share of anchors known, of planted pairs.
PLANTED = ((0.5, 0.2), (0.5, 0.05), (0.7, 0.02), (0.7, 0.2), (0.4, 0.4))
LARGE = ("twitter-multiplex-rt-mt", "douban-weibo-dana", "foursquare-twitter", "phone-email")


@contextmanager
def constant(module: ModuleType, name: str, value: Any) -> Iterator[None]:
    """A module's constant changed for a while."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def problems(pairs: list[str], nodes: int) -> Iterator[tuple[str, list[tuple[Problem, IntArray]]]]:
    """Each problem by name, as what may be seen and what is asked."""
    for name in pairs:
        yield name, list(load(name)[1].folds(3, seed=7))
    for overlap, known in PLANTED if nodes else ():
        pair = planted(nodes, nodes, int(0.7 * nodes), 5 * nodes, 5 * nodes, overlap, seed=11)
        order = np.random.default_rng(11).permutation(len(pair.anchors))
        cut = int(known * len(order))
        seen, asked = (np.asarray(pair.anchors)[np.sort(part)] for part in (order[:cut], order[cut:]))
        yield f"planted {overlap} {known}", [(Problem(pair.left, pair.right, seen), asked)]


def mrr(folds: list[tuple[Problem, IntArray]], config: EvidenceConfig) -> float:
    ranked = (SparseAlignment(ranking.ranking_scores(propagate(problem, config))) for problem, _ in folds)
    return float(np.mean([mean_ranking(one, held)["mrr"] for one, (_, held) in zip(ranked, folds, strict=True)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    small = sorted(folder.name for folder in ROOT.iterdir() if folder.name not in LARGE) if ROOT.is_dir() else []
    parser.add_argument("--pairs", default=",".join(small), help="comma-separated; the quick ones by default")
    parser.add_argument("--planted", type=int, default=4000, help="accounts of planted pairs; 0 for none")
    parser.add_argument("--constants", default=",".join([*SETTINGS, *CONSTANTS]), help="comma-separated")
    options = parser.parse_args()
    default = EvidenceConfig(form="sparse")
    made = list(problems([name for name in options.pairs.split(",") if name], options.planted))
    base = np.array([mrr(folds, default) for _, folds in made])
    for (name, _), value in zip(made, base, strict=True):
        print(f"{name:24} {value:.4f}")
    print(f"{'mean':24} {base.mean():.4f}")
    print(f"{'constant':18} {'value':>7} {'mean':>7} {'change':>8} {'s.e.':>7}", flush=True)
    for name in options.constants.split(","):
        values = SETTINGS[name] if name in SETTINGS else CONSTANTS[name][2]
        for value in values:
            if name in SETTINGS:
                got = np.array([mrr(folds, default.model_copy(update={name: value})) for _, folds in made])
            else:
                with constant(*CONSTANTS[name][:2], value):
                    got = np.array([mrr(folds, default) for _, folds in made])
            change = got - base
            error = change.std(ddof=1) / np.sqrt(len(change)) if len(change) > 1 else 0.0
            print(f"{name:18} {value!s:>7} {got.mean():7.4f} {change.mean():+8.4f} {error:7.4f}", flush=True)


if __name__ == "__main__":
    main()
