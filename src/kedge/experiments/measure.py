"""One cell measured: the same way from problem to decisions as `kedge match`, the same metrics as `kedge evaluate`.

Held-out pairs are handed to the evaluation alone. The yes or no of the paper's protocol comes from a rule that was
fitted on anchors hidden from the training ones (`link.pair_rule`), for every method alike.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.experiments.cells import Cell
from kedge.experiments.problems import make_split
from kedge.link.decide import decide
from kedge.methods import METHODS, settle
from kedge.pipeline import Solution, calibrate, measure
from kedge.store import cpu_seconds, peak_mb
from kedge.types import Split
from kedge.workshop import Workshop

__all__ = ["FIGURES", "Measured", "measure_cell", "measure_split"]

FIGURES: Final = (
    "macro_precision macro_recall macro_f1 macro_precision_1to2 macro_recall_1to2 macro_f1_1to2 "
    "hits1 hits5 hits10 hits30 mrr matched_hits1 precision ece"
).split()


@dataclass(frozen=True)
class Measured:
    """What came of a cell: figures by name, or the reason why there are none.

    `cpu_seconds` is all of it, calibration on hidden anchors included; `scoring_seconds` one run of the method.
    """

    status: Literal["ok", "refused", "failed"]
    reason: str = ""
    figures: dict[str, float | None] | None = None
    facts: dict[str, int] | None = None
    cpu_seconds: float | None = None
    scoring_seconds: float | None = None
    peak_mb: float | None = None

    def plain(self) -> dict[str, Any]:
        """As what JSON can say."""
        return asdict(self)


def measure_cell(cell: Cell) -> Measured:
    """Measure a cell in this process; a method that refuses the problem is an answer."""
    config = Config.model_validate(dict(cell.config))
    # Notes on single fits are for those who run one; a table has no place for them.
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
    """Every figure of a method on a split, and the CPU seconds of scoring alone.

    Scoring comes first, so that vectors which calibration uses again are counted where a user would pay for them.
    """
    problem, workshop = split.problem, Workshop()
    config = settle(problem, config, config.seed, workshop)
    began = cpu_seconds()
    alignment = METHODS[config.method](problem, config, config.seed, workshop)
    scoring = cpu_seconds() - began
    calibrator = calibrate(problem, config, workshop=workshop)
    solution = Solution(problem, alignment, calibrator, decide(problem, alignment, calibrator, config))
    figures = measure(solution, split.test, config.seed)
    return {name: figures[name] for name in FIGURES}, scoring
