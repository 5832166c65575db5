"""One cell measured: its problem made, solved as in `kedge match`, with the same metrics as `kedge evaluate`.

Held-out pairs reach the evaluation only. The yes or no of the paper's protocol comes from a rule
fitted on validation anchors (`probability.pair_rule`), for every method alike.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from kedge.config import Config, ReadConfig
from kedge.context import Progress, Silent, cpu_seconds, peak_mb
from kedge.evaluation import metrics_shown
from kedge.experiments.cells import Cell, Cut, Data, File, Pair, PlantedPair, Planting, Shares
from kedge.ingest import build_problem, read_network, read_pairs, resolve_pairs, resolve_test
from kedge.linalg import canonical, sort_hyperedges
from kedge.pipeline import MemoryRun, measure, profiles_for, solve
from kedge.store import SCORES, TRAINING
from kedge.synthetic import planted, subnetworks
from kedge.types import IntArray, KedgeError, Network, Problem, Split

_SAMPLING, _SPLITTING = range(2)  # each use of a seed has its own stream


def _seed_for(seed: int, use: int) -> int:
    return int(np.random.SeedSequence([seed, use]).generate_state(1, np.uint64)[0] >> 1)


@dataclass(frozen=True)
class Known:
    """A pair as read: every anchor that may be observed, and the test pairs where they are given."""

    problem: Problem
    test: IntArray | None
    notes: tuple[str, ...] = ()


def load_network(source: File | Planting) -> Network:
    """A single network: read from a file, or planted."""
    if isinstance(source, File):
        return read_network(source.path)[0]
    n, m = source.accounts, source.edges
    return planted(n, n, n, m, m, 1.0, source.seed).left


def load_pair(pair: Pair, reading: ReadConfig) -> Known:
    """A pair of files."""
    left, left_read = read_network(pair.left.path, reading, "left")
    right, right_read = read_network(pair.right.path, reading, "right")
    columns = read_pairs(pair.anchors.path, reading)
    resolved = resolve_pairs(columns, left, right)
    problem = canonical(build_problem(left, right, resolved, columns, reading.contradictory))
    read = {"left": left_read.notes, "right": right_read.notes, "anchors": resolved.report.notes}
    notes = [f"{what}: {note}" for what, found in read.items() for note in found]
    if pair.test is None:
        return Known(problem, None, tuple(notes))
    test, more = resolve_test(read_pairs(pair.test.path, reading), problem)
    return Known(problem, test, (*notes, *more))


def with_profiles(problem: Problem, data: Data, config: Config, progress: Progress) -> Problem:
    """The problem with the profiles of its accounts, as far as the method reads any."""
    if not isinstance(data, Pair):
        return problem
    profiles, values = profiles_for(data.profiles, problem, config, progress)
    left, right = (None if one is None else sort_hyperedges(one) for one in values)
    return replace(problem, profiles=profiles, shared_values=(left, right))


def split_anchors(anchors: IntArray, shares: Shares, seed: int) -> tuple[IntArray, IntArray]:
    """Observed and held-out anchors. One order per seed, so that fewer observed ones are a subset of more, and the
    held-out ones stay the same."""
    order = np.random.default_rng(_seed_for(seed, _SPLITTING)).permutation(len(anchors))
    held = round(shares.test * len(anchors))
    observed = min(round(shares.train * len(anchors)), len(anchors) - held)
    if not held or not observed:
        raise KedgeError(
            f"{len(anchors)} anchors leave {observed} to learn from and {held} to test on",
            remedy="give more anchors or another share",
        )
    return anchors[order[:observed]], anchors[order[len(anchors) - held :]]


def make_split(data: Data, shares: Shares | None, seed: int, reading: ReadConfig) -> Split:
    """The problem for the method, and the held-out pairs for the evaluation."""
    if isinstance(data, Cut):
        made = subnetworks(load_network(data.network), data.alpha_s, data.alpha_c, _seed_for(seed, _SAMPLING))
        problem, test = Problem(made.left, made.right, made.anchors), None
    elif isinstance(data, PlantedPair):
        n, m = data.accounts, data.edges
        made = planted(n, n, data.anchors, m, m, data.overlap, data.seed)
        problem, test = Problem(made.left, made.right, made.anchors), None
    else:
        known = load_pair(data, reading)
        problem, test = known.problem, known.test
    if test is not None:
        return Split(problem, test)
    if shares is None:
        raise ValueError("a pair without test pairs needs shares")
    observed, held = split_anchors(problem.anchors, shares, seed)
    # An account without edges is in the networks only because it is anchored: held out, it is unknown.
    lonely = (problem.left.degrees[held[:, 0]] == 0) | (problem.right.degrees[held[:, 1]] == 0)
    seen = canonical(Problem(problem.left, problem.right, observed))
    sides = ((problem.left, seen.left), (problem.right, seen.right))
    found = [after.find(before.ids.take(pa.array(held[:, side]))) for side, (before, after) in enumerate(sides)]
    return Split(seen, np.where(lonely[:, None], -1, np.column_stack(found)))


@dataclass(frozen=True)
class Measured:
    """The result of a cell: figures by name, or the reason why there are none.

    `cpu_seconds` is all of it, calibration on validation anchors included; `scoring_seconds` one run of the method.
    """

    status: Literal["ok", "refused", "failed"]
    reason: str = ""
    figures: dict[str, float | None] | None = None
    facts: dict[str, int] | None = None
    cpu_seconds: float | None = None
    scoring_seconds: float | None = None
    peak_mb: float | None = None


def measure_cell(cell: Cell) -> Measured:
    """Measure a cell in this process; a method that refuses the problem is a result."""
    config = Config.model_validate(dict(cell.config))
    # Notes on a single fit belong to a single run; a table has no place for them.
    warnings.simplefilter("ignore")
    split = make_split(cell.data, cell.shares, cell.seed, config.read)
    began = cpu_seconds()
    try:
        split = Split(with_profiles(split.problem, cell.data, config, Silent()), split.test)
        figures, scoring = measure_split(split, config)
    except KedgeError as error:
        return Measured("refused", str(error), facts=_facts(split))
    spent = cpu_seconds() - began
    return Measured("ok", "", figures, _facts(split), round(spent, 3), round(scoring, 3), round(peak_mb(), 1))


def _facts(split: Split) -> dict[str, int]:
    problem = split.problem
    return {
        "left_accounts": problem.left.n,
        "right_accounts": problem.right.n,
        "left_edges": problem.left.edges,
        "right_edges": problem.right.edges,
        "observed": len(problem.anchors),
        "held_out": len(split.test),
    }


def measure_split(split: Split, config: Config) -> tuple[dict[str, float | None], float]:
    """Every figure of a method on a split, and the CPU seconds of one run of the method, without calibration."""
    run = MemoryRun()
    outcome = solve(split.problem, config, run)
    figures = measure(outcome, split.test, config.seed)
    scoring = run.seconds[SCORES.id] + run.seconds.get(TRAINING.id, 0.0)
    return {metric.name: figures[metric.name] for metric in metrics_shown("cells")}, scoring
