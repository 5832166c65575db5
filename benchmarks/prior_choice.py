"""Which vectors make the better prior of evidence: MGCN's, the untrained sketch of each network, or both concatenated.

    python benchmarks/prior_choice.py [--pairs cora,douban] [--shares 5,10,25,50] [--seeds 2]

Anchors are drawn from the training anchors of a pair's split (a fifth of all), the other training anchors judge; the
test anchors are not read. Mean reciprocal ranks, both directions: `alone` by the vectors, `prior` by evidence
with the vectors as its prior in any case, `evidence` without. CPU seconds are those of the vectors of both networks.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import Config, resolve
from kedge.context.run_context import MemoryCache, RunContext, Silent
from kedge.embedding.network import embed_both
from kedge.embedding.sketch import concatenate_sketch, sketch_both
from kedge.evidence.forms import FORMS
from kedge.evidence.pairing import near_pairs, prior_of
from kedge.evidence.ranking import ranking_scores
from kedge.linalg import SparseAlignment
from kedge.methods import METHODS
from kedge.similarity.align import align_vectors
from kedge.types import FloatArray, Problem

PAIRS = ("cora", "douban", "arxiv-multiplex-2-12", "foursquare-twitter", "phone-email")


def learnt(problem: Problem, config: Config) -> list[FloatArray]:
    return [made.vectors for made in embed_both(problem, config, config.seed, RunContext())]


def sketched(problem: Problem, config: Config) -> list[FloatArray]:
    return list(sketch_both(problem, config, MemoryCache()))


def timed(
    make: Callable[[Problem, Config], list[FloatArray]], problem: Problem, config: Config
) -> tuple[list[FloatArray], float]:
    before = time.process_time()
    return make(problem, config), time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--shares", default="5,10,25,50", help="per cent of the training anchors")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--set", nargs="*", default=[])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    config = resolve(assignments=["method=kedge", *asked.set])
    for name in asked.pairs.split(","):
        if not (ROOT / name).is_dir():
            print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
            continue
        _, problem, _ = load(name)
        S, sketching = timed(sketched, problem, config)
        X, learning = timed(learnt, problem, config)
        kinds = {"mgcn": X, "sketch": S}
        for weight in (0.3, 1.0):
            kinds[f"both {weight}"] = [concatenate_sketch(s, x, weight) for s, x in zip(S, X, strict=True)]
        print(f"{name}: vectors {learning:.0f} CPU s, sketches {sketching:.1f} CPU s", flush=True)
        for share in (float(one) for one in asked.shares.split(",")):
            count = max(round(share / 100 * len(problem.anchors)), 5)
            found: dict[str, list[float]] = {"evidence": []}
            for seed in range(asked.seeds):
                drawn = np.random.default_rng(seed).permutation(problem.anchors)
                trial, held = replace(problem, anchors=drawn[:count]), drawn[count:]
                resolved = METHODS["evidence"].choose_settings(trial, config.model_copy(update={"seed": seed}))
                propagate = FORMS[resolved.evidence.form]
                first = propagate(trial, resolved.evidence)
                found["evidence"].append(mean_ranking(SparseAlignment(ranking_scores(first)), held)["mrr"])
                for kind, (left, right) in kinds.items():
                    ranked = mean_ranking(align_vectors(trial, left, right, config.pairing, seed), held)
                    near = near_pairs(trial, first, (left, right), resolved, Silent())
                    again = propagate(trial, resolved.evidence, prior_of(near, first.beliefs.shape))
                    found.setdefault(f"{kind} alone", []).append(ranked["mrr"])
                    both = mean_ranking(SparseAlignment(ranking_scores(again)), held)["mrr"]
                    found.setdefault(f"{kind} prior", []).append(both)
            cells = "  ".join(f"{kind} {np.mean(values):.3f}" for kind, values in found.items())
            print(f"  {share:g} % ({count}): {cells}", flush=True)


if __name__ == "__main__":
    main()
