"""One cell measured: the same way from problem to decisions as `kedge match`, the same metrics as `kedge evaluate`.

Held-out pairs reach the evaluation only. The yes or no of the paper's protocol comes from a rule
fitted on validation anchors (`probability.pair_rule`), for every method alike.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kedge.config import Config
from kedge.context import cpu_seconds, peak_mb
from kedge.evaluation import metrics_shown
from kedge.experiments.cells import Cell
from kedge.experiments.problems import make_split
from kedge.pipeline import MemoryRun, measure, solve
from kedge.store import SCORES, TRAINING
from kedge.types import KedgeError, Split


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

    def plain(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self)


def measure_cell(cell: Cell) -> Measured:
    """Measure a cell in this process; a method that refuses the problem is a result."""
    config = Config.model_validate(dict(cell.config))
    # Notes on a single fit belong to a single run; a table has no place for them.
    warnings.simplefilter("ignore")
    split = make_split(cell.data, cell.shares, cell.seed, config.read)
    began = cpu_seconds()
    try:
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
