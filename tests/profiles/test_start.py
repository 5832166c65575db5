"""Pairs to start from without anchors: right as often as expected, and none where profiles prove nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from kedge import synthetic
from kedge.config import ProfileConfig
from kedge.ingest import read_profiles
from kedge.profiles import KINDS, Start, find_start
from kedge.profiles.weights import fit_field
from kedge.types import Profiles, is_among

PAIR = synthetic.planted(400, 400, 300, 1200, 1200, overlap=0.5, seed=5)


def _profiles(difficulty: str) -> tuple[Profiles, Profiles]:
    tables = synthetic.plant_profiles(PAIR, difficulty, 5)
    left, right = (read_profiles(t, n)[0] for t, n in zip(tables, (PAIR.left, PAIR.right), strict=True))
    return left, right


def _cities(left: list[str], right: list[str]) -> Start:
    sides = [Profiles(pa.table({"name": pa.array(side, pa.large_string())})) for side in (left, right)]
    return find_start(*sides, ProfileConfig(compare=("name:category",)))


def test_pairs_are_right_about_as_often_as_expected() -> None:
    found = find_start(*_profiles("easy"), ProfileConfig())
    assert len(found.pairs) > 150
    assert all(len(np.unique(side)) == len(found.pairs) for side in found.pairs.T)
    right = is_among(found.pairs, PAIR.anchors, PAIR.right.n).mean()
    assert right >= found.precision - 0.02
    assert found.precision >= 0.9


def test_strangers_start_nothing() -> None:
    left = _profiles("easy")[0]
    halves = left.take(np.arange(0, 400, 2)), left.take(np.arange(1, 400, 2))
    assert len(find_start(*halves, ProfileConfig()).pairs) == 0


def test_a_value_of_two_accounts_starts_neither() -> None:
    names = [f"person {i}" for i in range(60)]
    alone = _cities(names, names)
    assert np.array_equal(alone.pairs, np.column_stack([np.arange(60)] * 2))
    assert 0.95 < alone.precision < 1
    twins = _cities([*names, "person 0"], [*names, "person 0"])
    assert set(twins.pairs[:, 0].tolist()) == set(range(1, 60))


@pytest.mark.parametrize("right", [["x"] * 30, [f"other {i}" for i in range(30)]])
def test_nothing_in_common_starts_nothing(right: list[str]) -> None:
    assert len(_cities([f"person {i}" for i in range(30)], right).pairs) == 0


def test_a_probable_pair_counts_as_much_as_it_is_probable() -> None:
    kind, rng = KINDS["category"], np.random.default_rng(0)
    level, random = rng.integers(-1, 2, 50), np.zeros(500, np.int64)
    true = rng.random(50) < 0.5
    expected = fit_field(kind, level[true], random, level[~true], 1e4)
    found = fit_field(kind, level, random, level, 1e4, true.astype(np.float64))
    assert np.allclose(found.same, expected.same)
    assert np.allclose(found.random, expected.random)
