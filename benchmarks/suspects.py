"""Wrong anchors: how many are found, how many right ones are suspected, and what they cost.

    python benchmarks/suspects.py [--seeds 3] [--only cora,planted] [--shares 0,0.1,0.3] [--free | --few]

By `kedge match` with the default settings, with and without `decide.suspects`. Of a share of the anchors the right
accounts are permuted; with `--free` they are drawn from the accounts without anchor instead. `found`: of the wrong
anchors, those suspected; `false`: of the right ones. Precision and recall are those of the pairs called a match, on the
test pairs. Figures are means over the seeds; the last lines add up all pairs. `--few`: false alarms where no anchor is
wrong, with 10, 30 and 100 anchors, drawn evenly and by degree, by evidence alone.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from shared_pairs import ROOT, load, mean_ranking

from kedge.config import Config
from kedge.context.run_context import MemoryCache, RunContext
from kedge.evaluation import metrics
from kedge.methods import Method, find_method
from kedge.pipeline import MemoryRun, Outcome, solve
from kedge.probability import find_suspects, run_folds
from kedge.synthetic import planted
from kedge.types import Alignment, BoolArray, IntArray, Problem, is_among

PAIRS = ("facebook-twitter-small", "douban", "cora", "phone-email", "npm-debian", "planted")
FEW = (10, 30, 100)


def problem_of(name: str) -> tuple[Problem, IntArray]:
    """A pair with its training anchors, and its test pairs."""
    if name != "planted":
        return load(name)[1:]
    pair = planted(2000, 2000, 1300, 12000, 12000, 0.7, seed=1)
    known, test = np.split(np.random.default_rng(1).permutation(np.asarray(pair.anchors)), [250])
    return Problem(pair.left, pair.right, known), test


def corrupt(problem: Problem, share: float, kind: str, seed: int) -> tuple[Problem, BoolArray]:
    """The problem with a share of its anchors wrong, and which of them are."""
    rng = np.random.default_rng(seed)
    anchors = np.array(problem.anchors)
    rows = rng.permutation(len(anchors))[: round(share * len(anchors))]
    if kind == "free":
        free = np.setdiff1d(np.arange(problem.right.n), anchors[:, 1])
        anchors[rows, 1] = rng.choice(free, len(rows), replace=False)
    else:
        anchors[rows, 1] = anchors[np.roll(rows, 1), 1]
    return replace(problem, anchors=anchors), (anchors != problem.anchors).any(axis=1)


def figures(outcome: Outcome, test: IntArray) -> list[float]:
    """Hits@1, precision and recall of the matches."""
    called = metrics.decisions(outcome.matches.partners("match"), test)
    return [mean_ranking(outcome.alignment, test)["hits1"], called["precision"] or np.nan, called["recall"] or 0]


def shown(rows: list[list[float]]) -> str:
    return " | ".join(f"{value:.3f}" for value in np.nanmean(rows, axis=0))


def measure(names: list[str], shares: list[float], seeds: int, kind: str) -> None:
    print("pair, wrong | found | false | without: Hits@1 | precision | recall | with: Hits@1 | precision | recall")
    total: dict[str, list[int]] = {}
    for name in names:
        given, test = problem_of(name)
        for share in shares:
            counts = np.zeros(4, int)
            rows: tuple[list[list[float]], list[list[float]]] = ([], [])
            for seed in range(1, seeds + 1):
                problem, wrong = corrupt(given, share, kind, seed)
                for place, used in enumerate((False, True)):
                    decided = Config().decide.model_copy(update={"suspects": used})
                    config = Config(seed=seed).model_copy(update={"decide": decided})
                    outcome = solve(problem, config, MemoryRun(RunContext(MemoryCache())))
                    rows[place].append(figures(outcome, test))
                suspected = is_among(problem.anchors, outcome.suspects.pairs, problem.right.n)
                counts += [(suspected & wrong).sum(), wrong.sum(), (suspected & ~wrong).sum(), (~wrong).sum()]
            total[f"{share:.0%}"] = (np.add(total.get(f"{share:.0%}", [0] * 4), counts)).tolist()
            print(f"{name}, {share:.0%} | {_of(counts)} | {shown(rows[0])} | {shown(rows[1])}", flush=True)
    for label, summed in total.items():
        print(f"all, {label} | {_of(summed)}")


def _of(counts: list[int] | IntArray) -> str:
    found, wrong, false, right = (int(count) for count in counts)
    return f"{found} of {wrong} | {false} of {right}"


def clean_draws(pairs: IntArray, problem: Problem, count: int, seeds: int) -> Iterator[tuple[str, Problem]]:
    """The problem with so many right anchors, drawn evenly and in proportion to the product of their degrees."""
    degrees = problem.left.degrees[pairs[:, 0]] * problem.right.degrees[pairs[:, 1]] + 1e-9
    for how, weight in (("evenly", np.ones(len(pairs))), ("by degree", degrees)):
        for seed in range(seeds):
            rows = np.random.default_rng(seed).choice(len(pairs), count, replace=False, p=weight / weight.sum())
            yield how, replace(problem, anchors=pairs[rows])


def _align(method: Method, config: Config, problem: Problem) -> Alignment:
    return method.align(problem, config)


def false_alarms(names: list[str], seeds: int) -> None:
    print("pair | anchors | drawn | suspected of right anchors")
    method, config = find_method("evidence"), Config(method="evidence")
    for name in names:
        given, test = problem_of(name)
        pairs = np.concatenate([given.anchors, test])
        for count in FEW:
            suspected = {"evenly": 0, "by degree": 0}
            for how, problem in clean_draws(pairs, given, count, seeds):
                settled = method.choose_settings(problem, config)
                folds = run_folds(problem, partial(_align, method, settled), settled.decide)
                suspected[how] += len(find_suspects(problem, folds))
            for how, false in suspected.items():
                print(f"{name} | {count} | {how} | {false} of {count * seeds}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default=",".join(PAIRS))
    parser.add_argument("--shares", default="0,0.1,0.3")
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--few", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in asked.only.split(",") if name == "planted" or (ROOT / name).is_dir()]
    if asked.few:
        false_alarms(names, asked.seeds)
    else:
        measure(
            names,
            [float(share) for share in asked.shares.split(",")],
            asked.seeds,
            "free" if asked.free else "permuted",
        )


if __name__ == "__main__":
    main()
