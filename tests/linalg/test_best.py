"""The best of groups in one pass: the same as by a sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.linalg import best_other, top_of_rows

SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), max_size=30)


@settings(deadline=None)  # the first example compiles
@given(SCORES, st.sampled_from([-np.inf, -1.0, 0.0]))
def test_the_best_other_of_a_group(pairs: list[tuple[int, int]], floor: float) -> None:
    group, score = np.array([g for g, _ in pairs], np.int64), np.array([x for _, x in pairs], np.float64)
    want = [max([floor, *(x for j, (h, x) in enumerate(pairs) if h == g and j != i)]) for i, (g, _) in enumerate(pairs)]
    np.testing.assert_array_equal(best_other(group, 5, score, floor), want)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_top_of_rows_is_sorted_by_value_then_column(k: int) -> None:
    rng = np.random.default_rng(k)
    dense = np.where(rng.random((12, 8)) < 0.6, rng.integers(1, 4, (12, 8)), 0).astype(np.float32)
    columns, values = top_of_rows(csr_array(dense), k)
    for row, mine, theirs in zip(dense, columns, values, strict=True):
        want = sorted((-x, j) for j, x in enumerate(row) if x)[:k]
        assert mine.tolist() == [j for _, j in want] + [-1] * (k - len(want))
        assert theirs.tolist() == [-x for x, _ in want] + [-np.inf] * (k - len(want))
