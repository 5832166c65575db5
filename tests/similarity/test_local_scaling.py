"""CSLS over sparse coordinates, against all pairs; pairs that are each other's best."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from kedge.embedding.coordinates import Coordinates
from kedge.similarity import mutual_best, scale_locally


def draw(n: int, seed: int) -> Coordinates:
    rng = np.random.default_rng(seed)
    entries = csr_array(random_array((n, 12), density=0.95, rng=rng, dtype=np.float32))
    tail = rng.standard_normal((n, 3)).astype(np.float32)
    return Coordinates(entries, tail, tail)


def oracle(cosines: np.ndarray, neighbours: int) -> np.ndarray:
    """2 cos - r(u) - r(v), loop by loop."""
    means = [
        np.array([sorted(row)[-neighbours:] for row in side]).mean(axis=1) if neighbours else np.zeros(len(side))
        for side in (cosines, cosines.T)
    ]
    return np.array([[2 * c - means[0][u] - means[1][v] for v, c in enumerate(row)] for u, row in enumerate(cosines)])


@pytest.mark.parametrize("neighbours", [0, 1, 4])
def test_scores_are_those_of_all_pairs_and_the_nearest_are_kept(neighbours: int) -> None:
    left, right = draw(20, 1), draw(15, 2)
    free = (np.arange(20) % 5 > 0, np.arange(15) != 7)
    mine = np.flatnonzero(free[0] & (np.diff(left.entries.indptr) > 0))
    other = np.flatnonzero(free[1] & (np.diff(right.entries.indptr) > 0))
    cosines = (left.entries @ right.entries.T).toarray() + left.tail @ right.mirrored.T
    expected = oracle(cosines[np.ix_(mine, other)], neighbours)
    every = scale_locally(left, right, free, 20, neighbours)
    assert every.nnz == len(mine) * len(other), "taken and unplaced accounts have no candidates"
    np.testing.assert_allclose(every.toarray()[np.ix_(mine, other)], expected, atol=1e-5)
    few = scale_locally(left, right, free, 3, neighbours).toarray()
    nearest = np.argsort(-cosines[np.ix_(mine, other)], axis=1)[:, :3]
    assert all(few[u, other[nearest[i]]].all() for i, u in enumerate(mine))
    stored = few != 0
    np.testing.assert_allclose(few[stored], every.toarray()[stored], atol=1e-5)


def test_an_account_near_to_all_is_no_longer_the_best_of_all() -> None:
    """A hub of cosine space: nearest to each by cosine, second by CSLS."""
    cosines = np.array([[0.9, 0.8, 0.1], [0.9, 0.1, 0.8], [0.9, 0.01, 0.01]], np.float32)
    left = Coordinates(
        csr_array(np.eye(3, dtype=np.float32)), np.zeros((3, 1), np.float32), np.zeros((3, 1), np.float32)
    )
    right = Coordinates(csr_array(cosines.T.copy()), np.zeros((3, 1), np.float32), np.zeros((3, 1), np.float32))
    free = (np.ones(3, bool), np.ones(3, bool))
    plain, scaled = (scale_locally(left, right, free, 3, neighbours).toarray() for neighbours in (0, 2))
    assert plain.argmax(axis=1).tolist() == [0, 0, 0]
    assert scaled.argmax(axis=1).tolist() == [1, 2, 0]


def test_pairs_that_are_each_others_best() -> None:
    scores = csr_array(np.array([[3.0, 1.0, 0.0], [4.0, 2.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0]]))
    assert mutual_best(scores).tolist() == [[1, 0], [2, 2]]
    assert mutual_best(csr_array((2, 3))).shape == (0, 2)
    tied = csr_array(np.array([[0.0, 2.0, 2.0], [0.0, 2.0, 2.0]]))
    assert mutual_best(tied).tolist() == [[0, 1]], "of equal ones the smallest number"


def test_accounts_with_no_coordinate_in_common_are_no_candidates() -> None:
    tail = np.ones((2, 1), np.float32)
    left = Coordinates(csr_array(np.array([[1.0, 0, 0], [0, 0, 1]], np.float32)), tail, tail)
    right = Coordinates(csr_array(np.array([[0, 1.0, 0], [0, 0.5, 1]], np.float32)), tail, tail)
    found = scale_locally(left, right, (np.ones(2, bool), np.ones(2, bool)), 2, 1)
    assert np.argwhere(found.toarray()).tolist() == [[1, 1]]
