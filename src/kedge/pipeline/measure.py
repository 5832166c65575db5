"""How good an outcome is on held-out pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kedge.evaluation import metrics
from kedge.pipeline.solve import Outcome
from kedge.types import IntArray


def measure(outcome: Outcome, test: IntArray | None, seed: int) -> dict[str, Any]:
    """Every metric on held-out pairs; null where it cannot be computed. Nothing is fitted to the test pairs.

    `precision`, `recall` and `f1` are of all assigned partners, however uncertain; `match_precision` and so on of those
    that were called a match. Where the test pairs are a sample of the true ones, the truth lies between `precision` and
    `sample_precision` (evaluation.metrics.decisions).

    Macro figures are at one false pair for each true one, as in the paper, and at two (`_1to2`), by the same rule.

    `ece` compares the probability of each test account's best candidate, given that the account has a counterpart (test
    accounts have one), with whether it is the right one.
    """
    pairs = np.empty((0, 2), np.int64) if test is None else test
    matches, problem = outcome.matches, outcome.problem
    draw = partial(metrics.balanced_pairs, pairs, problem.right.n, problem.anchors)
    true, one = draw(np.random.default_rng(seed))
    _, two = draw(np.random.default_rng([seed, 2]), ratio=2)
    drawn = np.concatenate([true, one, two])
    linked_true, linked_one, linked_two = np.split(
        outcome.calibrator.predicts_link(problem, outcome.alignment, drawn), [len(true), len(true) + len(one)]
    )
    partner = np.full(problem.left.n, -1)
    known = pairs[(pairs >= 0).all(axis=1)]
    partner[known[:, 0]] = known[:, 1]
    best = (matches.rank == 1) & (partner[matches.left] >= 0)
    called = metrics.decisions(matches.partners("match"), pairs)
    given = matches.probability[best] / np.maximum(matches.counterpart[best], 1e-9)
    return {
        **metrics.ranking(outcome.alignment, pairs),
        **metrics.decisions(matches.partners(), pairs),
        **{f"match_{name}": called[name] for name in ("precision", "sample_precision", "recall", "f1")},
        **metrics.macro(linked_true, linked_one),
        **{f"{name}_1to2": value for name, value in metrics.macro(linked_true, linked_two).items()},
        "ece": metrics.calibration_error(np.clip(given, 0, 1), matches.right[best] == partner[matches.left[best]]),
        "test_pairs": len(pairs),
    }
