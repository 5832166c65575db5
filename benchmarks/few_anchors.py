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
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import resolve
from kedge.context.run_context import RunContext
from kedge.embedding.network import embed_both
from kedge.methods import METHODS
from kedge.types import Alignment, Problem

PAIRS = ("cora", "douban", "facebook-twitter-small", "foursquare-twitter")
NAMES = ("mgcn", "evidence", "both", "sketched", "kedge")
VECTORS = {"both": "mgcn", "sketched": "sketch"}


def run(method: str, problem: Problem, seed: int, context: RunContext) -> tuple[Alignment, str]:
    if method == "mgcn":  # trained once for each pair, so its seed is always the same
        return METHODS["mgcn"].align(problem, resolve(), context), ""
    config = resolve(assignments=["method=kedge", f"seed={seed}"])
    if method == "evidence":
        return METHODS["evidence"].align(problem, config), ""
    if method == "kedge":
        resolved = METHODS["kedge"].choose_settings(problem, config, context)
        chosen = "sketched" if resolved.pairing.use == "yes" else "evidence"
        chosen = "mixture" if resolved.pairing.mixture else chosen
        return METHODS["kedge"].align(problem, resolved, context), chosen
    with_prior = ["method=kedge", f"seed={seed}", "pairing.use=yes", f"pairing.vectors={VECTORS[method]}"]
    return METHODS["kedge"].align(problem, resolve(assignments=with_prior), context), ""


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
        context = RunContext()
        before = time.process_time()
        config = resolve(assignments=["method=kedge"])
        if trained:
            embed_both(problem, config, config.seed, context)
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
                    alignment, chosen = run(method, trial, seed, context)
                    cpu[method] += (time.process_time() - before) / asked.seeds
                    mrr[method][seed] = mean_ranking(alignment, drawn[count:])["mrr"]
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
