"""The research pairs of networks, read with their splits."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kedge.config import Config
from kedge.context.run_context import MemoryCache, RunContext
from kedge.evaluation import metrics
from kedge.linalg import SparseAlignment
from kedge.linalg.assign import assign
from kedge.linalg.sparse import with_data
from kedge.pipeline import MemoryRun, solve
from kedge.probability import AnyCalibrator
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Matches, Network, Problem

ROOT = Path(os.environ.get("KEDGE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "pairs"


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t")[:2] for line in path.read_text(encoding="utf-8").splitlines()]


def load(name: str, split: str | None = None) -> tuple[str, Problem, IntArray]:
    """The split (off20 or r20_s0 unless named), the problem with its training anchors, and the test pairs.

    Accounts get random numbers: between equals numbers may decide, and the order of files knows too much of partners.
    """
    folder = ROOT / name
    if split is None:
        split = "off20" if (folder / "splits" / "off20").is_dir() else "r20_s0"
    anchors = rows(folder / "anchors.tsv")
    networks, places = [], []
    for side, file in enumerate(("left.tsv", "right.tsv")):
        edges = rows(folder / file)
        ids = sorted({name for edge in edges for name in edge} | {pair[side] for pair in anchors})
        ids = [ids[i] for i in np.random.default_rng(side).permutation(len(ids))]
        place = {name: i for i, name in enumerate(ids)}
        networks.append(Network.from_edges([[place[a], place[b]] for a, b in edges], len(ids), ids))
        places.append(place)
    train, test = (
        np.array([[places[0][a], places[1][b]] for a, b in rows(folder / "splits" / split / f"{part}.tsv")])
        for part in ("train", "test")
    )
    return split, Problem(networks[0], networks[1], train), test


@dataclass(frozen=True)
class Matched:
    """What `kedge match` makes of a problem, and the CPU seconds of scoring and of calibrating and deciding."""

    config: Config
    alignment: Alignment
    calibrator: AnyCalibrator
    matches: Matches
    seconds: tuple[float, float]

    def leaders(self, problem: Problem, test: IntArray) -> tuple[FloatArray, BoolArray]:
        """Of the most probable candidate of each test account: its probability, given that the account has a
        counterpart, as test accounts do, and whether it is right."""
        partner = np.full(problem.left.n, -1)
        partner[test[:, 0]] = test[:, 1]
        asked = (self.matches.rank == 1) & (partner[self.matches.left] >= 0)
        given = np.clip(self.matches.probability / self.matches.counterpart, 0, 1)
        return given[asked], self.matches.right[asked] == partner[self.matches.left[asked]]


def match_in_memory(problem: Problem, config: Config, given: int | None = None) -> Matched:
    """As `kedge match` does, without a run directory; the anchors after the first `given` were confirmed by review."""
    run = MemoryRun(RunContext(MemoryCache()))
    began = time.process_time()
    made = solve(problem, config, run, given)
    spent = time.process_time() - began
    fitting = ("suspects", "calibration")  # the first of them runs the method without some anchors, for both
    later = sum(run.seconds.get(stage, 0.0) for stage in fitting)
    scored = sum(seconds for stage, seconds in run.seconds.items() if stage not in (*fitting, "matches"))
    return Matched(made.config, made.alignment, made.calibrator, made.matches, (scored, max(later, spent - scored)))


def mean_ranking(alignment: Alignment, test: IntArray) -> dict[str, float]:
    """Hits@k and MRR, means over both directions."""
    found = metrics.ranking(alignment, test)
    return {name: value for name, value in found.items() if isinstance(value, float)}


def matched_share(partners: Mapping[int, int], test: IntArray) -> float:
    """The share of test pairs that are assigned to each other."""
    share = metrics.decisions(partners, test)["matched_hits1"]
    return float("nan") if share is None else share


def match_greedily(alignment: Alignment) -> dict[int, int]:
    """Partners one to one, the best scores first."""
    if not isinstance(alignment, SparseAlignment):
        raise TypeError("only sparse scores are assigned")
    scores = alignment.scores
    above_zero = scores.data - scores.data.min(initial=0) + 1
    return dict(assign(with_data(scores, above_zero), "greedy").tolist())
