"""Vector similarity as a likelihood ratio: against loops, against known ratios, and without information."""

from __future__ import annotations

import numpy as np
import pytest

from kedge.linalg import VectorAlignment
from kedge.similarity.candidates import nearest_pairs
from kedge.similarity.likelihood import Similarity, ValidationFold, _rivals, fit_logistic, fit_similarity, local_scales


def crowd(n: int, noise: float, seed: int = 0, dimensions: int = 6) -> tuple[VectorAlignment, np.ndarray]:
    """Accounts in clusters of different width; account v on the right is u = v on the left, somewhat moved."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, dimensions))
    width = rng.uniform(0.05, 0.5, 8)
    group = rng.integers(8, size=n)
    left = centres[group] + width[group, None] * rng.normal(size=(n, dimensions))
    right = left + noise * width[group, None] * rng.normal(size=(n, dimensions))
    return VectorAlignment(left, right), np.column_stack([np.arange(n)] * 2)


def fitted(vectors: VectorAlignment, known: np.ndarray, seed: int = 0) -> Similarity:
    scales = local_scales(nearest_pairs(vectors.left, vectors.right, 20).cosines)
    folds = [ValidationFold(vectors.left, vectors.right, part) for part in np.array_split(known, 5)]
    similarity = fit_similarity(folds, known, scales, np.random.default_rng(seed))
    assert similarity is not None
    return similarity


def test_the_ratio_is_that_of_the_docstring_loop_by_loop() -> None:
    vectors, same = crowd(80, 0.3)
    similarity = fitted(vectors, same[:40])
    weights = similarity.weights

    def log_distance(u: int, v: int) -> float:
        return float(np.log(1e-4 + max(1 - float(vectors.left[u] @ vectors.right[v]), 0)))

    pairs = np.array([[3, 3], [3, 9], [50, 50], [79, 0]])
    for (u, v), found in zip(pairs, similarity.log_ratio(vectors, pairs), strict=True):
        own = [np.median(sorted(log_distance(u, w) for w in range(80))[:10])]
        own += [np.median(sorted(log_distance(w, v) for w in range(80))[:10])]
        d = log_distance(u, v)
        assert found == pytest.approx(weights @ [1, d, d - own[0], d - own[1]], abs=1e-3)


def test_the_ratio_predicts_how_many_pairs_are_partners_and_ranks_them_first() -> None:
    vectors, same = crowd(600, 0.3)
    similarity = fitted(vectors, same[:300])
    everything = np.argwhere(np.ones((600, 600)))
    ratio = np.exp(similarity.log_ratio(vectors, everything)).reshape(600, 600)
    # With a ratio of r, and 600 accounts of which one is the partner, the probability of a pair is r / (r + 600).
    assert (ratio / (ratio + 600)).sum() == pytest.approx(600, rel=0.1)
    others = np.arange(300, 600)
    rank = (ratio[others] >= ratio[others, others][:, None]).sum(axis=1)
    by_cosine = vectors.left[others] @ vectors.right.T
    plain = (by_cosine >= by_cosine[np.arange(300), others][:, None]).sum(axis=1)
    assert (1 / rank).mean() >= (1 / plain).mean()
    assert np.median(np.log(ratio[others, others])) > 2


def test_random_vectors_give_a_ratio_of_about_one() -> None:
    rng = np.random.default_rng(0)
    vectors = VectorAlignment(rng.normal(size=(300, 5)), rng.normal(size=(300, 5)))
    similarity = fitted(vectors, np.column_stack([np.arange(100)] * 2))
    pairs = rng.integers(300, size=(500, 2))
    assert np.abs(similarity.log_ratio(vectors, pairs)).max() < 1.5


def test_what_is_learnt_does_not_depend_on_the_numbers_of_accounts() -> None:
    vectors, same = crowd(200, 0.2)
    order = np.random.default_rng(3).permutation(200)
    moved = VectorAlignment(vectors.left, vectors.right[order])
    back = np.argsort(order)
    first = fitted(vectors, same[:100])
    second = fitted(moved, np.column_stack([same[:100, 0], back[same[:100, 1]]]))
    np.testing.assert_allclose(first.weights, second.weights, rtol=0.3)  # random rivals differ


def test_without_vectors_nothing_is_learnt() -> None:
    vectors, known = VectorAlignment(np.zeros((20, 3)), np.zeros((20, 3))), np.column_stack([np.arange(10)] * 2)
    scales = local_scales(nearest_pairs(vectors.left, vectors.right, 20).cosines)
    fold = ValidationFold(vectors.left, vectors.right, known)
    assert fit_similarity([fold], known, scales, np.random.default_rng(0)) is None
    assert np.isfinite(scales[0]).all()


def test_accounts_without_a_vector_teach_nothing_and_have_a_finite_ratio() -> None:
    vectors, same = crowd(60, 0.2)
    left = vectors.left.copy()
    left[:5] = 0
    vectors = VectorAlignment(left, vectors.right)
    similarity = fitted(vectors, same[:30])
    assert np.isfinite(similarity.log_ratio(vectors, same)).all()


def test_local_scales_are_medians_of_what_was_found() -> None:
    """Four near accounts out of ten places, and none: the median of the four, and the distance of a cosine of 0."""
    some = np.full((2, 12), np.nan, np.float32)
    some[0, :4] = [0.99, 0.98, 0.97, 0.96]
    left, _ = local_scales((some, some))
    assert left[0] == pytest.approx(np.median(np.log(1e-4 + 1 - some[0, :4])), abs=1e-3)
    assert left[1] == pytest.approx(np.log(1 + 1e-4))


def test_rivals_stand_for_all_accounts_but_the_partner() -> None:
    vectors, same = crowd(150, 0.3)
    pairs, free = same[:40], [np.arange(150)] * 2
    false, stands_for = _rivals(vectors, pairs, free, np.random.default_rng(0))
    assert (false[:, 0] != false[:, 1]).all(), "a partner is no rival"
    assert stands_for.sum() == pytest.approx(2 * 40 * 149)


def test_logistic_regression_finds_the_weights_that_made_the_examples() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(20_000), rng.normal(size=(20_000, 2))])
    true = rng.random(20_000) < 1 / (1 + np.exp(-x @ [-1.0, 2.0, 0.5]))
    found = fit_logistic(x, true, np.ones(20_000), np.zeros(3))
    np.testing.assert_allclose(found, [-1, 2, 0.5], atol=0.1)
    # An example that counts thrice is three examples.
    thrice = fit_logistic(np.repeat(x[:50], 3, axis=0), np.repeat(true[:50], 3), np.ones(150), np.zeros(3))
    np.testing.assert_allclose(fit_logistic(x[:50], true[:50], np.full(50, 3.0), np.zeros(3)), thrice, atol=1e-4)
    believed = np.array([3.0, 2.0, 1.0])
    np.testing.assert_allclose(fit_logistic(x[:50], true[:50], np.ones(50), believed, 1e9), believed, atol=1e-4)
