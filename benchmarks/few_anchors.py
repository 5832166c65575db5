"""Few anchors: MGCN alone, evidence alone, with either prior, and what kedge chooses, at 1 to 50 % of the anchors.

    python benchmarks/few_anchors.py [--pairs cora,douban] [--shares 1,2,5] [--seeds 1] [--plot FILE]
    python benchmarks/few_anchors.py --counts 3,6,9 --methods evidence,kedge --seeds 3    # a handful of anchors

Training anchors are drawn from all anchors of a pair by seed, the rest is the test; nothing is chosen on the test.
Figures are mean reciprocal ranks, mean of both directions and of the seeds. `both` has MGCN's vectors as a
prior in any case, `sketched` the networks' sketches with as many turns as make more matches certain; `kedge` is the
default: these, with one turn from 200 anchors on, or none in the dense form of evidence.
CPU seconds are of the whole method, choosing included, with the vectors already learnt; learning
them is the column `vectors`, the same for every share.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from shared_pairs import ROOT, load

from kedge import evaluate
from kedge.alignment import Alignment
from kedge.config import resolve
from kedge.methods import METHODS, mgcn, settle
from kedge.types import Problem
from kedge.workshop import Workshop

PAIRS = ("cora", "douban", "facebook-twitter-small", "foursquare-twitter")
NAMES = ("mgcn", "evidence", "both", "sketched", "kedge")
VECTORS = {"both": "mgcn", "sketched": "sketch"}


def run(method: str, problem: Problem, seed: int, workshop: Workshop) -> tuple[Alignment, str]:
    config = resolve(assignments=["method=kedge"])
    if method == "mgcn":
        return mgcn.align(problem, config, config.seed, workshop), ""
    if method == "evidence":
        return METHODS["evidence"](problem, config, seed), ""
    if method == "kedge":
        settled = settle(problem, config, seed, workshop)
        chosen = "sketched" if settled.pairing.use == "yes" else "evidence"
        chosen = "mixture" if settled.pairing.mixture else chosen
        return METHODS["kedge"](problem, settled, seed, workshop), chosen
    with_prior = ["method=kedge", "pairing.use=yes", f"pairing.vectors={VECTORS[method]}"]
    return METHODS["kedge"](problem, resolve(assignments=with_prior), seed, workshop), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--shares", default="1,2,5,10,20,50", help="per cent of the anchors")
    parser.add_argument("--counts", default="", help="numbers of anchors, in place of shares")
    parser.add_argument("--methods", default=",".join(NAMES))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="needs every method, and shares")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    shares = [float(share) for share in asked.shares.split(",")]
    found: dict[str, dict[str, list[float]]] = {}
    methods = asked.methods.split(",")
    trained = {"mgcn", "both"} & set(methods)
    head = " ".join(f"{name:>8} {'cpu':>6}" for name in methods)
    print(f"{'pair':23} {'%':>3} {'anchors':>7} {head}  chosen (vectors: CPU s)")
    for name in asked.pairs.split(","):
        if not (ROOT / name).is_dir():
            print(f"{name}: skipped, not under {ROOT} (set KEDGE_DATA)")
            continue
        _, problem, test = load(name)
        every = np.concatenate([problem.anchors, test])
        workshop = Workshop()
        before = time.process_time()
        config = resolve(assignments=["method=kedge"])
        if trained:
            mgcn.embed_both(problem, config, config.seed, workshop)
        vectors = time.process_time() - before
        found[name] = {method: [] for method in methods}
        counts = [max(round(share / 100 * len(every)), 1) for share in shares]
        for count in [int(one) for one in asked.counts.split(",")] if asked.counts else counts:
            share = 100 * count / len(every)
            mrr = {method: np.zeros(asked.seeds) for method in methods}
            cpu = dict.fromkeys(methods, 0.0)
            said = []
            for seed in range(asked.seeds):
                drawn = np.random.default_rng(seed).permutation(every)
                trial = replace(problem, anchors=drawn[:count])
                for method in methods:
                    before = time.process_time()
                    alignment, chosen = run(method, trial, seed, workshop)
                    cpu[method] += (time.process_time() - before) / asked.seeds
                    mrr[method][seed] = evaluate.ranking(alignment, drawn[count:])["mrr"]
                    said += [chosen] if chosen else []
            for method in methods:
                found[name][method].append(float(mrr[method].mean()))
            cells = " ".join(f"{mrr[method].mean():8.3f} {cpu[method]:6.1f}" for method in methods)
            print(f"{name:23} {share:3.2g} {count:7d} {cells}  {', '.join(said)} ({vectors:.0f})", flush=True)
    if asked.plot and found:
        draw(found, shares, asked.plot)


def draw(found: dict[str, dict[str, list[float]]], shares: list[float], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(3.6 * len(found), 3.4), sharey=True, squeeze=False)
    names = {
        "mgcn": "MGCN alone",
        "evidence": "evidence alone",
        "both": "evidence + MGCN",
        "sketched": "evidence + sketch",
        "kedge": "kedge",
    }
    for axis, (pair, lines) in zip(axes[0], found.items(), strict=True):
        for method, style in zip(NAMES, (":", "-", "--", "-.", "o"), strict=True):
            axis.plot(shares, lines[method], style, label=names[method], color="black" if style == "o" else None)
        axis.set_xscale("log")
        axis.set_xticks(shares, [f"{share:g}" for share in shares])
        axis.set_title(pair, fontsize=10)
        axis.set_xlabel("% of the anchors known")
    axes[0][0].set_ylabel("mean reciprocal rank")
    handles, labels = axes[0][0].get_legend_handles_labels()
    rows = 1 if len(found) > 2 else 2  # of the legend, which two panels are too narrow for
    figure.legend(handles, labels, loc="lower center", ncols=-(-len(NAMES) // rows), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.08 * rows, 1, 1))
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
