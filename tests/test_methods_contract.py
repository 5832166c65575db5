"""What every method promises, on small pairs whose truth is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from graphs import communities, relabel

from kedge import evaluate, synth
from kedge.config import Config
from kedge.errors import KedgeError
from kedge.methods import ABOUT, METHODS
from kedge.types import Network, Problem

N = 120
CONFIG = Config.model_validate(
    {
        "candidates": N,  # so that no border of a shortlist falls between equals
        "mgcn": {"dimensions": 24, "steps": 40, "pool": 64},
        "baselines": {
            "keep": N,
            "dimensions": 24,
            "walks": 8,
            "walk_length": 20,
            "passes": 120,
            "steps": 40,
            "negatives": 3,
        },
    }
)
FACTOR = 4  # Hits@10 must be so many times what guessing reaches
NOT_RANDOM = {"common-neighbours", "isorank", "final", "parrot", "user-matching"}
SCORES_EVERY_PAIR = {"isorank", "final", "parrot", "faq"}
CHANCE = 10 / N


@cache
def planted() -> tuple[Problem, np.ndarray]:
    """Two sub-networks of one, nine tenths of their edges in common; 40 % of the anchors are known."""
    pair = synth.subnetworks(communities(N, 6, 0.4, 0.02, 1), 0.9, 0.95, 1)
    train, test = synth.split(pair.anchors, 0.4, 1)
    return Problem(pair.left, pair.right, train), test


@cache
def aligned(name: str):
    return METHODS[name](planted()[0], CONFIG, 0)


def hits10(alignment, test) -> float:
    return evaluate.ranking(alignment, test)["hits10"]


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_scores(name):
    problem, test = planted()
    again = METHODS[name](problem, CONFIG, 0)
    np.testing.assert_array_equal(again.score(test), aligned(name).score(test))


@pytest.mark.parametrize("name", METHODS)
def test_far_above_chance(name):
    assert hits10(aligned(name), planted()[1]) > FACTOR * CHANCE


@pytest.mark.parametrize("name", METHODS)
def test_numbers_of_accounts_carry_no_meaning(name):
    problem, test = planted()
    rng = np.random.default_rng(3)
    orders = [rng.permutation(network.n) for network in (problem.left, problem.right)]
    places = [np.argsort(order) for order in orders]

    def moved(pairs):
        return np.column_stack([places[side][pairs[:, side]] for side in (0, 1)])

    networks = [relabel(n, order) for n, order in zip((problem.left, problem.right), orders, strict=True)]
    other = METHODS[name](Problem(*networks, moved(problem.anchors)), CONFIG, 0)
    if name in NOT_RANDOM:
        np.testing.assert_allclose(other.score(moved(test)), aligned(name).score(test), rtol=2e-3, atol=1e-6)
    else:
        assert abs(hits10(other, moved(test)) - hits10(aligned(name), test)) < 0.2


@pytest.mark.parametrize("name", METHODS)
def test_nothing_is_found_where_there_is_nothing_to_find(name):
    """Unrelated networks whose true partners have equal numbers: only a leak, by pairs or by numbers, could hit."""
    rng = np.random.default_rng(4)
    left, right = (relabel(communities(N, 6, 0.4, 0.02, seed), rng.permutation(N)) for seed in (5, 6))
    truth = np.column_stack([np.arange(N)] * 2)[np.random.default_rng(0).permutation(N)]
    found = METHODS[name](Problem(left, right, truth[: N // 4]), CONFIG, 0)
    # Four standard deviations above chance, for 90 pairs.
    assert hits10(found, truth[N // 4 :]) < CHANCE + 0.12


def _few_steps():
    return CONFIG.baselines.model_copy(update={"steps": 3, "passes": 2, "walks": 1})


def small(anchors, right_edges=True) -> Problem:
    """Twelve accounts with two isolated ones on each side."""
    edges = [(i, (i + k) % 10) for i in range(10) for k in (1, 2)]
    left = Network.from_edges(edges, 12)
    right = Network.from_edges(edges if right_edges else [], 12)
    return Problem(left, right, anchors)


@pytest.mark.filterwarnings("ignore::kedge.hypergraph.DegenerateHypergraphWarning")
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("anchors", "right_edges"),
    [
        ([(i, i) for i in range(5)], True),
        ([(0, 0), (10, 10), (11, 3)], True),
        ([(0, 0)], True),
        ([], True),
        ([(i, i) for i in range(4)], False),
    ],
    ids=["ring", "isolated anchors", "one anchor", "no anchors", "right without edges"],
)
def test_a_poor_problem_has_a_finite_answer_or_one_line(name, anchors, right_edges):
    few = {"mgcn": CONFIG.mgcn.model_copy(update={"steps": 5}), "baselines": _few_steps()}
    try:
        found = METHODS[name](small(anchors, right_edges), CONFIG.model_copy(update=few), 0)
    except KedgeError as error:
        found, said = None, str(error)
    if found is None:
        assert "\n" not in said
        assert ";" in said, "no remedy"
        return
    for side in ("left", "right"):
        best, scores = found.top(np.arange(12), 12, side)
        assert np.isfinite(scores[best >= 0]).all()
        assert not np.isnan(scores).any()


@pytest.mark.parametrize("name", sorted(SCORES_EVERY_PAIR))
def test_refuses_what_it_cannot_hold(name):
    config = CONFIG.model_copy(update={"baselines": CONFIG.baselines.model_copy(update={"dense_cells": 143})})
    with pytest.raises(KedgeError, match=r"12 x 12 accounts are 144 cells, above 143; use .* or raise baselines"):
        METHODS[name](small([(0, 0)]), config, 0)


def test_every_method_says_what_it_is():
    assert set(ABOUT) == set(METHODS)
    assert all(20 < len(text) < 100 for text in ABOUT.values())
