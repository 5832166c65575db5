"""IRMA's repair against a plain loop that looks at every pair again after each match."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from graphs import communities, random_network

from kedge import synthetic
from kedge.config import BaselineConfig
from kedge.methods.irma import common_edges, repair
from kedge.methods.shared.marks import as_graphs
from kedge.types import IntArray, Problem

SETTINGS = BaselineConfig(keep=100)


def marks(problem: Problem, links: dict[int, int]) -> np.ndarray:
    """The linked pairs that neighbour each pair, counted one by one."""
    A, B = (network.adjacency.toarray() > 0 for network in (problem.left, problem.right))
    counts = np.zeros((problem.left.n, problem.right.n))
    for (u, v), (a, b) in product(np.ndindex(*counts.shape), links.items()):
        counts[u, v] += A[u, a] and B[v, b]
    return counts


def slowly(problem: Problem, links: IntArray, least: int) -> dict[int, int]:
    """A repair in which the best free pair is sought among all after each match."""
    last = marks(problem, dict(links.tolist()))
    left, right = as_graphs(problem, 0)
    matched = dict(problem.anchors.tolist())
    while True:
        now = np.maximum(last, marks(problem, matched))
        free = [
            (-now[u, v], abs(problem.left.degrees[u] - problem.right.degrees[v]), left.draw[u], right.draw[v], u, v)
            for u, v in np.ndindex(*now.shape)
            if now[u, v] >= least and u not in matched and v not in matched.values()
        ]
        if not free:
            return matched
        *_, u, v = min(free)
        matched[u] = v


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_repair_matches_the_pair_with_most_marks_of_either_matching(least: int, seed: int) -> None:
    problem = Problem(random_network(9, 0.5, seed), random_network(8, 0.5, seed + 10), [(0, 3), (4, 1), (2, 2)])
    last = np.array([(0, 3), (4, 1), (2, 2), (5, 5), (6, 0), (7, 7)])
    found = repair(problem, last, least, SETTINGS, 0)
    assert dict(found.tolist()) == slowly(problem, last, least)
    assert len(set(found[:, 1].tolist())) == len(found)


def test_common_edges_are_counted_once() -> None:
    problem = Problem(random_network(9, 0.5, 1), random_network(8, 0.5, 2), [(0, 3)])
    links = np.array([(0, 3), (4, 1), (2, 2), (5, 5)])
    A, B = (network.adjacency.toarray() > 0 for network in (problem.left, problem.right))
    expected = sum(A[a, c] and B[b, d] for (a, b), (c, d) in product(links.tolist(), repeat=2)) // 2
    assert expected > 0
    assert common_edges(problem, links) == expected


def test_wrong_pairs_are_repaired() -> None:
    """A third of a right matching is wrong by exchange of partners: most of it is put right."""
    pair = synthetic.subnetworks(communities(90, 3, 0.5, 0.05, 1), 0.9, 0.95, 1)
    truth = pair.anchors
    problem = Problem(pair.left, pair.right, truth[:15])
    wrong = truth.copy()
    wrong[15:45, 1] = np.roll(truth[15:45, 1], 1)
    repaired = {tuple(link) for link in repair(problem, wrong, 2, SETTINGS, 0).tolist()}
    right = [tuple(link) in repaired for link in truth[15:45].tolist()]
    assert np.mean(right) > 0.8
