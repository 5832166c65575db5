"""Candidates by vector similarity: exact search equals brute force, approximate search states its recall."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import faiss
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.context.machine import one_blas_thread
from kedge.linalg import search
from kedge.similarity.candidates import each_once, nearest_pairs


def brute_force(X: np.ndarray, Y: np.ndarray, k: int) -> set[tuple[int, int]]:
    cosine = (X / np.linalg.norm(X, axis=1)[:, None]) @ (Y / np.linalg.norm(Y, axis=1)[:, None]).T
    forth = {(u, int(v)) for u in range(len(X)) for v in np.argsort(-cosine[u])[:k]}
    return forth | {(int(u), v) for v in range(len(Y)) for u in np.argsort(-cosine[:, v])[:k]}


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 8), st.integers(0, 99))
def test_exact_search_is_brute_force(n: int, m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
    found = nearest_pairs(X, Y, k)
    assert set(map(tuple, found.pairs.tolist())) == brute_force(X, Y, k)
    assert found.recall == 1.0


@pytest.mark.parametrize("exact_up_to", [10_000, 100])
def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch, exact_up_to: int) -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(3906, 128)), rng.normal(size=(1118, 128))  # threads would split them unevenly
    before = faiss.omp_get_max_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            faiss.omp_set_num_threads(threads)
            monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
            found.append(nearest_pairs(X, Y, 10, exact_up_to=exact_up_to))
    finally:
        faiss.omp_set_num_threads(before)
    for other in found[1:]:
        assert np.array_equal(other.pairs, found[0].pairs)
        assert other.recall == found[0].recall
        for mine, first in zip(other.cosines, found[0].cosines, strict=True):
            assert np.array_equal(mine, first, equal_nan=True)


def test_the_search_keeps_its_threads_where_blas_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr(
        search, "ThreadPoolExecutor", lambda n, **more: started.append(n) or ThreadPoolExecutor(n, **more)
    )
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)
    X = np.random.default_rng(2).normal(size=(3000, 8))
    for _ in range(2):
        with one_blas_thread():
            nearest_pairs(X, X, 3)
    assert started == [2] * 4


def test_the_recall_of_approximate_search_is_what_it_misses() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(400, 8)).astype(np.float32), rng.normal(size=(400, 8)).astype(np.float32)
    rough, exact = nearest_pairs(X, Y, 5, exact_up_to=10), nearest_pairs(X, Y, 5)
    truth = set(map(tuple, exact.pairs.tolist()))
    share = len(truth & set(map(tuple, rough.pairs.tolist()))) / len(truth)
    assert 0.1 < rough.recall < 1
    assert rough.recall == pytest.approx(share, abs=0.15)  # a pair may be found from its other side


def test_pairs_consist_of_the_given_accounts() -> None:
    X = np.eye(6, dtype=np.float32)
    found = nearest_pairs(X, X, 2, (np.array([1, 2]), np.array([2, 3, 4]))).pairs
    assert set(found[:, 0]) <= {1, 2}
    assert set(found[:, 1]) <= {2, 3, 4}
    assert (2, 2) in set(map(tuple, found.tolist()))


def test_accounts_without_a_vector_are_in_no_pair() -> None:
    X = np.eye(4, dtype=np.float32)
    X[0] = 0
    assert 0 not in nearest_pairs(X, X, 3).pairs
    assert nearest_pairs(np.zeros((3, 2)), np.ones((3, 2)), 2).pairs.shape == (0, 2)


def test_pairs_come_sorted_and_once() -> None:
    drawn = np.random.default_rng(0).integers(30, size=(500, 2))
    np.testing.assert_array_equal(each_once(drawn), np.unique(drawn, axis=0))
    assert each_once(np.empty((0, 2), np.int64)).shape == (0, 2)


def test_all_accounts_have_cosines_but_only_the_given_ones_are_paired() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[5] = 0
    seen = nearest_pairs(X, X, 8, (np.array([0, 1, 5]), np.array([2, 3])))
    assert set(map(tuple, seen.pairs.tolist())) == {(0, 2), (0, 3), (1, 2), (1, 3)}
    left, right = seen.cosines
    assert left.shape == right.shape == (6, 8)
    np.testing.assert_array_equal(
        np.isfinite(left).sum(axis=1), [2, 2, 2, 2, 2, 0]
    )  # the others have the free ones too
    unit = X[:5] / np.linalg.norm(X[:5], axis=1, keepdims=True)
    np.testing.assert_allclose(left[4, :2], sorted(unit[4] @ unit[[2, 3]].T, reverse=True), atol=1e-6)
