"""The pair network against its oracle, and what it learns from many, few and no anchors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest

from kedge.config import PairingConfig, resolve
from kedge.linalg import VectorAlignment
from kedge.similarity.likelihood import ValidationFold
from kedge.similarity.pair_network import (
    Form,
    PairNetwork,
    draw_examples,
    features,
    fit_pair_network,
    likeliest_pairs,
)
from kedge.types import Network, Problem

FORMS: tuple[Form, ...] = ("concat", "interaction")
NONE = np.empty((0, 2), np.int64)


def twins(n: int = 200, d: int = 8, noise: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of n people on two sides: row i of one is row i of the other, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, X + noise * rng.normal(size=(n, d)).astype(np.float32)


def same(count: int) -> np.ndarray:
    return np.column_stack([np.arange(count), np.arange(count)])


def train(X: np.ndarray, Y: np.ndarray, anchors: np.ndarray, config: PairingConfig, seed: int) -> PairNetwork:
    """The network of four fifths of the anchors; the others decide when to stop."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(anchors))
    count = max(round(0.2 * len(anchors)), 1)
    validation, known = (
        draw_examples(ValidationFold(X, Y, anchors[part]), NONE, config, rng) for part in (order[:count], order[count:])
    )
    return fit_pair_network(known, validation, config, seed)


@pytest.mark.parametrize("form", FORMS)
def test_the_forward_pass_is_the_oracles(form: Any) -> None:
    rng = np.random.default_rng(1)
    X, Y = twins(d=5)
    pairs = rng.integers(200, size=(30, 2))
    width = features(form, X[:1], Y[:1]).shape[1]
    network = PairNetwork(
        form, rng.normal(size=width), rng.uniform(0.5, 2, width), rng.normal(size=(width, 7)), rng.normal(size=7),
        rng.normal(size=7), 0.3, 2.0,
    )  # fmt: skip
    got = network.log_odds(X, Y, pairs)
    for i, (u, v) in enumerate(pairs):
        want = oracle.pair_network(form, X[u], Y[v], network)
        assert got[i] == pytest.approx(want, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_one_step_goes_down_the_cross_entropy(form: Any) -> None:
    """One step of Adam moves every weight of the output by the step size against the oracle's numeric gradient."""
    X, Y = twins(n=30, d=3)
    config = PairingConfig(form=form, hidden=4, steps=1, decay=0, negatives=2)
    examples = draw_examples(ValidationFold(X, Y, same(20)), NONE, config, np.random.default_rng(0))
    network = fit_pair_network(examples, examples, config, seed=3)
    assert network.losses[0][1] < network.losses[0][0]
    for place, moved in enumerate(network.W_2):
        slope = []
        for nudge in (1e-4, -1e-4):
            W_2 = np.zeros(4)
            W_2[place] = nudge
            start = replace(network, W_2=W_2, b_2=-network.base)  # W_1 has not moved yet: the output was 0
            slope.append(oracle.pair_cross_entropy(start, examples))
        assert moved == pytest.approx(-config.learning_rate * np.sign(slope[0] - slope[1]), rel=0.05)


def test_interaction_separates_twins_from_strangers() -> None:
    X, Y = twins()
    network = train(X, Y, same(80), PairingConfig(), seed=0)
    rest = np.arange(80, 200)
    own = network.log_odds(X, Y, np.column_stack([rest, rest]))
    others = network.log_odds(X, Y, np.column_stack([rest, np.roll(rest, 7)]))
    assert np.median(own) > 1 > -1 > np.median(others)
    assert (own[:, None] > others).mean() > 0.97


def test_log_odds_do_not_depend_on_how_many_false_pairs_were_drawn() -> None:
    X, Y = twins(n=600, noise=0.8)
    pairs = np.column_stack([np.arange(300, 600), np.arange(300, 600)])
    few, many = (train(X, Y, same(300), PairingConfig(negatives=k), seed=0).log_odds(X, Y, pairs) for k in (3, 30))
    assert abs(np.median(few) - np.median(many)) < 1.2 < np.log(10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_anchors_give_log_odds_of_zero(form: Any, count: int) -> None:
    X, Y = twins()
    network = train(X, Y, same(count), PairingConfig(form=form), seed=0)
    assert not network.trained
    assert not network.log_odds(X, Y, same(50)).any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_two_anchors_are_enough_to_be_finite(form: Any, count: int) -> None:
    X, Y = twins()
    network = train(X, Y, same(count), PairingConfig(form=form), seed=0)
    assert network.trained
    assert np.isfinite(network.log_odds(X, Y, same(200))).all()


def test_vectors_that_are_all_equal_give_equal_log_odds() -> None:
    X = np.ones((50, 4), np.float32)
    log_odds = train(X, X, same(20), PairingConfig(), seed=0).log_odds(X, X, same(50))
    assert np.ptp(log_odds) == 0
    assert abs(log_odds[0]) < 0.2


def test_the_same_seed_gives_the_same_network_and_another_seed_another() -> None:
    X, Y = twins()
    first, again, other = (train(X, Y, same(40), PairingConfig(), seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.log_odds(X, Y, same(200)), again.log_odds(X, Y, same(200)))
    assert not np.array_equal(first.W_1, other.W_1)


def test_training_stops_before_it_learns_the_anchors_by_heart() -> None:
    rng = np.random.default_rng(0)
    X, Y = (rng.normal(size=(200, 16)).astype(np.float32) for _ in range(2))  # nothing to learn
    network = train(X, Y, same(40), PairingConfig(form="concat", steps=2000), seed=0)
    assert len(network.losses) < 300
    assert np.abs(network.log_odds(X, Y, np.column_stack([np.arange(100, 200)] * 2))).mean() < 1


def test_false_pairs_are_known_to_be_false() -> None:
    """Each has exactly one account of its anchor; a candidate that may be true is never called false."""
    X, Y = np.eye(30, dtype=np.float32), np.eye(30, dtype=np.float32)  # a vector is its account's number
    every = np.array([(u, v) for u in range(30) for v in range(30)])
    config = PairingConfig(negatives=8, hard=0.5)
    examples = draw_examples(ValidationFold(X, Y, same(10)), every, config, np.random.default_rng(0))
    left, right = examples.left.argmax(axis=1), examples.right.argmax(axis=1)
    false = examples.matched == 0
    assert false.sum() == 80
    assert (left[false] != right[false]).all()
    assert ((left[false] < 10) | (right[false] < 10)).all()
    assert (left[~false] == right[~false]).all()


def test_hard_false_pairs_come_from_the_candidates() -> None:
    X, Y = np.eye(40, dtype=np.float32), np.eye(40, dtype=np.float32)
    near = np.array([(u, u + 1) for u in range(30)])
    config = PairingConfig(negatives=4, hard=1.0)
    examples = draw_examples(ValidationFold(X, Y, same(10)), near, config, np.random.default_rng(0))
    pairs = set(zip(examples.left.argmax(axis=1).tolist(), examples.right.argmax(axis=1).tolist(), strict=True))
    # Account 0 is the left one of a candidate, 1..9 are in two: once as a left, once as a right account.
    assert {(u, u + 1) for u in range(9)} <= pairs


def test_the_papers_form_learns_from_few_anchors() -> None:
    """Its weights start as a distance; from random ones it tells 0.7 of unseen pairs apart here."""
    X, Y = twins(400, 16)
    network = train(X, Y, same(150), resolve("paper").pairing, 0)
    unseen = np.arange(150, 400)
    true, false = np.column_stack([unseen, unseen]), np.column_stack([unseen, np.roll(unseen, 1)])
    right = [(network.log_odds(X, Y, pairs) > 0) == matched for pairs, matched in ((true, True), (false, False))]
    assert np.mean(right) > 0.85


def test_the_likeliest_pairs_are_those_of_all_log_odds() -> None:
    X, Y = (side[:40] for side in twins())
    alignment = VectorAlignment(X, Y)
    ring = Network.from_edges([(i, (i + 1) % 40) for i in range(40)], 40)
    problem, k = Problem(ring, ring, same(10)), 3
    network = train(alignment.left, alignment.right, same(40), resolve("paper").pairing, 0)
    free = np.arange(10, 40)
    every = np.stack(np.meshgrid(free, free, indexing="ij"), axis=-1).reshape(-1, 2)
    score = network.log_odds(alignment.left, alignment.right, every).reshape(30, 30)
    best = {(u, v) for u, row in zip(free, score, strict=True) for v in free[np.argsort(-row)[:k]]}
    best |= {(u, v) for v, row in zip(free, score.T, strict=True) for u in free[np.argsort(-row)[:k]]}
    found = likeliest_pairs(problem, alignment, network, k)
    assert found is not None
    assert set(map(tuple, found.tolist())) == best
    assert likeliest_pairs(problem, alignment, replace(network, form="interaction"), k) is None
