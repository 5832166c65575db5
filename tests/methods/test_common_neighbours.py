"""Common anchored neighbours against loops, and the blocks that their products are made in."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import kedge.methods.common_neighbours as module
from kedge.config import Config
from kedge.context.run_context import RunContext
from kedge.methods import METHODS
from kedge.methods.shared.pairs import product_blocks
from kedge.types import Network, Problem


def random_problem(seed: int = 0, n: int = 40, edges: int = 150, anchors: int = 12) -> Problem:
    rng = np.random.default_rng(seed)
    left, right = (Network.from_edges(rng.integers(n, size=(edges, 2)), n) for _ in range(2))
    pairs = np.column_stack([rng.permutation(n)[:anchors], rng.permutation(n)[:anchors]])
    return Problem(left, right, pairs)


def oracle(problem: Problem) -> Any:
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


def test_agrees_with_the_loops() -> None:
    problem = random_problem()
    found = METHODS["common-neighbours"].align(problem, Config(candidates=100))
    np.testing.assert_allclose(found.scores.toarray(), oracle(problem), rtol=1e-5)


@pytest.mark.parametrize("most", [1, 50, 1 << 23])
def test_blocks_of_any_size_are_the_whole_product(most: int) -> None:
    rng = np.random.default_rng(0)
    mine, onto = (csr_array(rng.random(shape) * (rng.random(shape) < 0.2)) for shape in ((40, 12), (12, 30)))
    blocks = list(product_blocks(mine, onto, most))
    assert [block.start for block, _ in blocks] == [0, *(block.stop for block, _ in blocks[:-1])]
    np.testing.assert_array_equal(np.vstack([part.toarray() for _, part in blocks]), (mine @ onto).toarray())
    assert (len(blocks) == 1) == (most > 10_000)


def test_keeps_the_best_of_each_row_and_of_each_column() -> None:
    problem = random_problem(1)
    k, scores = 3, oracle(problem)
    kept = module.align(problem, Config(candidates=k), RunContext()).scores.toarray()
    assert kept.astype(bool).sum() < scores.astype(bool).sum()
    for mine, all_of_mine in ((kept, scores), (kept.T, scores.T)):
        for row, full in zip(mine, all_of_mine, strict=True):
            best = np.sort(full)[::-1][:k]
            np.testing.assert_allclose(np.sort(row)[::-1][:k], best, rtol=1e-5)


def test_an_anchored_account_is_no_other_accounts_candidate() -> None:
    problem = random_problem(2)
    scores = module.align(problem, Config(), RunContext()).scores.toarray()
    assert scores[problem.anchors[:, 0]].sum() == 0
    assert scores[:, problem.anchors[:, 1]].sum() == 0


def test_weights_of_edges_do_not_count() -> None:
    problem = random_problem(3)
    heavy = problem.left.adjacency.copy()
    heavy.data = heavy.data * 7
    weighted = Problem(Network(heavy, problem.left.ids), problem.right, problem.anchors)
    plain, other = (module.align(p, Config(), RunContext()).scores for p in (problem, weighted))
    assert (plain != other).nnz == 0


@pytest.mark.parametrize("anchors", [[], [[0, 0]]])
def test_few_anchors(anchors: Any) -> None:
    problem = random_problem(4)
    found = module.align(Problem(problem.left, problem.right, anchors), Config(), RunContext())
    assert found.scores.shape == (40, 40)
    assert len(anchors) or found.scores.nnz == 0


def test_a_hub_joined_to_all_others() -> None:
    n = 300
    star = Network.from_edges([[0, i] for i in range(1, n)], n)
    found = module.align(Problem(star, star, [[0, 0]]), Config(candidates=5), RunContext())
    assert found.scores.nnz <= 2 * 5 * n
    assert len(np.unique(found.scores.data)) == 1
