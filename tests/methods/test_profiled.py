"""Methods of the literature that read profiles: a field that agrees helps, and can begin alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from kedge import synthetic
from kedge.config import Config
from kedge.linalg import SparseAlignment, reciprocal_ranks
from kedge.methods import METHODS
from kedge.types import IntArray, Problem, Profiles

PAIR = synthetic.planted(200, 200, 160, 600, 600, overlap=0.6, seed=3)
TRAIN, TEST = synthetic.split(PAIR.anchors, 0.2, seed=0)
STRUCTURE = Problem(PAIR.left, PAIR.right, TRAIN)

both = pytest.mark.parametrize("name", ["cosnet", "bass"])


def with_city(problem: Problem, truth: IntArray) -> Problem:
    """Each person has one of 60 cities; nine tenths of the pairs agree."""
    rng = np.random.default_rng(0)
    cities = [rng.integers(0, 60, side.n) for side in (problem.left, problem.right)]
    same = rng.random(len(truth)) < 0.9
    cities[1][truth[same, 1]] = cities[0][truth[same, 0]]
    left, right = (
        Profiles(pa.table({"city": pa.array([f"c{c}" for c in side], pa.large_string())})) for side in cities
    )
    return replace(problem, profiles=(left, right))


def reached(name: str, problem: Problem) -> float:
    found = METHODS[name].align(problem, Config())
    assert isinstance(found, SparseAlignment)
    return float(reciprocal_ranks(found.scores, TEST).mean())


@both
def test_a_field_that_agrees_helps(name: str) -> None:
    assert reached(name, with_city(STRUCTURE, PAIR.anchors)) > reached(name, STRUCTURE) + 0.1


@both
def test_profiles_alone_begin_where_there_are_no_anchors(name: str) -> None:
    without = replace(with_city(STRUCTURE, PAIR.anchors), anchors=TRAIN[:0])
    assert reached(name, without) > 0.2
    assert reached(name, replace(STRUCTURE, anchors=TRAIN[:0])) < 0.05


@both
def test_an_anchored_account_is_no_other_ones_candidate(name: str) -> None:
    found = METHODS[name].align(with_city(STRUCTURE, PAIR.anchors), Config())
    best, _ = found.top(TRAIN[:, 0], 2)
    np.testing.assert_array_equal(best, np.column_stack([TRAIN[:, 1], np.full(len(TRAIN), -1)]))
