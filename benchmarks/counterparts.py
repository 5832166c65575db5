"""How pure matches are where many accounts have no counterpart, where the truth about all is known.

    python benchmarks/counterparts.py [--seeds 2] [--only planted|copies]

By evidence alone. Planted pairs, and two copies of a real network that each keep a share of the accounts and lose a
share of the edges.
`share`: of the free left accounts, those with a counterpart, as it is and as it is estimated; `said` the mean
probability of the pairs called a match, `right` how many of them are right; `touching` is the precision that `kedge
evaluate` can see: matches of accounts that stand in no test pair are left out. The last lines are of all rows with 20
matches or more, and of the shares of all rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from copies import partial_copies
from shared_pairs import ROOT

from kedge.config import Config
from kedge.decide.decisions import decide
from kedge.evaluation.metrics import decisions
from kedge.ingest import read_network
from kedge.methods import METHODS
from kedge.probability.calibration import calibrate
from kedge.synthetic import planted
from kedge.types import Alignment, IntArray, Problem

# accounts a side, those with a counterpart, share of common edges, share of the anchors given
PLANTED = (
    (4000, 4000, 0.7, 0.2),
    (4000, 3600, 0.7, 0.2),
    (4000, 2600, 0.6, 0.2),
    (4000, 2600, 0.8, 0.5),
    (4000, 1600, 0.8, 0.3),
    (4000, 1600, 0.6, 0.5),
    (1500, 1000, 0.8, 0.2),
)
NETWORKS = (
    "gemsec-fb-tvshow",
    "gemsec-fb-politician",
    "gemsec-fb-government",
    "gemsec-fb-company",
    "ego-facebook",
    "fb100-swarthmore42",
)
# shares of the accounts kept and of the edges lost on either side, and of the anchors given
COPIES = ((1.0, 0.3, 0.1), (0.8, 0.5, 0.2), (0.7, 0.3, 0.2), (0.5, 0.2, 0.3), (0.5, 0.4, 0.3))
FEW = 20  # matches that say little about precision


def problems(kinds: list[str], seeds: int) -> Iterator[tuple[str, Problem, IntArray]]:
    for n, both, overlap, given in PLANTED if "planted" in kinds else ():
        for seed in range(1, seeds + 1):
            pair = planted(n, n, both, 8 * n, 8 * n, overlap, seed=seed)
            anchors = np.random.default_rng(seed).permutation(np.asarray(pair.anchors))
            known, test = np.split(anchors, [int(given * len(anchors))])
            yield f"planted {n} {both} {overlap} {given}", Problem(pair.left, pair.right, known), test
    for name in NETWORKS if "copies" in kinds else ():
        file = ROOT.parent / "singles" / name / "edges.tsv"
        if not file.exists():
            print(f"{name}: skipped, not under {ROOT.parent} (set KEDGE_DATA)")
            continue
        network, _ = read_network(file)
        for kept, lost, given in COPIES:
            for seed in range(1, seeds + 1):
                yield f"{name} {kept} {lost} {given}", *partial_copies(network, kept, lost, given, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", choices=["planted", "copies"])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    config = Config(method="evidence")
    print("problem | share | estimated | matches | said | right | touching | recall")
    rows, shares = [], []
    for name, problem, test in problems([asked.only] if asked.only else ["planted", "copies"], asked.seeds):
        settled = METHODS[config.method].choose_settings(problem, config)

        def run(one: Problem, settled: Config = settled) -> Alignment:
            return METHODS["evidence"].align(one, settled)

        calibrator = calibrate(problem, run, settled)
        matches = decide(problem, run(problem), calibrator, settled)
        called, truth = matches.partners("match"), dict(test.tolist())
        right = sum(truth.get(u) == v for u, v in called.items())
        said = matches.probability[matches.assigned & (matches.decision == 2)]
        shares.append(
            (len(test) / (problem.left.n - len(problem.anchors)), float(matches.counterpart[matches.rank == 1].mean()))
        )
        touching = decisions(called, test)["precision"]
        if len(called) >= FEW:
            rows.append((float(said.mean()), right / len(called), touching or 0.0, right / len(test)))
        print(
            f"{name} | {shares[-1][0]:.2f} | {shares[-1][1]:.2f} | {len(called)} |"
            f" {said.mean() if len(said) else 0:.3f} | {right / max(len(called), 1):.3f} |"
            f" {touching or 0:.3f} | {right / len(test):.3f}",
            flush=True,
        )
    if rows:
        means = np.mean(rows, axis=0)
        short = sum(row[1] < 0.9 for row in rows)
        print(f"{len(rows)} rows with {FEW} matches or more: said {means[0]:.3f}, right {means[1]:.3f} (under 0.9 in")
        print(f"{short}, least {min(row[1] for row in rows):.3f}), touching {means[2]:.3f}, recall {means[3]:.3f}")
    off = np.subtract(*np.transpose(shares))
    print(f"shares of {len(shares)} rows: estimated {-off.mean():+.3f} off in the mean, {np.abs(off).mean():.3f} apart")


if __name__ == "__main__":
    main()
