"""Splink on the planted people of benchmarks/profiles.py: the same accounts, fields and test pairs.

    pip install splink
    python benchmarks/profiles_splink.py [--difficulties easy,medium,hard] [--seed 0] [--keep FILE]

Splink compares pairs that agree in the first three letters of the handle, in either part of the name or in the city;
Jaro-Winkler levels for handle, name and bio, equality with term frequencies for the city. Its weights are estimated by
expectation maximisation, without anchors. The profile part of kedge is given 5 % of the anchors and no edges. CPU
seconds are of estimating and comparing, all threads together.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from profiles import arms, kept, problem_of, shown_name
from scipy.sparse import csr_array

from kedge import synthetic
from kedge.config import Config
from kedge.evaluation import metrics
from kedge.linalg import SparseAlignment
from kedge.profiles import compare, weigh
from kedge.types import IntArray, Problem


def splink_scores(problem: Problem) -> csr_array:
    """Match weights of the pairs that Splink compares, above 0, n_1 x n_2."""
    import splink.comparison_library as levels
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    assert problem.profiles is not None
    frames: list[Any] = []
    for known, start in zip(problem.profiles, (0, problem.left.n), strict=True):
        frame = known.table.to_pandas()
        frame["unique_id"] = np.arange(start, start + known.n)
        parts = frame["name"].str.lower().str.split()
        frame["first"], frame["last"] = parts.str[0], parts.str[-1]
        frame["begin"] = frame["handle"].str[:3].str.lower()
        frames.append(frame)
    spelled = [levels.JaroWinklerAtThresholds(name, [0.95, 0.88, 0.7]) for name in ("handle", "name", "bio")]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[*spelled, levels.ExactMatch("city").configure(term_frequency_adjustments=True)],
        blocking_rules_to_generate_predictions=[block_on(name) for name in ("begin", "first", "last", "city")],
    )
    database = DuckDBAPI()
    linker = Linker([database.register(frame) for frame in frames], settings)
    linker.training.estimate_probability_two_random_records_match([block_on("name", "city")], recall=0.5)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for name in ("name", "city"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(name))
    found = linker.inference.predict().as_pandas_dataframe()
    both = found[["unique_id_l", "unique_id_r"]].to_numpy()
    pairs = both.min(axis=1), both.max(axis=1) - problem.left.n
    return csr_array((found["match_weight"].to_numpy() + 100, pairs), shape=(problem.left.n, problem.right.n))


def kedge_scores(problem: Problem) -> csr_array:
    """Log-odds by profiles of their candidates, above 0."""
    assert problem.profiles is not None
    found = compare(*problem.profiles, Config().profiles)
    assert found is not None
    prior = weigh(found, problem).prior()
    prior.data += 100
    return prior


def show(name: str, scores: csr_array, test: IntArray, seconds: float, pair: str, keep: Path | None) -> str:
    figures = metrics.ranking(SparseAlignment(scores), test)
    ranked = {key: figures[key] for key in ("hits1", "mrr")}
    kept(keep, "splink", shown_name(pair), 5, name, **ranked, seconds=seconds)
    return f"| {name} | {figures['hits1']:.3f} | {figures['mrr']:.3f} | {seconds:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--difficulties", default=",".join(synthetic.DIFFICULTIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="append the rows to this file")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    print("| planted | by | Hits@1 | MRR | CPU s |\n|---|---|---|---|---|")
    for difficulty in asked.difficulties.split(","):
        problem, test = problem_of(difficulty, 5, asked.seed)
        _, bare = list(arms(problem))[1]
        for name, score in (("Splink", splink_scores), ("kedge, profiles", kedge_scores)):
            began = time.process_time()
            scores = score(replace(bare, anchors=problem.anchors))
            seconds = time.process_time() - began
            print(f"| {difficulty} {show(name, scores, test, seconds, difficulty, asked.keep)}", flush=True)


if __name__ == "__main__":
    main()
