"""What makes the prior of kedge's method: sketches, or MGCN's space of both networks, with 1 to 20 % of the anchors.

    python benchmarks/shared_prior.py                               # all of it; what is kept is not measured again
    python benchmarks/shared_prior.py --pairs douban --shares 1,2 --seeds 3
    python benchmarks/shared_prior.py --page

Anchors are drawn from all anchors of a pair by the seed, the others are the test. Everything but `pairing.vectors` is
the default, its choices included: where evidence takes its dense form there is no prior. Hits@1 and MRR are means over
both directions. CPU seconds are of the method alone, without calibration, which repeats it. `NETWORK:a:b` are two
sub-networks of a single network by the paper's rule. Figures are added to docs/results/shared_prior.json one by one;
`--page` writes the table of docs/few-anchors.md from them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measuring import keep_rows, read_rows, write_between
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import resolve
from kedge.context import RunContext
from kedge.ingest import read_network
from kedge.methods import METHODS
from kedge.synthetic import subnetworks
from kedge.types import IntArray, Problem

KEPT = Path(__file__).parents[1] / "docs" / "results" / "shared_prior.json"
PAGE = Path(__file__).parents[1] / "docs" / "few-anchors.md"
PAIRS = ("douban", "npm-debian", "cora", "phone-email", "gemsec-fb-tvshow:0.6:0.7", "arxiv-multiplex-2-12")
SHARES = (1, 2, 5, 20)
KINDS = ("sketch", "shared")


def draw(pair: str, share: float, seed: int) -> tuple[Problem, IntArray]:
    """The problem with so many anchors, and the pairs to find."""
    name, *rest = pair.split(":")
    if rest:
        whole = read_network(ROOT.parent / "singles" / name / "edges.tsv")[0]
        cut = subnetworks(whole, float(rest[0]), float(rest[1]), 0)
        problem, every = Problem(cut.left, cut.right, np.empty((0, 2), np.int64)), cut.anchors
    else:
        _, problem, test = load(name)
        every = np.concatenate([problem.anchors, test])
    order = np.random.default_rng(seed).permutation(len(every))
    count = max(round(share / 100 * len(every)), 1)
    return replace(problem, anchors=every[order[:count]]), every[order[count:]]


def measure(pair: str, share: float, seed: int, kind: str) -> dict[str, Any]:
    """One run of the method, settings chosen as it does."""
    problem, test = draw(pair, share, seed)
    config = resolve(assignments=["method=kedge", f"seed={seed}", f"pairing.vectors={kind}"])
    context, before = RunContext(), time.process_time()
    chosen = METHODS["kedge"].choose_settings(problem, config, context)
    found = mean_ranking(METHODS["kedge"].align(problem, chosen, context), test)
    spent = time.process_time() - before
    figures = {name: round(found[name], 4) for name in ("hits1", "mrr")}
    used = chosen.pairing.use == "yes"
    return {"anchors": len(problem.anchors), **figures, "cpu": round(spent, 1), "prior": used}


def page(rows: list[dict[str, Any]]) -> str:
    """Both priors on every pair and share, the better MRR in bold."""
    return "\n".join(_lines(rows)) + "\n"


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| pair | anchors | seeds | sketch | shared space | CPU s, sketch | CPU s, shared space |"
    yield "|---|---|---|---|---|---|---|"
    for pair in PAIRS:
        for share in SHARES:
            mine = [
                [row for row in rows if (row["pair"], row["share"], row["kind"]) == (pair, share, k)] for k in KINDS
            ]
            if not all(mine):
                continue
            figures = [
                {name: float(np.mean([row[name] for row in one])) for name in ("hits1", "mrr", "cpu")} for one in mine
            ]
            best = max(one["mrr"] for one in figures)
            cells = [_cell(one, one["mrr"] == best and len({f["mrr"] for f in figures}) > 1) for one in figures]
            if not any(row["prior"] for row in mine[1]):
                cells[1] = "no prior"
            anchors = round(float(np.mean([row["anchors"] for row in mine[0]])))
            yield (
                f"| {pair} | {anchors} ({share} %) | {len(mine[0])} | {' | '.join(cells)} | "
                + " | ".join(f"{one['cpu']:.1f}" for one in figures)
                + " |"
            )


def _cell(figures: dict[str, float], best: bool) -> str:
    text = f"{figures['hits1']:.3f} / {figures['mrr']:.3f}"
    return f"**{text}**" if best else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--shares", default=",".join(map(str, SHARES)))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="write the table of docs/few-anchors.md from what is kept")
    parser.add_argument("--results", type=Path, default=KEPT)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.page:
        write_between(PAGE, "benchmarks/shared_prior.py", page(read_rows(asked.results)))
        return
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    for seed in range(asked.seeds):
        for share in (int(one) for one in asked.shares.split(",")):
            for pair in asked.pairs.split(","):
                for kind in KINDS:
                    cell = {"pair": pair, "share": share, "kind": kind, "seed": seed}
                    if any(cell.items() <= row.items() for row in read_rows(asked.results)):
                        continue
                    row = {**cell, **measure(pair, share, seed, kind)}
                    print(json.dumps(row), flush=True)
                    row |= {"commit": head, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
                    keep_rows(asked.results, [*read_rows(asked.results), row])


if __name__ == "__main__":
    main()
