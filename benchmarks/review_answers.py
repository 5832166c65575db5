"""Whether answers of a reviewer make decisions better, on ten problems whose whole truth is known.

    python benchmarks/review_answers.py [--problems douban] [--method kedge] [--steps 20 60 150] [--jobs 2]

A reviewer who knows the truth answers the queue of `kedge review` in its order, picks the true partner where it is
among the shown candidates, and the networks are matched again at each step. Printed for each step: right pairs (called
a match, or confirmed), matches and their precision, and the right matches of accounts that were in no answer up to the
last step: these show what answers do to others. The last line is the mean over problems.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import warnings
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from decision_problems import PROBLEMS
from decisions import load_kernels, pose
from measuring import ONE_THREAD
from promises import ANSWERS, stamp
from review_order import answers
from shared_pairs import match_in_memory

from kedge.config import Config
from kedge.review.order import information_order
from kedge.types import IntArray, Matches, Problem

TEN = (
    "douban off20",
    "douban degree",
    "phone-email off20",
    "cora off20",
    "arenas95 r20_s0",
    "planted 2000 50 % degree",
    "planted 2000 75 % uniform",
    "fb100-hamilton46 25 % uniform",
    "fb100-bowdoin47 50 % uniform",
    "fb100-swarthmore42 50 % community",
)
Reached = tuple[Problem, Matches]


def simulate(job: tuple[str, str, tuple[int, ...]]) -> tuple[str, list[tuple[float, ...]]]:
    """For each step: right pairs, matches, their precision, right matches of accounts that no answer was about."""
    name, method, steps = job
    warnings.simplefilter("ignore")
    posed = pose(name, False)
    problem, config = posed.problem, Config(method=method)
    truth = np.full(problem.left.n, -1)
    truth[posed.test[:, 0]] = posed.test[:, 1]
    given = len(problem.anchors)
    matches = match_in_memory(problem, config, given).matches
    reached: list[Reached] = [(problem, matches)]
    asked: set[int] = set()
    for before, after in pairwise((0, *steps)):
        rows = information_order(problem, matches)[0][: after - before]
        asked |= set(matches.left[rows].tolist())
        problem = answers(problem, matches, rows, truth)
        matches = match_in_memory(problem, config, given).matches
        reached.append((problem, matches))
    asked |= set(problem.anchors[given:, 0].tolist())
    return name, [_figures(one, truth, given, asked) for one in reached]


def _figures(reached: Reached, truth: IntArray, given: int, asked: set[int]) -> tuple[float, ...]:
    problem, matches = reached
    called = matches.partners("match")
    right = {u for u, v in called.items() if truth[u] == v}
    known = len(problem.anchors) - given
    return len(right) + known, len(called), len(right) / len(called) if called else np.nan, len(right - asked)


def _words(figures: Iterable[Iterable[float]]) -> str:
    return " | ".join(f"{r:7.1f} {m:7.1f} {p:6.3f} {u:7.1f}" for r, m, p, u in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", metavar="NAME", help="parts of names; ten of them by default")
    parser.add_argument("--method", default="kedge")
    parser.add_argument("--steps", type=int, nargs="+", default=[20, 60, 150])
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    names = [n for n in PROBLEMS if any(part in n for part in asked.problems)] if asked.problems else TEN
    os.environ.update(ONE_THREAD)
    steps = (0, *asked.steps)
    print(f"{'answers':34} " + " | ".join(f"{step:30}" for step in steps))
    print(f"{'problem':34} " + " | ".join(["  right matches  prec. others"] * len(steps)))
    found = {}
    with multiprocessing.get_context("spawn").Pool(asked.jobs, load_kernels) as pool:
        for name, figures in pool.imap(simulate, [(name, asked.method, tuple(asked.steps)) for name in names]):
            print(f"{name:34} {_words(figures)}", flush=True)
            found[name] = figures
    mean = np.nanmean(list(found.values()), axis=0)
    print(f"{'mean':34} {_words(mean)}")
    for words, place in (("right pairs", 0), ("right matches of others", 3)):
        least = float(np.diff(mean[:, place]).min())
        print(f"{words}, mean: {'never fewer' if least >= 0 else f'{-least:.1f} fewer after a step'}")
    if os.environ.get("KEDGE_KEEP"):
        rounded = {
            name: [[None if np.isnan(value) else round(float(value), 3) for value in step] for step in figures]
            for name, figures in {**found, "mean": mean}.items()
        }
        ANSWERS.write_text(json.dumps({"steps": steps, "problems": rounded, **stamp()}) + "\n", "utf-8")


if __name__ == "__main__":
    main()
