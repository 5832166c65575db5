"""Alignments agree with a dense matrix of the same scores, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.evaluation.metrics import ranks
from kedge.linalg import SparseAlignment, VectorAlignment
from kedge.linalg.sparse import top_of_rows


def dense_rank(scores: np.ndarray, u: int, v: int) -> float:
    """The average rank of v in row u, by sorting every order of the ties: above + (ties + 1) / 2."""
    above = sum(1 for w in range(scores.shape[1]) if scores[u, w] > scores[u, v])
    tied = sum(1 for w in range(scores.shape[1]) if scores[u, w] == scores[u, v])
    return above + (tied + 1) / 2


def sparse_example(seed: int) -> tuple[SparseAlignment, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 8, size=2)
    # Few distinct values, so that ties are common; some of them negative, as log-odds are.
    dense = rng.integers(-2, 3, size=shape).astype(np.float32)
    stored = rng.random(shape) < 0.6
    rows, columns = np.nonzero(stored)
    scores = csr_array((dense[rows, columns], (rows, columns)), shape=tuple(shape))
    return SparseAlignment(scores), np.where(stored, dense, -np.inf)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_sparse_scores_and_ranks_agree_with_the_dense_matrix(seed: int) -> None:
    alignment, dense = sparse_example(seed)
    pairs = np.array([(u, v) for u in range(dense.shape[0]) for v in range(dense.shape[1])])
    assert alignment.score(pairs).tolist() == dense[pairs[:, 0], pairs[:, 1]].tolist()
    assert ranks(alignment, pairs, "left").tolist() == [dense_rank(dense, u, v) for u, v in pairs]
    assert ranks(alignment, pairs, "right").tolist() == [dense_rank(dense.T, v, u) for u, v in pairs]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_the_top_of_rows_is_a_sort(seed: int, k: int) -> None:
    alignment, dense = sparse_example(seed)
    columns, values = top_of_rows(alignment.scores, k)
    for row in range(dense.shape[0]):
        order = sorted((-s, v) for v, s in enumerate(dense[row]) if np.isfinite(s))[:k]
        assert [(v, -s) for s, v in order] == [
            (v, s) for v, s in zip(columns[row].tolist(), values[row].tolist(), strict=True) if v >= 0
        ]


@pytest.mark.parametrize("k", [1, 3, 20])
def test_vectors_agree_with_all_cosines(k: int) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(6, 3)), rng.normal(size=(9, 3))
    right[4] = right[5]  # a tie
    left[2] = 0  # no direction: scores 0 with everyone
    alignment = VectorAlignment(left, right)
    unit = [row / np.linalg.norm(row) if row.any() else row for row in left]
    cosines = np.array([[a @ (b / np.linalg.norm(b)) for b in right] for a in unit])
    pairs = np.array([(u, v) for u in range(6) for v in range(9)])
    assert alignment.score(pairs) == pytest.approx(cosines.ravel(), abs=1e-6)
    best, scores = alignment.top(np.arange(6), k)
    for u in range(6):
        kept = best[u][best[u] >= 0]
        assert len(kept) == min(k, 9)
        assert scores[u, : len(kept)] == pytest.approx(np.sort(cosines[u])[::-1][: len(kept)], abs=1e-6)
    assert ranks(alignment, np.array([[2, 0]]))[0] == 5.0, "all equal: the average of 1..9"
    assert ranks(alignment, np.array([[0, 4]]))[0] == ranks(alignment, np.array([[0, 5]]))[0]
    from_right, _ = alignment.top(np.arange(9), 1, "right")
    assert from_right[:, 0].tolist() == cosines.argmax(axis=0).tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_head_stands_above_all_cosines(side: str) -> None:
    """Dense: the cosines with the head written over them."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(7, 3)), rng.normal(size=(9, 3))
    chosen = rng.random((7, 9)) < 0.3
    head = csr_array(np.where(chosen, rng.integers(2, 5, size=(7, 9)), 0).astype(float))  # with ties
    alignment = VectorAlignment(left, right, head)
    plain = VectorAlignment(left, right)
    pairs = np.array([(u, v) for u in range(7) for v in range(9)])
    dense = np.where(chosen, head.toarray(), plain.score(pairs).reshape(7, 9))
    assert alignment.score(pairs) == pytest.approx(dense.ravel(), abs=1e-6)
    assert alignment.cosine(pairs) == pytest.approx(plain.score(pairs), abs=1e-6)
    seen = dense if side == "left" else dense.T
    best, scores = alignment.top(np.arange(len(seen)), 4, side)
    assert scores == pytest.approx(np.sort(seen, axis=1)[:, ::-1][:, :4], abs=1e-6)
    assert np.take_along_axis(seen, best, axis=1) == pytest.approx(scores, abs=1e-6)
    above, equal = alignment.count_above(pairs, side)
    for i, (u, v) in enumerate(pairs):
        row = seen[u if side == "left" else v]
        assert (above[i], equal[i]) == ((row > dense[u, v] + 1e-6).sum(), (abs(row - dense[u, v]) < 1e-6).sum() - 1)
