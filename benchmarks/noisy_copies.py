"""Small networks that overlap fully: kedge's matches beside seeded graph matching (FAQ), on copies of real networks.

    python benchmarks/noisy_copies.py [--accounts 1000] [--known 0.2] [--seeds 1] [NETWORK ...]

A sample of a real network (accounts that a random walk meets) and a renumbered copy of it each lose a share of their
edges; `known` of the accounts are anchors. `matched` is the share of the others whose assigned partner is right, by
`kedge match`'s own decisions and by FAQ; `ece` is the calibration error; precision and recall are of the pairs called a
match. CPU seconds of kedge have calibration and decisions in them. The last lines are means.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.sparse.csgraph import connected_components
from shared_pairs import ROOT, match_greedily, match_in_memory, matched_share, mean_ranking

from kedge.config import Config
from kedge.evaluation import metrics as evaluate
from kedge.ingest import read_network
from kedge.methods import METHODS
from kedge.types import IntArray, Network, Problem

NETWORKS = (
    "fb100-haverford76",
    "gemsec-fb-tvshow",
    "gemsec-fb-politician",
    "ego-facebook",
    "email-enron",
    "soc-slashdot0902",
)
LOSSES = ((0.0, 0.05), (0.0, 0.3), (0.3, 0.3))  # shares of the edges that the left and the right network lose
COLUMNS = ("hits1", "mrr", "matched", "faq", "ece", "precision", "recall", "cpu", "faq_cpu")


def sample(network: Network, accounts: int, rng: np.random.Generator) -> IntArray:
    """Edges [m, 2] among the accounts that a random walk meets first; now and then it starts again from one of them."""
    A = network.adjacency
    component = connected_components(A, directed=False)[1]
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    here = int(rng.choice(largest))
    met = {here: 0}
    while len(met) < min(accounts, len(largest)):
        around = A.indices[A.indptr[here] : A.indptr[here + 1]]
        walks = len(around) and rng.random() > 0.1
        here = int(rng.choice(around)) if walks else int(rng.choice(list(met)))
        met.setdefault(here, len(met))
    chosen = np.array(list(met))
    part = A[chosen][:, chosen].tocoo()
    edges = np.column_stack([part.row, part.col])
    return edges[edges[:, 0] < edges[:, 1]]


def noisy_copies(edges: IntArray, losses: tuple[float, float], known: float, seed: int) -> tuple[Problem, IntArray]:
    """The problem and the partners to find."""
    rng = np.random.default_rng(seed)
    n = int(edges.max()) + 1
    kept = [edges[rng.random(len(edges)) >= loss] for loss in losses]
    number = rng.permutation(n)
    pairs = rng.permutation(np.column_stack([np.arange(n), number]))
    anchors, test = np.split(pairs, [int(known * n)])
    return Problem(Network.from_edges(kept[0], n), Network.from_edges(number[kept[1]], n), anchors), test


def measure(problem: Problem, test: IntArray) -> dict[str, float]:
    made = match_in_memory(problem, Config())
    given, right = made.leaders(problem, test)
    called = evaluate.decisions(made.matches.partners("match"), test)
    began = time.process_time()
    faq = METHODS["faq"].align(problem, Config(method="faq"))
    faq_seconds = time.process_time() - began
    ranked = mean_ranking(made.alignment, test)
    found = {
        "hits1": ranked["hits1"],
        "mrr": ranked["mrr"],
        "matched": matched_share(made.matches.partners(), test),
        "faq": matched_share(match_greedily(faq), test),
        "ece": evaluate.calibration_error(given, right),
        "precision": called["precision"],
        "recall": called["recall"],
        "cpu": sum(made.seconds),
        "faq_cpu": faq_seconds,
    }
    return {name: float("nan") if value is None else float(value) for name, value in found.items()}


def line(name: str, row: dict[str, float]) -> None:
    cells = (f"{row[column]:9.{1 if 'cpu' in column else 3}f}" for column in COLUMNS)
    print(f"{name:32}" + " ".join(cells), flush=True)


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {column: float(np.nanmean([row[column] for row in rows])) for column in COLUMNS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--accounts", type=int, default=1000)
    parser.add_argument("--known", type=float, default=0.2)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'network, edges lost':32}" + " ".join(f"{column:>9}" for column in COLUMNS))
    found: dict[tuple[float, float], list[dict[str, float]]] = {loss: [] for loss in LOSSES}
    for name in asked.networks:
        file = ROOT.parent / "singles" / name / "edges.tsv"
        if not file.exists():
            print(f"{name}: skipped, not under {ROOT.parent} (set KEDGE_DATA)")
            continue
        network, _ = read_network(file)
        for losses in LOSSES:
            rows = []
            for seed in range(asked.seeds):
                edges = sample(network, asked.accounts, np.random.default_rng(seed))
                rows.append(measure(*noisy_copies(edges, losses, asked.known, seed)))
            found[losses].append(mean(rows))
            line(f"{name} {losses[0]:g} {losses[1]:g}", found[losses][-1])
    for losses, rows in found.items():
        if rows:
            line(f"mean {losses[0]:g} {losses[1]:g}", mean(rows))


if __name__ == "__main__":
    main()
