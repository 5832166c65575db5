"""Every method with vectors on the shared pairs, a fifth of the anchors known, each in a fresh process.

    python benchmarks/mgcn_matching.py --methods mgcn,gcn --pairs cora --seeds 2
    python benchmarks/mgcn_matching.py --validation --methods mgcn --changes "" "mgcn.levels=simple"
    python benchmarks/mgcn_matching.py --page

The split is off20 where a pair has it, else r20_s0. Hits@1 and MRR are means over both directions, with all accounts as
candidates and ties at their average rank. CPU seconds are of the method alone, one thread, with those of its worker
processes. Figures are added to docs/results/mgcn_matching.json one by one, and what is there is not measured again;
`--page` writes the tables of docs/mgcn.md from them. With `--validation` no test pair is read: half of the training
anchors, drawn by the seed, are ranked instead, and nothing is kept: this is how choices are made.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measuring import answer_within, keep_rows, read_rows, write_between

KEPT = Path(__file__).parents[1] / "docs" / "results" / "mgcn_matching.json"
PAGE = Path(__file__).parents[1] / "docs" / "mgcn.md"
PROJECTED = "mgcn.space=projected"
ABLATION = (
    "shared.levels=simple", "shared.levels=hypergraph", "shared.degree=0", "shared.neighbours=0", "shared.rounds=1",
    "shared.rounds=1 shared.neighbours=0",
)  # fmt: skip
PAIRS = (
    "phone-email", "arenas95", "facebook-twitter-small", "npm-debian", "cora", "douban", "arxiv-multiplex-2-12",
    "foursquare-twitter", "acm-dblp", "flickr-lastfm", "dblp17-19-mauil", "douban-weibo-dana",
)  # fmt: skip
METHODS = (
    "mgcn", "gcn", "hgnn", "ione", "deepwalk", "deeplink", "pale", "pale-mlp", "mah", "dalaup", "autoencoder", "regal",
    "node2vec", "line", "spectral", "mds", "graph-factorisation", "hypergcn", "dhgnn", "galign", "nextalign",
)  # fmt: skip


def measure(pair: str, method: str, changes: str, seed: int, validation_only: bool) -> dict[str, Any]:
    """One method on one pair, in this process."""
    import warnings
    from dataclasses import replace

    import numpy as np
    from shared_pairs import load, mean_ranking

    from kedge.config import resolve
    from kedge.methods import METHODS
    from kedge.types import Network, Problem

    warnings.simplefilter("ignore")
    split, problem, asked = load(pair)
    if validation_only:
        drawn = np.random.default_rng(seed).permutation(problem.anchors)
        problem, asked = replace(problem, anchors=drawn[len(drawn) // 2 :]), drawn[: len(drawn) // 2]
    config = resolve(assignments=[f"method={method}", f"seed={seed}", *changes.split()])
    groups = [(i, j) for i in range(80) for j in range(i) if i % 10 == j % 10 or i - j == 1]
    small = Network.from_edges(groups, 80)
    METHODS[method].align(Problem(small, small, np.array([(i, i) for i in range(20)])), config)  # loads compiled code
    before = _cpu()
    alignment = METHODS[method].align(problem, config)
    spent = _cpu() - before
    found = mean_ranking(alignment, asked)
    figures = {name: round(found[name], 4) for name in ("hits1", "hits10", "mrr")}
    return {"split": split, **figures, "cpu": round(spent, 1)}


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def page(kept: list[dict[str, Any]]) -> str:
    """Every method on every pair; what mgcn takes; what its levels and steps are worth."""
    rows = [row for row in kept if "mrr" in row]
    return "\n".join([*_methods(rows), "", *_costs(rows), "", *_ablation(rows), ""])


def _methods(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Hits@1 / MRR, a mean over seeds; the best MRR in bold."""
    plain = [row for row in rows if not row["changes"]]
    methods = [name for name in METHODS if any(row["method"] == name for row in plain)]
    yield from _head("pair", *(f"`{name}`" for name in methods))
    for pair in PAIRS:
        means = [_mean([row for row in plain if (row["pair"], row["method"]) == (pair, name)]) for name in methods]
        reached = [found["mrr"] for found in means if found]
        best = max(reached) if len(reached) > 1 else -1.0  # one alone is not the best of any
        yield _line(pair, *(_cell(found, best) for found in means))


def _costs(rows: list[dict[str, Any]]) -> Iterator[str]:
    """mgcn as it is and projected, as it was before."""
    mine = [row for row in rows if row["method"] == "mgcn"]
    yield from _head("pair", "shared", "projected", "CPU s, shared", "CPU s, projected")
    for pair in PAIRS:
        found = [
            _mean([row for row in mine if (row["pair"], row["changes"]) == (pair, how)]) for how in ("", PROJECTED)
        ]
        seconds = [f"{one['cpu']:.0f}" if one else "-" for one in found]
        yield _line(pair, *(_cell(one, -1.0) for one in found), *seconds)


def _ablation(rows: list[dict[str, Any]]) -> Iterator[str]:
    """mgcn with one level or one step less, where it was measured."""
    mine = [row for row in rows if row["method"] == "mgcn"]
    pairs = [pair for pair in PAIRS if any(row["pair"] == pair and row["changes"] in ABLATION for row in mine)]
    yield from _head("pair", "all of it", *(f"`{change}`" for change in ABLATION))
    for pair in pairs:
        found = [
            _mean([row for row in mine if (row["pair"], row["changes"]) == (pair, how)]) for how in ("", *ABLATION)
        ]
        yield _line(pair, *(_cell(one, -1.0) for one in found))


def _head(*names: str) -> Iterator[str]:
    yield _line(*names)
    yield "|" + "---|" * len(names)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(found: dict[str, float], best: float) -> str:
    if not found:
        return "-"
    bold = "**" if found["mrr"] == best else ""
    return f"{bold}{found['hits1']:.3f} / {found['mrr']:.3f}{bold}"


def _mean(rows: list[dict[str, Any]]) -> dict[str, float]:
    if not rows:
        return {}
    return {name: sum(row[name] for row in rows) / len(rows) for name in ("hits1", "hits10", "mrr", "cpu")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--changes", nargs="*", default=[""], help="settings to compare, each a list of assignments")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds of one method on one pair")
    parser.add_argument("--validation", action="store_true", help="rank half of the training anchors; keep nothing")
    parser.add_argument("--page", action="store_true", help="write the tables of docs/mgcn.md from what is kept")
    parser.add_argument("--results", type=Path, default=KEPT)
    parser.add_argument("--one", nargs=4, metavar=("PAIR", "METHOD", "CHANGES", "SEED"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        pair, method, changes, seed = asked.one
        print(json.dumps(measure(pair, method, changes, int(seed), asked.validation)))
        return
    kept = read_rows(asked.results)
    if asked.page:
        write_between(PAGE, "benchmarks/mgcn_matching.py", page(kept))
        return
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    marks = ("pair", "method", "changes", "seed")
    for seed in range(asked.seeds):
        for pair in asked.pairs.split(","):
            for method in asked.methods.split(","):
                for changes in asked.changes:
                    cell = dict(zip(marks, (pair, method, changes, seed), strict=True))
                    if not asked.validation and any(all(row[mark] == cell[mark] for mark in marks) for row in kept):
                        continue
                    command = [sys.executable, __file__, "--one", pair, method, changes, str(seed)]
                    found = answer_within(asked.limit, *command, *(["--validation"] if asked.validation else []))
                    row = {**cell, **({"failed": found} if isinstance(found, str) else found)}
                    print(json.dumps(row), flush=True)
                    if not asked.validation:
                        kept = [
                            *read_rows(asked.results),
                            {**row, "commit": head, "date": f"{datetime.now(UTC):%Y-%m-%d}"},
                        ]
                        keep_rows(asked.results, kept)


if __name__ == "__main__":
    main()
