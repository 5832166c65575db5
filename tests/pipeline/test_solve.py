"""What an outcome answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from kedge.config import resolve
from kedge.linalg import VectorAlignment
from kedge.pipeline.solve import Outcome
from kedge.types import Network, Problem


class Agrees:
    """A pair network: yes where the first entries of both vectors have one sign."""

    def log_odds(self, X: Any, Y: Any, pairs: Any) -> Any:
        return X[pairs[:, 0], 0] * Y[pairs[:, 1], 0]


class Never:
    """A calibrator whose rule answers no."""

    def predicts_link(self, _problem: Any, _alignment: Any, pairs: Any) -> Any:
        return np.zeros(len(pairs), bool)


def answers(preset: str, network: Any) -> list[bool]:
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0]])
    ring = Network.from_edges([(0, 1)], 2)
    alignment = VectorAlignment(vectors, vectors, network=network)
    calibrator, matches = Never(), Never()
    problem = Problem(ring, ring, np.empty((0, 2), np.int64))
    outcome = Outcome(problem, resolve(preset), alignment, calibrator, matches)  # type: ignore[arg-type]
    return [bool(yes) for yes in outcome.predicts_link(np.array([[0, 0], [0, 1], [1, 1]]))]


def test_under_the_papers_preset_the_pair_network_decides_on_single_pairs() -> None:
    assert answers("paper", Agrees()) == [True, False, True]
    assert answers("default", Agrees()) == [False, False, False]


def test_the_rule_decides_where_no_network_was_trained() -> None:
    assert answers("paper", None) == [False, False, False]
