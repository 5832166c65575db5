"""Outcomes counted in bins, and communities, on small examples."""

from __future__ import annotations

import numpy as np
import pytest

from kedge.evaluation.breakdowns import by_degree, find_communities, made_and_right, reliability
from kedge.types import Network


def test_counting_by_hand() -> None:
    made, right = made_and_right(np.array([0.2, 0.9, 0.5]), np.array([True, True, False]), [0.0, 0.5, 0.6, 1.0])
    assert (made, right) == ([3, 2, 1, 0], [2, 1, 1, 0])
    rows = reliability(np.array([0.05, 0.06, 1.0]), np.array([False, True, True]))
    assert rows == [
        {"pairs": 2, "predicted": pytest.approx(0.055), "right": 1},
        {"pairs": 1, "predicted": 1.0, "right": 1},
    ]
    counted = by_degree(np.array([0, 1, 3, 4, 40]), np.array([0, 1, 0, 1, 1]), 2)
    assert [(row["from"], row["to"]) for row in counted] == [(0, 0), (1, 1), (3, 4), (33, None)]
    assert [row["counts"] for row in counted] == [[1, 0], [0, 1], [1, 1], [0, 1]]


def test_communities_are_two_cliques() -> None:
    clique = [(a, b) for a in range(8) for b in range(a)]
    edges = [*clique, *((a + 8, b + 8) for a, b in clique), (0, 8)]
    found = find_communities(Network.from_edges(edges, 17), seed=0)
    assert len(set(found[:8])) == len(set(found[8:16])) == 1
    assert len(set(found)) == 3
    assert found[16] == 2
