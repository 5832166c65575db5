"""The mixture that orders candidates: its columns and its likelihood against loops, and what it learns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from graphs import communities, relabel
from scipy.sparse import csr_array

from kedge.config import resolve
from kedge.errors import KedgeError
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import COLUMNS, Choices, fit_mixture, known_of, mix, weighed_scores
from kedge.types import Problem

SIX = len(COLUMNS)


def choices(seed: int, weights: np.ndarray, people: int = 60, each: int = 12) -> Choices:
    """People of two networks who choose among random candidates as the weights say."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(
        np.concatenate(
            [
                np.column_stack([np.repeat(np.arange(people), each), rng.integers(people, size=people * each)]),
                np.column_stack([np.arange(people)] * 2),
            ]
        ),
        axis=0,
    )
    known = rng.normal(size=(len(pairs), SIX))
    known[pairs[:, 0] == pairs[:, 1]] += weights
    return Choices(pairs, known, np.column_stack([np.arange(people)] * 2))


def lost(weights: np.ndarray, asked: list[Choices], strength: float = 0.1) -> float:
    """The negative log-likelihood, account by account and candidate by candidate, with columns of spread 1."""
    rows = []
    for one in asked:
        for side in (0, 1):
            for mine, partner in zip(one.held[:, side], one.held[:, 1 - side], strict=True):
                offered = [i for i, pair in enumerate(one.pairs) if pair[side] == mine]
                right = [i for i in offered if one.pairs[i][1 - side] == partner]
                if right:
                    rows.append((one, offered, right[0]))
    seen = np.concatenate([one.known[offered] for one, offered, _ in rows])
    spread = seen.std(axis=0)
    total = strength * float(((weights * spread) ** 2).sum()) / 2
    for one, offered, partner in rows:
        said = [float(one.known[i] @ weights) for i in offered]
        total += math.log(sum(math.exp(z) for z in said)) - float(one.known[partner] @ weights)
    return total


def test_the_weights_are_the_likeliest() -> None:
    asked = [choices(seed, np.array([1.0, 0.5, 0.0, -0.5, 0.0, 0.2])) for seed in (0, 1)]
    found = np.array(fit_mixture(asked))
    least = lost(found, asked)
    for column in range(SIX):
        for step in (-0.05, 0.05):
            moved = found.copy()
            moved[column] += step
            assert lost(moved, asked) > least


def test_signals_that_separate_partners_get_weight_and_others_do_not() -> None:
    found = np.array(fit_mixture([choices(3, np.array([2.0, 0.0, 0.0, -1.0, 0.0, 0.0]), people=300)]))
    assert found[0] > 1.0
    assert found[3] < -0.5
    assert np.abs(found[[1, 2, 4, 5]]).max() < 0.3


def test_candidates_stand_in_the_order_of_the_weighed_sum() -> None:
    one = choices(0, np.zeros(SIX))
    weights = (1.0, 0.0, 0.0, 2.0, 0.0, -1.0)
    order = mix(one.pairs, one.known, weights, (60, 60))
    assert order.nnz == len(one.pairs)
    u, v = one.pairs.T
    np.testing.assert_allclose(order.toarray()[u, v], one.known @ np.array(weights) + 100)


def test_the_assignment_raises_the_pairs_it_takes_and_no_others() -> None:
    weighed = csr_array(np.array([[9.0, 8.0, 1.0], [8.5, 2.0, 1.0], [1.0, 1.5, 3.0]]))
    without, raised = weighed_scores(weighed, assigned=False).toarray(), weighed_scores(weighed).toarray()
    assert np.allclose(raised - without, 0.3 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]]))


def test_the_assignment_decides_ties_and_overrules_no_much_likelier_pair() -> None:
    equals = weighed_scores(csr_array(np.array([[9.0, 9.0], [9.0, 1.0]]))).toarray()
    assert equals[0, 1] > equals[0, 0], "the other account has but one likely partner"
    clear = csr_array(np.array([[12.0, 10.0, 9.9], [11.5, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    assert (
        weighed_scores(clear).toarray()[0].argmax() == weighed_scores(clear, assigned=False).toarray()[0].argmax() == 0
    )


@pytest.mark.parametrize("held", [np.empty((0, 2), np.int64), np.array([[0, 59], [59, 0]])])
def test_nothing_to_choose_from_teaches_nothing(held: Any) -> None:
    pairs = np.array([[0, 1], [1, 0], [2, 2]])
    assert fit_mixture([Choices(pairs, np.ones((3, SIX)), held)]) == (0.0,) * SIX
    assert fit_mixture([Choices(np.empty((0, 2), np.int64), np.empty((0, SIX)), held)]) == (0.0,) * SIX
    assert mix(pairs[:0], np.empty((0, SIX)), (1.0,) * SIX, (60, 60)).nnz == 0


def test_what_is_known_of_each_pair() -> None:
    made = communities(80, 4, 0.4, 0.02, 0)
    order = np.random.default_rng(0).permutation(80)
    problem = Problem(made, relabel(made, order), np.column_stack([order, np.arange(80)])[:15])
    heard = propagate(problem, resolve().evidence)
    once = propagate(problem, resolve(assignments=["evidence.rounds=1", "evidence.least_rounds=1"]).evidence)
    rng = np.random.default_rng(1)
    reached = np.column_stack(heard.log_odds.nonzero())
    pairs = np.concatenate([reached[::7], rng.integers(80, size=(40, 2))])
    near = rng.normal(size=len(pairs))
    known = known_of(pairs, near, heard, once)
    dense = {name: getattr(heard, name).toarray() for name in ("log_odds", "beliefs")}
    there = np.zeros((80, 80), bool)
    there[heard.log_odds.nonzero()] = True
    chosen = np.zeros((80, 80), bool)
    rows = np.repeat(np.arange(80), np.diff(heard.beliefs.indptr))
    chosen[rows[heard.assigned], heard.beliefs.indices[heard.assigned]] = True
    for (u, v), distance, row in zip(pairs, near, known, strict=True):
        belief = max(math.log(max(dense["beliefs"][u, v], 1e-300)), -30.0) if there[u, v] else -30.0
        first = once.log_odds[[u]].toarray()[0, v] if v in once.log_odds[[u]].indices else -10.0
        expected = [
            belief,
            min(max(dense["log_odds"][u, v], -30.0), 30.0) if there[u, v] else -10.0,
            float(chosen[u, v]),
            distance,
            heard.degree_prior.ratio(u, v),
            min(max(first, -30.0), 30.0),
        ]
        np.testing.assert_allclose(row, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["pairing.use=yes", "pairing.mixture=[1, 2]"], "six, or none"),
        (["pairing.mixture=[1, 2, 3, 4, 5, 6]"], "needs pairing.use = yes"),
        (["pairing.use=no", "pairing.mixture=[1, 2, 3, 4, 5, 6]"], "needs pairing.use = yes"),
        (["pairing.use=yes", "pairing.mixture=[1, 2, 3, 4, 5, inf]"], "--set pairing.mixture"),
    ],
)
def test_a_mixture_that_cannot_be_used_is_refused_in_one_line(settings: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words) as error:
        resolve(assignments=settings)
    assert "\n" not in str(error.value)


def test_a_mixture_of_six_weights_is_kept() -> None:
    config = resolve(assignments=["pairing.use=yes", "pairing.mixture=[1, 2, 3, 4, 5, 6]"])
    assert config.pairing.mixture == (1, 2, 3, 4, 5, 6)
    assert type(config).model_validate(config.model_dump(mode="json")) == config
