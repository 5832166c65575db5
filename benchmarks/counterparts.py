"""How pure matches are where many accounts have no counterpart, on planted pairs, where the truth about all is known.

    python benchmarks/counterparts.py [--seeds 2]

`share`: of the free left accounts, those with a counterpart, as it is and as it is estimated; `said` the mean
probability of the pairs called a match, `right` how many of them are right; `touching` is the precision that `kedge
evaluate` can see: matches of accounts that stand in no test pair are left out.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from kedge.alignment import Alignment
from kedge.config import Config
from kedge.evaluate import decisions
from kedge.link.calibrate import calibrate
from kedge.link.decide import decide
from kedge.methods import METHODS
from kedge.synth import planted
from kedge.types import Problem

# accounts a side, those with a counterpart, share of common edges, share of the anchors given
CASES = (
    (4000, 4000, 0.7, 0.2),
    (4000, 3600, 0.7, 0.2),
    (4000, 2600, 0.6, 0.2),
    (4000, 2600, 0.8, 0.5),
    (4000, 1600, 0.8, 0.3),
    (4000, 1600, 0.6, 0.5),
    (1500, 1000, 0.8, 0.2),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    config = Config(method="evidence")

    def run(problem: Problem, seed: int) -> Alignment:
        return METHODS["evidence"](problem, config, seed)

    print(
        "accounts | with counterpart | overlap | given | share | estimated | matches | said | right | touching | recall"
    )
    for n, both, overlap, given in CASES:
        for seed in range(1, asked.seeds + 1):
            pair = planted(n, n, both, 8 * n, 8 * n, overlap, seed=seed)
            anchors = np.random.default_rng(seed).permutation(np.asarray(pair.anchors))
            known, test = np.split(anchors, [int(given * len(anchors))])
            problem = Problem(pair.left, pair.right, known)
            settings = config.decide
            calibrator = calibrate(
                problem, run, share=settings.holdout, folds=settings.folds, candidates=config.candidates, seed=0
            )
            matches = decide(problem, run(problem, 0), calibrator, config)
            called, truth = matches.partners("match"), dict(test.tolist())
            right = sum(truth.get(u) == v for u, v in called.items())
            said = matches.probability[matches.assigned & (matches.decision == 2)]
            share, estimated = len(test) / (n - len(known)), calibrator.counterpart.share
            print(
                f"{n} | {both} | {overlap} | {given} | {share:.2f} | {estimated:.2f} | {len(called)} |"
                f" {said.mean() if len(said) else 0:.3f} | {right / max(len(called), 1):.3f} |"
                f" {decisions(called, test)['precision'] or 0:.3f} | {right / len(test):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
