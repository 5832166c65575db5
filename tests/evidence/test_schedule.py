"""How rounds of evidence are laid out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.evidence.schedule import anchored_neighbours, schedule
from kedge.types import Network, Problem


def ring(n: int, anchors: int) -> Problem:
    """Two rings of n accounts, the first `anchors` of them matched."""
    network = Network.from_edges([(i, (i + 1) % n) for i in range(n)], n)
    return Problem(network, network, [(i, i) for i in range(anchors)])


def test_reach_counts_anchored_neighbours_on_the_poorer_side() -> None:
    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    pair = Network.from_edges([(0, 1)], 2)
    # The hub alone is anchored: four of five accounts of the star know it, one of two of the pair.
    assert anchored_neighbours(Problem(star, pair, [(0, 0)])) == pytest.approx(0.5)
    assert anchored_neighbours(ring(10, 10)) == pytest.approx(2.0)


def test_more_anchors_mean_fewer_rounds() -> None:
    rounds = [len(schedule(ring(20, count), 15, 3, 4.0, 1.0)) for count in (0, 1, 10, 15, 20)]
    assert rounds == [15, 15, 15, 10, 8]


@given(st.integers(1, 30), st.integers(1, 30), st.floats(1.0, 8.0), st.floats(0.2, 1.0))
def test_cools_to_the_last_temperature_and_stays_there(most: int, least: int, first: float, last: float) -> None:
    rounds = schedule(ring(12, 9), most, least, first, last)
    heats = [one.temperature for one in rounds]
    assert min(least, most) <= len(rounds) <= most
    assert heats == sorted(heats, reverse=True)
    assert heats[-1] == pytest.approx(last) or len(rounds) == 1
    kept = np.array([one.kept for one in rounds])
    assert kept[0] == 0
    assert (np.diff(kept) >= 0).all(), "once beliefs are damped they stay damped"
