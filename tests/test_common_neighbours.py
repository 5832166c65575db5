from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

import kedge.methods.common_neighbours as module
from kedge.config import Config
from kedge.methods import METHODS
from kedge.types import Network, Problem


def random_problem(seed=0, n=40, edges=150, anchors=12):
    rng = np.random.default_rng(seed)
    left, right = (Network.from_edges(rng.integers(n, size=(edges, 2)), n) for _ in range(2))
    pairs = np.column_stack([rng.permutation(n)[:anchors], rng.permutation(n)[:anchors]])
    return Problem(left, right, pairs)


def oracle(problem):
    """The sum, pair by pair and anchor by anchor."""
    A, B = problem.left.adjacency.toarray(), problem.right.adjacency.toarray()
    degree_left, degree_right = problem.left.degrees, problem.right.degrees
    anchored_left, anchored_right = set(problem.anchors[:, 0]), set(problem.anchors[:, 1])
    scores = np.zeros((problem.left.n, problem.right.n))
    for u in range(problem.left.n):
        for v in range(problem.right.n):
            if u in anchored_left or v in anchored_right:
                continue
            for a, b in problem.anchors:
                if A[u, a] and B[v, b]:
                    weight = 1 / log(1 + sqrt(degree_left[a] * degree_right[b]))
                    scores[u, v] += weight / (degree_left[u] * degree_right[v]) ** 0.25
    return scores


@pytest.mark.parametrize("terms", [1, 50, 1 << 23])
def test_agrees_with_the_loops_for_any_size_of_block(monkeypatch, terms):
    monkeypatch.setattr(module, "_BLOCK_TERMS", terms)
    problem = random_problem()
    found = METHODS["common-neighbours"](problem, Config(candidates=100), 0)
    np.testing.assert_allclose(found.scores.toarray(), oracle(problem), rtol=1e-5)


def test_keeps_the_best_of_each_row_and_of_each_column():
    problem = random_problem(1)
    k, scores = 3, oracle(problem)
    kept = module.align(problem, Config(candidates=k), 0).scores.toarray()
    assert kept.astype(bool).sum() < scores.astype(bool).sum()
    for mine, all_of_mine in ((kept, scores), (kept.T, scores.T)):
        for row, full in zip(mine, all_of_mine, strict=True):
            best = np.sort(full)[::-1][:k]
            np.testing.assert_allclose(np.sort(row)[::-1][:k], best, rtol=1e-5)


def test_anchored_accounts_are_proposed_to_nobody():
    problem = random_problem(2)
    scores = module.align(problem, Config(), 0).scores.toarray()
    assert scores[problem.anchors[:, 0]].sum() == 0
    assert scores[:, problem.anchors[:, 1]].sum() == 0


def test_does_not_see_weights_of_edges():
    problem = random_problem(3)
    heavy = problem.left.adjacency.copy()
    heavy.data = heavy.data * 7
    weighted = Problem(Network(heavy, problem.left.ids), problem.right, problem.anchors)
    plain, other = (module.align(p, Config(), 0).scores for p in (problem, weighted))
    assert (plain != other).nnz == 0


@pytest.mark.parametrize("anchors", [[], [[0, 0]]])
def test_few_anchors(anchors):
    problem = random_problem(4)
    found = module.align(Problem(problem.left, problem.right, anchors), Config(), 0)
    assert found.scores.shape == (40, 40)
    assert len(anchors) or found.scores.nnz == 0


def test_a_hub_joined_to_everybody():
    n = 300
    star = Network.from_edges([[0, i] for i in range(1, n)], n)
    found = module.align(Problem(star, star, [[0, 0]]), Config(candidates=5), 0)
    assert found.scores.nnz <= 2 * 5 * n
    assert len(np.unique(found.scores.data)) == 1
