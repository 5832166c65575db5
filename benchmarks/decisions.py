"""Whether decisions keep what they promise, on problems with known truth (docs/promises.md has the figures).

    python benchmarks/decisions.py [--problems douban planted] [--methods kedge mgcn] [--seeds 5] [--jobs 2]
    PYTHONPATH=OTHER/src python benchmarks/decisions.py --out other.jsonl

Each problem stays as it is; the run has five seeds, and once more the problem comes with its rows shuffled, its
accounts renamed and its sides exchanged (the count after `~`). For each target precision the same outcome is decided
again. Of the pairs called a match: `precision`, where a list of true pairs is only a sample counted over matches that
touch a listed account (`precision_most` counts half a match for each such account: the truth lies between); `recall`;
`oracle`, the best recall that a threshold on the probabilities of the same assigned pairs has at that precision.
`ECE` is of the best candidate of test accounts, given a counterpart; `all` of every assigned pair, as true as any pair
is. `share` is of left accounts with candidates: those with a counterpart, as it is and as it is estimated. Rows
are added to `--out` as they finish, and those found there are not run again: delete it after a change of the code.
Other methods than kedge take `SOME` of the problems unless `--problems` names them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import warnings
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from decision_problems import PROBLEMS, SOME, Posed
from measuring import ONE_THREAD
from promises import TARGETS, group, line, promises
from shared_pairs import match_in_memory

from kedge.config import Config
from kedge.decide.decisions import decide
from kedge.evaluation.metrics import calibration_error, decisions
from kedge.types import DECISIONS, Matches, Network, Problem

METHODS = ("kedge", "evidence", "mgcn", "deepwalk", "percolation")
SHUFFLED = "shuffled"  # the seed of the run with other rows, names and sides; its own seed is 0
OUT = Path("bench-out/decisions.jsonl")
Row = dict[str, Any]


@lru_cache(maxsize=2)
def pose(name: str, shuffled: bool) -> Posed:
    posed = PROBLEMS[name]()
    return (posed.shuffled() if shuffled else posed).in_order()


def run(job: tuple[str, str, int | str]) -> Row:
    """One match of one problem, decided for each target."""
    name, method, seed = job
    warnings.simplefilter("ignore")
    posed = pose(name, seed == SHUFFLED)
    problem, test = posed.problem, posed.test
    config = Config(method=method, seed=0 if seed == SHUFFLED else int(seed))
    made = match_in_memory(problem, config)
    matches = made.matches
    partner = np.full(problem.left.n, -1)
    partner[test[:, 0]] = test[:, 1]
    first = matches.rank == 1
    rows = matches.assigned
    right = partner[matches.left[rows]] == matches.right[rows]
    row: Row = {
        "problem": name,
        "method": method,
        "seed": seed,
        "accounts": [problem.left.n, problem.right.n],
        "anchors": len(problem.anchors),
        "drawn": posed.drawn,
        "test": len(test),
        "share": float((partner[matches.left[first]] >= 0).mean()) if posed.whole else None,
        "share_estimated": float(matches.counterpart[first].mean()),
        "ece": calibration_error(*made.leaders(problem, test)),
        "ece_all": calibration_error(matches.probability[rows], right) if posed.whole else None,
        "first": float((first & (partner[matches.left] == matches.right)).sum() / len(test)),
        "cpu": sum(made.seconds),
        "cpu_calibration": made.seconds[1],
    }
    for target in TARGETS:
        asked = made.config.model_copy(
            update={"decide": made.config.decide.model_copy(update={"precision": target / 100})}
        )
        decided = decide(problem, made.alignment, made.calibrator, asked)
        row |= {f"{key}_{target}": value for key, value in judge(decided, posed, target / 100).items()}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def judge(matches: Matches, posed: Posed, target: float) -> dict[str, float | None]:
    """What was called a match, beside what the best threshold would have called."""
    rows = np.flatnonzero(matches.assigned)
    rows = rows[np.argsort(-matches.probability[rows], kind="stable")]
    left, right, p = matches.left[rows], matches.right[rows], matches.probability[rows]
    partner = np.full(posed.problem.left.n, -1)
    partner[posed.test[:, 0]] = posed.test[:, 1]
    true = partner[left] == right
    counted = posed.whole | (partner[left] >= 0) | np.isin(right, posed.test[:, 1])
    called = matches.decision[rows] == DECISIONS.index("match")
    ends = np.append(p[1:] < p[:-1], True)  # equals are called together
    found = true.cumsum()[ends]
    reached = found >= target * counted.cumsum()[ends]
    return {
        "threshold": matches.threshold,
        "matches": int(called.sum()),
        "expected": matches.expected_precision,
        "precision": float(true[called].sum() / counted[called].sum()) if counted[called].any() else None,
        "precision_most": None if posed.whole else decisions(matches.partners("match"), posed.test)["sample_precision"],
        "recall": float(true[called].sum() / len(posed.test)),
        "oracle": float(found[reached].max(initial=0) / len(posed.test)),
    }


def load_kernels() -> None:
    """Two small stars load what is compiled, so that no row pays for it."""
    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    match_in_memory(Problem(star, star, np.array([(0, 0), (1, 1)])), Config(method="evidence"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", metavar="NAME", help="parts of names; all by default")
    parser.add_argument("--methods", nargs="+", default=["kedge"], metavar="NAME", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT, help="JSON lines, one for each run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the names of the problems")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(PROBLEMS))
        return
    chosen = [
        (name, method)
        for method in asked.methods
        for name in PROBLEMS
        if (any(part in name for part in asked.problems) if asked.problems else method == "kedge" or name in SOME)
    ]
    seeds = (*range(asked.seeds), SHUFFLED)
    done: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for text in asked.out.read_text("utf-8").splitlines() if asked.out.exists() else ():
        row = json.loads(text)
        if (row["problem"], row["method"]) in chosen and row["seed"] in seeds:
            done[row["problem"], row["method"]].append(row)
    known = {(*key, row["seed"]) for key, rows in done.items() for row in rows}
    jobs = [(*key, seed) for key in chosen for seed in seeds if (*key, seed) not in known]
    for key in chosen:
        if len(done[key]) == len(seeds):
            print(line(group(done[key])), flush=True)
    os.environ.update(ONE_THREAD)  # before a process that computes loads any library
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(asked.jobs, load_kernels) as pool, asked.out.open("a") as file:
        for row in pool.imap_unordered(run, jobs):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows = done[row["problem"], row["method"]]
            rows.append(row)
            if len(rows) == len(seeds):
                print(line(group(rows)), flush=True)
    for method in asked.methods:
        groups = [group(rows) for (_, own), rows in done.items() if own == method and rows]
        if groups:
            print(f"\n{method}: {len(groups)} problems")
            print("\n".join(f"  {words}: {figure}" for words, figure in promises(groups)))


if __name__ == "__main__":
    main()
