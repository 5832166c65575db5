"""How well probabilities come true, and how pure the decided matches are, on every shared pair of networks.

    python benchmarks/calibration.py [--method NAME] [--seeds 0 1 2] [--split r20_s1] [PAIR ...]

`ECE` (15 bins) is of the most probable candidate of each test account, given that it has a counterpart, as test
accounts do; `acc` and `said` are how often it was right and how often it was said to be. `all` is the ECE over every
free account, with the probability that includes "no counterpart", where an account without a listed anchor counts as
having none: too harsh where anchor lists are incomplete. `precision` and `recall` are of the pairs decided "match" at
the default threshold; if the listed pairs are a sample of the true ones, the precision lies between that and `at
most`. `matched` is matched_hits1 of the whole assignment, `+cpu` what calibration and decision add.
"""

from __future__ import annotations

import argparse

import numpy as np
from shared_pairs import ROOT, load, match_in_memory

from kedge.config import Config
from kedge.decide.decisions import choose_threshold
from kedge.evaluation.metrics import balanced_pairs, calibration_error, decisions, macro
from kedge.methods import METHODS


def measure(name: str, method: str, seed: int, asked: str | None) -> dict[str, float | None]:
    split, problem, test = load(name, asked)
    made = match_in_memory(problem, Config(method=method, seed=seed))
    matches, calibrator, alignment = made.matches, made.calibrator, made.alignment
    given, right = made.leaders(problem, test)
    partner = np.full(problem.left.n, -1)
    partner[test[:, 0]] = test[:, 1]
    best = matches.rank == 1
    decided = decisions(matches.partners("match"), test)
    true, false = balanced_pairs(test, problem.right.n, problem.anchors, np.random.default_rng(seed))
    said = [calibrator.predicts_link(problem, alignment, pairs) for pairs in (true, false)]
    threshold = choose_threshold(matches.probability[matches.assigned], made.config)
    for note in calibrator.notes:
        print(f"# {name} {split}: {note}")
    return {
        "held-out": calibrator.validated,
        "acc": float(right.mean()),
        "said": float(given.mean()),
        "ECE": calibration_error(given, right),
        "all": calibration_error(matches.probability[best], (partner[matches.left] == matches.right)[best]),
        "share": float(matches.counterpart[best].mean()),
        "threshold": threshold,
        "matches": len(matches.partners("match")),
        "precision": decided["precision"],
        "at most": decided["sample_precision"],
        "recall": decided["recall"],
        "matched": decisions(matches.partners(), test)["matched_hits1"],
        "macroF1": macro(said[0], said[1])["macro_f1"],
        "cpu": made.seconds[0],
        "+cpu": made.seconds[1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", help="names under KEDGE_DATA/pairs; none: all")
    parser.add_argument("--method", default=Config().method, choices=sorted(METHODS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--split", help="a folder under splits/; not given: off20 where there is one, else r20_s0")
    options = parser.parse_args()
    header = False
    for name in options.pairs or sorted(folder.name for folder in ROOT.iterdir()):
        for seed in options.seeds:
            row = measure(name, options.method, seed, options.split)
            if not header:
                print(f"{'pair':<24} seed " + " ".join(f"{column:>9}" for column in row))
                header = True
            cells = (
                f"{'-':>9}" if v is None else f"{v:9d}" if isinstance(v, int) else f"{v:9.3f}" for v in row.values()
            )
            print(f"{name:<24} {seed:4d} " + " ".join(cells), flush=True)


if __name__ == "__main__":
    main()
