"""Profiles: structure alone, profiles alone, and both, on research pairs and on planted people.

    python benchmarks/profiles.py [--pairs douban,cora] [--shares 1,5,20] [--method evidence] [--seed 0]
    python benchmarks/profiles.py --pairs douban --shares 0        # the split of the literature, where there is one
    python benchmarks/profiles.py --none                           # without any anchor
    python benchmarks/profiles.py --hyperedges                     # MGCN with and without hyperedges of profiles
    python benchmarks/profiles.py --size 100000                    # cost of the comparison alone, four fields

Training anchors are a share of all anchors, drawn by seed; the rest is the test, and nothing is chosen on it.
Hits@1 and MRR are those of `kedge evaluate`; precision and recall are of the pairs called a match at the default
precision. Profiles alone: evidence on the same accounts without any edge. CPU seconds are of the whole match,
calibration included. With `--keep FILE` each row is appended to a file that benchmarks/profiles_tables.py reads.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from shared_pairs import ROOT, load

from kedge import synthetic
from kedge.config import Config, resolve
from kedge.context import RunContext
from kedge.ingest import read_profiles
from kedge.linalg import canonical
from kedge.pipeline import MemoryRun, measure, solve
from kedge.profiles import compare, find_start, shared_values, weigh
from kedge.types import IntArray, Network, Problem

WITHOUT_NAME = ("summary", "homepage_host", "section_or_keywords", "version")
FIELDS = {"npm-debian without name": WITHOUT_NAME}
PAIRS = ("douban", "acm-dblp", "cora", "npm-debian", "npm-debian without name", "easy", "medium", "hard")


def problem_of(name: str, share: float, seed: int) -> tuple[Problem, IntArray]:
    """The problem with its profiles, and the test pairs."""
    if name in synthetic.DIFFICULTIES:
        made = synthetic.planted(3000, 3000, 2000, 9000, 9000, overlap=0.5, seed=seed)
        tables = synthetic.plant_profiles(made, name, seed)
        problem, anchors = Problem(made.left, made.right, made.anchors[:0]), made.anchors
        sources = tables
    else:
        folder = ROOT / name.partition(" ")[0]
        _, problem, test = load(folder.name)
        anchors = np.concatenate([problem.anchors, test])
        sources = (folder / "left.profiles.csv", folder / "right.profiles.csv")
        if share == 0:
            train, anchors = problem.anchors, test
    if share or name in synthetic.DIFFICULTIES:
        order = np.random.default_rng(seed).permutation(len(anchors))
        count = max(round(share / 100 * len(anchors)), 1)
        train, anchors = anchors[order[:count]], anchors[order[count:]]
    known = tuple(read_profiles(s, n)[0] for s, n in zip(sources, (problem.left, problem.right), strict=True))
    return replace(problem, anchors=train, profiles=(known[0], known[1])), anchors


SHOWN = ("hits1", "mrr", "match_precision", "match_recall")


def kept(file: Path | None, table: str, pair: str, share: float, arm: str, **figures: Any) -> None:
    """Append a row to the file, if there is one."""
    if file is not None:
        row = {"table": table, "pair": pair, "share": share, "from": arm, **figures}
        rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(rounded) + "\n")


def none(name: str, method: str, seed: int, keep: Path | None) -> None:
    """A row of the table without any anchor: what it starts from, and what becomes of all true pairs."""
    given, test = problem_of(name, 1, seed)
    truth = np.concatenate([given.anchors, test])
    settings = {"method": method, "seed": seed, "profiles.fields": FIELDS.get(name, ())}
    config = resolve(overrides=settings)
    problem = replace(given, anchors=truth[:0])
    found, seconds, _ = run(problem, truth, config, seed)
    # In the order of accounts that `run` has, so that the random pairs are the same.
    ordered = canonical(replace(problem, rejected=truth))
    assert ordered.profiles is not None
    start = find_start(*ordered.profiles, config.profiles)
    right = ordered.is_rejected(start.pairs).mean() if len(start.pairs) else None
    cells = [start.precision, right, *(found[key] for key in SHOWN)]
    shown = " | ".join("" if value is None else f"{value:.3f}" for value in cells)
    print(f"| {name} | {len(truth):,} | {len(start.pairs):,} | {shown} | {seconds:.0f} |", flush=True)
    known = {"starts": len(start.pairs), "expected": start.precision if len(start.pairs) else None, "right": right}
    figures = {key: found[key] for key in SHOWN}
    kept(keep, "none", shown_name(name), 0, "both", anchors=len(truth), **known, **figures, seconds=seconds)


def shown_name(name: str) -> str:
    return f"planted, {name}" if name in synthetic.DIFFICULTIES else name


def arms(problem: Problem) -> Iterator[tuple[str, Problem]]:
    yield "structure", replace(problem, profiles=None)
    bare = [Network.from_edges([], side.n, side.ids.to_pylist()) for side in (problem.left, problem.right)]
    yield "profiles", replace(problem, left=bare[0], right=bare[1])
    yield "both", problem


def run(problem: Problem, test: IntArray, config: Config, seed: int) -> tuple[dict[str, float], float, str]:
    """Metrics, CPU seconds, and the weight that profiles got."""
    began = time.process_time()
    # Accounts keep their numbers within a canonical problem only, so the test pairs go by their ids.
    ordered = canonical(problem)
    ids = [problem.left.ids.to_pylist(), problem.right.ids.to_pylist()]
    found = [side.find([names[i] for i in column]) for side, names, column in
             zip((ordered.left, ordered.right), ids, test.T, strict=True)]  # fmt: skip
    outcome = solve(ordered, config, MemoryRun(RunContext()))
    figures = measure(outcome, np.column_stack(found), seed)
    weight = outcome.config.profiles.weight if problem.profiles else ""
    return figures, time.process_time() - began, str(weight)


def hyperedges(name: str, share: float, seed: int) -> None:
    """Two rows: MGCN without profiles, and with hyperedges of them."""
    problem, test = problem_of(name, share, seed)
    assert problem.profiles is not None
    for builders in ("neighbourhood", "neighbourhood+profiles"):
        config = resolve(overrides={"method": "mgcn", "seed": seed, "hypergraph.builders": builders})
        given = replace(problem, profiles=None)
        if builders != "neighbourhood":
            left, right = shared_values(*problem.profiles, config.profiles, config.hypergraph.largest)
            given = replace(given, shared_values=(left, right))
        found, seconds, _ = run(given, test, config, seed)
        print(f"| {name} | {builders} | {found['hits1']:.3f} | {found['mrr']:.3f} | {seconds:.0f} |", flush=True)


def cost(size: int, seed: int, keep: Path | None) -> None:
    made = synthetic.planted(size, size, size * 3 // 4, 3 * size, 3 * size, overlap=0.5, seed=seed)
    tables = synthetic.plant_profiles(made, "medium", seed)
    known = [read_profiles(table, side)[0] for table, side in zip(tables, (made.left, made.right), strict=True)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    found = compare(known[0], known[1], Config().profiles)
    compared = time.process_time() - began
    train = made.anchors[: len(made.anchors) // 20]
    weighed = None if found is None else weigh(found, Problem(made.left, made.right, train))
    spent, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pairs = 0 if weighed is None else len(weighed.listed)
    print(
        f"{size:,} accounts per side: {compared:.1f} CPU s compared, {spent:.1f} s with weights, {pairs:,} candidates, "
    )
    print(f"peak {peak / 1e3:,.0f} MB ({before / 1e3:,.0f} MB before)")
    memory = {"peak": peak / 1e3, "before": before / 1e3}
    kept(keep, "growth", "planted", size, "cost", candidates=pairs, compared=compared, seconds=spent, **memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--shares", default="1,5,20", help="per cent of the anchors; 0: the split of the literature")
    parser.add_argument("--method", default="kedge")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=0, help="accounts per side: the cost of the comparison alone")
    parser.add_argument("--none", action="store_true", help="without any anchor")
    parser.add_argument("--hyperedges", action="store_true", help="MGCN with and without hyperedges of profiles")
    parser.add_argument("--arms", default="structure,profiles,both")
    parser.add_argument("--keep", type=Path, help="append the rows to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.size:
        cost(asked.size, asked.seed, asked.keep)
        return
    if asked.hyperedges:
        print("| pair | builders | Hits@1 | MRR | CPU s |\n|---|---|---|---|---|")
        for name in asked.pairs.split(","):
            for share in map(float, asked.shares.split(",")):
                hyperedges(name, share, asked.seed)
        return
    if asked.none:
        print(
            "| pair | true pairs | starts from | expected right | right | Hits@1 | MRR | precision | recall | CPU s |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
        for name in asked.pairs.split(","):
            none(name, asked.method, asked.seed, asked.keep)
        return
    print("| pair | anchors | from | Hits@1 | MRR | precision | recall | weight | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in asked.pairs.split(","):
        for share in map(float, asked.shares.split(",")):
            problem, test = problem_of(name, share, asked.seed)
            for arm, given in arms(problem):
                if arm not in asked.arms.split(","):
                    continue
                settings = {"method": "evidence" if arm == "profiles" else asked.method, "seed": asked.seed}
                settings |= {"profiles.fields": FIELDS.get(name, ())}
                found, seconds, weight = run(given, test, resolve(overrides=settings), asked.seed)
                figures = {key: found[key] for key in SHOWN}
                table = "accuracy" if share else "literature"
                own = {"anchors": len(problem.anchors), **figures, "weight": weight, "seconds": seconds}
                kept(asked.keep, table, shown_name(name), share, arm, **own)
                cells = list(figures.values())
                shown = " | ".join("" if value is None else f"{value:.3f}" for value in cells)
                print(
                    f"| {name} | {len(problem.anchors)} ({share:g} %) | {arm} | {shown} | {weight} | {seconds:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
