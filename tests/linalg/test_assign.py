from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from kedge.linalg.assign import assign


def total(gain: Any, pairs: Any) -> Any:
    return float(sum(gain[u, v] for u, v in pairs))


def best_total(gain: Any) -> Any:
    """The optimum with a column of 0 for each row that stays free."""
    n = len(gain)
    padded = np.hstack([np.maximum(gain, 0), np.zeros((n, n))])
    return float(padded[linear_sum_assignment(padded, maximize=True)].sum())


def is_one_to_one(pairs: Any) -> Any:
    return len(set(pairs[:, 0].tolist())) == len(pairs) == len(set(pairs[:, 1].tolist()))


matrices = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda shape: st.one_of(
        st.lists(st.integers(-2, 3), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]),
        st.lists(st.floats(-1, 1, width=32), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]),
    ).map(lambda cells: np.array(cells, float).reshape(shape))
)


@settings(max_examples=250, deadline=None)
@given(matrices)
def test_optimal_reaches_the_optimum_and_never_takes_a_loss(gain: Any) -> None:
    pairs = assign(csr_array(gain))
    assert is_one_to_one(pairs)
    assert all(gain[u, v] > 0 for u, v in pairs)
    assert total(gain, pairs) == pytest.approx(best_total(gain), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_optimal_agrees_with_trying_everything(gain: Any) -> None:
    gain = gain[:4, :4]
    n, m = gain.shape
    padded = np.hstack([np.maximum(gain, 0), np.zeros((n, n))])
    brute = max(padded[np.arange(n), list(choice)].sum() for choice in permutations(range(n + m), n))
    assert total(gain, assign(csr_array(gain))) == pytest.approx(float(brute), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(matrices, st.randoms(use_true_random=False))
def test_total_does_not_depend_on_the_numbering(gain: Any, random: Any) -> None:
    rows, columns = list(range(gain.shape[0])), list(range(gain.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = gain[rows][:, columns]
    assert total(shuffled, assign(csr_array(shuffled))) == pytest.approx(total(gain, assign(csr_array(gain))), abs=1e-9)


@pytest.mark.parametrize("kind", ["floats", "ties", "hubs"])
def test_optimal_on_a_larger_sparse_problem(kind: str) -> None:
    rng = np.random.default_rng(3)
    n, k = 600, 5
    rows = np.repeat(np.arange(n), k)
    columns = rng.integers(20 if kind == "hubs" else n, size=n * k)
    values = rng.integers(1, 4, n * k).astype(float) if kind == "ties" else rng.random(n * k)
    dense = np.zeros((n, n))
    dense[rows, columns] = values
    pairs = assign(csr_array(dense))
    assert is_one_to_one(pairs)
    assert total(dense, pairs) == pytest.approx(best_total(dense), rel=1e-12)


def test_optimal_gives_up_a_good_pair_for_two_others() -> None:
    gain = csr_array(np.array([[5.0, 4.0], [4.0, 0.0]]))
    assert assign(gain).tolist() == [[0, 1], [1, 0]]
    assert assign(gain, "greedy").tolist() == [[0, 0]]


def test_optimal_leaves_an_account_free_where_that_is_better() -> None:
    gain = csr_array(np.array([[5.0, 0.0], [4.0, -1.0]]))
    assert assign(gain).tolist() == [[0, 0]]


def test_ties_go_to_lower_accounts() -> None:
    assert assign(csr_array(np.ones((3, 3)))).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert assign(csr_array(np.ones((3, 1)))).tolist() == [[0, 0]]
    assert assign(csr_array(np.ones((3, 3))), "greedy").tolist() == [[0, 0], [1, 1], [2, 2]]
    assert assign(csr_array(np.ones((3, 3))), "many-to-one").tolist() == [[0, 0], [1, 0], [2, 0]]
    assert assign(csr_array(np.array([[1.0, 2.0], [2.0, 1.0]])), "greedy").tolist() == [[0, 1], [1, 0]]


def test_the_same_gains_give_the_same_pairs_in_any_order_of_storage() -> None:
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (30, 30)).astype(float)
    rows, columns = np.nonzero(dense)
    order = rng.permutation(len(rows))
    shuffled = csr_array((dense[rows, columns][order], (rows[order], columns[order])), shape=dense.shape)
    assert (assign(shuffled) == assign(csr_array(dense))).all()


def test_many_to_one_takes_each_left_account_by_itself() -> None:
    gain = csr_array(np.array([[0.9, 0.1], [0.8, 0.2], [-1.0, -2.0]]))
    assert assign(gain, "many-to-one").tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("how", ["optimal", "greedy", "many-to-one"])
def test_nothing_to_assign(how: str) -> None:
    for shape in ((3, 2), (0, 5), (5, 0)):
        assert assign(csr_array(shape, dtype=np.float64), how).shape == (0, 2)
    assert assign(csr_array(-np.ones((2, 2))), how).shape == (0, 2)


def test_tiny_gains_beside_huge_ones_are_still_taken() -> None:
    gain = csr_array(np.array([[1e30, 0.0], [0.0, 1e-30]]))
    assert assign(gain).tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_what_is_no_gain(bad: Any) -> None:
    with pytest.raises(ValueError, match="below infinity"):
        assign(csr_array(np.array([[bad, 1.0]])))


def test_refuses_an_unknown_way() -> None:
    with pytest.raises(ValueError, match="choose optimal"):
        assign(csr_array(np.ones((1, 1))), "best")  # type: ignore[arg-type]
