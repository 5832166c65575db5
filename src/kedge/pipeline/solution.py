"""What goes into matching, what comes out of it, and how good it is on held-out pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kedge import evaluate
from kedge.alignment import Alignment
from kedge.link.calibrate import Calibrator
from kedge.types import IntArray, Matches, Problem

__all__ = ["Inputs", "Solution", "measure"]


@dataclass(frozen=True)
class Inputs:
    """Where the networks, the anchors and perhaps the held-out pairs come from: paths or objects.

    `hypergraphs` are the user's own hyperedges of the left and of the right network, None where kedge draws them.
    """

    left: Any
    right: Any
    anchors: Any
    test: Any | None = None
    hypergraphs: tuple[Any | None, Any | None] = (None, None)


@dataclass(frozen=True)
class Solution:
    """All that matching found out."""

    problem: Problem
    alignment: Alignment
    calibrator: Calibrator
    matches: Matches


def measure(solution: Solution, test: IntArray | None, seed: int) -> dict[str, Any]:
    """Every metric on held-out pairs; null where it cannot be computed. Looks at the test pairs, learns nothing.

    `precision`, `recall` and `f1` are of all assigned partners, however unsure; `match_precision` and so on of those
    that were called a match. Where the test pairs are a sample of the true ones, the truth lies between `precision` and
    `sample_precision` (evaluate.decisions).

    Macro figures are at one false pair a true one, as in the paper, and at two (`_1to2`), by the same rule.

    `ece` compares the probability of each test account's best candidate, given that the account has a counterpart (test
    accounts have one), with whether it is the right one.
    """
    pairs = np.empty((0, 2), np.int64) if test is None else test
    matches, problem = solution.matches, solution.problem
    draw = partial(evaluate.balanced_pairs, pairs, problem.right.n, problem.anchors)
    true, one = draw(np.random.default_rng(seed))
    _, two = draw(np.random.default_rng([seed, 2]), ratio=2)
    asked_of = np.concatenate([true, one, two])
    said_true, said_one, said_two = np.split(
        solution.calibrator.says_link(problem, solution.alignment, asked_of), [len(true), len(true) + len(one)]
    )
    partner = np.full(problem.left.n, -1)
    known = pairs[(pairs >= 0).all(axis=1)]
    partner[known[:, 0]] = known[:, 1]
    asked = (matches.rank == 1) & (partner[matches.left] >= 0)
    called = evaluate.decisions(matches.partners("match"), pairs)
    given = matches.probability[asked] / np.maximum(matches.counterpart[asked], 1e-9)
    return {
        **evaluate.ranking(solution.alignment, pairs),
        **evaluate.decisions(matches.partners(), pairs),
        **{f"match_{name}": called[name] for name in ("precision", "sample_precision", "recall", "f1")},
        **evaluate.macro(said_true, said_one),
        **{f"{name}_1to2": value for name, value in evaluate.macro(said_true, said_two).items()},
        "ece": evaluate.calibration_error(np.clip(given, 0, 1), matches.right[asked] == partner[matches.left[asked]]),
        "test_pairs": len(pairs),
    }
