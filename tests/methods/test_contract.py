"""What every method promises, on small pairs whose truth is known: its scores, its alignment and its record."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import communities, relabel
from scipy.sparse import csr_array

from kedge import synthetic
from kedge.config import Config
from kedge.context import missing_libraries
from kedge.errors import KedgeError
from kedge.evaluation import metrics as evaluate
from kedge.methods import METHODS, Method
from kedge.store.formats import ALIGNMENT
from kedge.types import Alignment, IntArray, Network, Problem, Side

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
CHANCE = 10 / N
SIDES: tuple[Side, Side] = ("left", "right")


def _needs(method: Method) -> Any:
    """Not run where the libraries of the method are not installed."""
    return pytest.mark.skipif(bool(method.extra and missing_libraries(method.extra)), reason=f"no {method.extra}")


every_method = pytest.mark.parametrize("name", [pytest.param(m.name, marks=_needs(m)) for m in METHODS.values()])
every_record = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@cache
def planted() -> tuple[Problem, IntArray]:
    """Two sub-networks of one, nine tenths of their edges in common; 40 % of the anchors are known."""
    pair = synthetic.subnetworks(communities(N, 6, 0.4, 0.02, 1), 0.9, 0.95, 1)
    train, test = synthetic.split(pair.anchors, 0.4, 1)
    return Problem(pair.left, pair.right, train), test


@cache
def aligned(name: str) -> Alignment:
    return METHODS[name].align(planted()[0], CONFIG)


def all_pairs() -> IntArray:
    problem, _ = planted()
    return np.argwhere(np.ones((problem.left.n, problem.right.n)))


def dense(alignment: Alignment) -> np.ndarray:
    """The score of every pair."""
    problem, _ = planted()
    return alignment.score(all_pairs()).reshape(problem.left.n, problem.right.n)


def hits10(alignment: Alignment, test: IntArray) -> Any:
    return evaluate.ranking(alignment, test)["hits10"]


# What a method finds.


@every_method
def test_the_same_seed_gives_the_same_scores(name: str) -> None:
    problem, test = planted()
    again = METHODS[name].align(problem, CONFIG)
    np.testing.assert_array_equal(again.score(test), aligned(name).score(test))


@every_method
def test_far_above_chance(name: str) -> None:
    assert hits10(aligned(name), planted()[1]) > FACTOR * CHANCE


@every_method
def test_numbers_of_accounts_carry_no_meaning(name: str) -> None:
    problem, test = planted()
    rng = np.random.default_rng(3)
    orders = [rng.permutation(network.n) for network in (problem.left, problem.right)]
    places = [np.argsort(order) for order in orders]

    def moved(pairs: IntArray) -> IntArray:
        return np.column_stack([places[side][pairs[:, side]] for side in (0, 1)])

    left, right = (relabel(n, order) for n, order in zip((problem.left, problem.right), orders, strict=True))
    other = METHODS[name].align(Problem(left, right, moved(problem.anchors)), CONFIG)
    if name in NOT_RANDOM:
        np.testing.assert_allclose(other.score(moved(test)), aligned(name).score(test), rtol=2e-3, atol=1e-6)
    else:
        assert abs(hits10(other, moved(test)) - hits10(aligned(name), test)) < 0.2


@every_method
def test_nothing_is_found_where_there_is_nothing_to_find(name: str) -> None:
    """Unrelated networks whose true partners have equal numbers: only a leak, by pairs or by numbers, could hit."""
    rng = np.random.default_rng(4)
    left, right = (relabel(communities(N, 6, 0.4, 0.02, seed), rng.permutation(N)) for seed in (5, 6))
    truth = np.column_stack([np.arange(N)] * 2)[np.random.default_rng(0).permutation(N)]
    found = METHODS[name].align(Problem(left, right, truth[: N // 4]), CONFIG)
    # Four standard deviations above chance, for 90 pairs.
    assert hits10(found, truth[N // 4 :]) < CHANCE + 0.12


# Its alignment: every member of the protocol, on every pair.


@every_method
@pytest.mark.parametrize("side", SIDES)
def test_the_top_is_a_sort_of_the_scores(name: str, side: Side) -> None:
    alignment = aligned(name)
    scores = dense(alignment) if side == "left" else dense(alignment).T
    best, values = alignment.top(np.arange(len(scores)), 7, side)
    expected = -np.sort(-scores, axis=1)[:, :7]
    known = best >= 0
    np.testing.assert_array_equal(known, np.isfinite(expected), "only pairs with a score are listed")
    np.testing.assert_allclose(values[known], expected[known], rtol=1e-5, atol=1e-6)
    rows = np.nonzero(known)[0]
    np.testing.assert_allclose(scores[rows, best[known]], values[known], rtol=1e-5, atol=1e-6)
    assert np.isneginf(values[~known]).all()


@every_method
@pytest.mark.parametrize("side", SIDES)
def test_ranks_count_the_scores_above_and_the_ties(name: str, side: Side) -> None:
    alignment, (_, test) = aligned(name), planted()
    above, equal = alignment.count_above(test, side)
    scores = dense(alignment) if side == "left" else dense(alignment).T
    accounts, partners = test[:, SIDES.index(side)], test[:, 1 - SIDES.index(side)]
    own = scores[accounts, partners][:, None]
    # Cosines of one pair may differ in their last digit: those of a block are another product.
    slack = 1e-6 * np.maximum(np.abs(np.where(np.isfinite(own), own, 0)), 1)
    assert ((scores[accounts] > own + slack).sum(axis=1) <= above).all()
    assert (above + equal <= (scores[accounts] >= own - slack).sum(axis=1) - 1).all()


@every_method
def test_strengths_are_finite_where_there_are_scores(name: str) -> None:
    """And are another order than that of the scores only where the alignment states it."""
    problem, _ = planted()
    alignment, pairs = aligned(name), all_pairs()
    free = ~(np.isin(pairs[:, 0], problem.anchors[:, 0]) | np.isin(pairs[:, 1], problem.anchors[:, 1]))
    score, strength = alignment.score(pairs[free]), alignment.strength(pairs[free])
    assert not np.isnan(score).any()
    assert not np.isnan(strength).any()
    assert (np.isfinite(score) <= np.isfinite(strength)).all()
    if not alignment.reorders and alignment.cosine(pairs) is None:
        np.testing.assert_array_equal(score, strength)


@every_method
def test_log_odds_and_cosines_are_numbers_for_any_pair(name: str) -> None:
    alignment, pairs = aligned(name), all_pairs()
    assert alignment.log_odds(pairs).shape == (len(pairs),)
    assert np.isfinite(alignment.log_odds(pairs)).all()
    cosine = alignment.cosine(pairs)
    if cosine is not None:
        assert cosine.shape == (len(pairs),)
        assert np.abs(cosine).max() <= 1 + 1e-5


@every_method
def test_without_some_accounts_they_have_no_candidates_and_others_keep_theirs(name: str) -> None:
    problem, _ = planted()
    left, right = problem.anchors[:3, 0], np.setdiff1d(np.arange(problem.right.n), problem.anchors[:, 1])[:5]
    alignment, pairs = aligned(name), all_pairs()
    fewer = alignment.without(left, right)
    gone = np.isin(pairs[:, 0], left) | np.isin(pairs[:, 1], right)
    np.testing.assert_allclose(fewer.score(pairs[~gone]), alignment.score(pairs[~gone]), atol=1e-6)
    np.testing.assert_allclose(fewer.strength(pairs[~gone]), alignment.strength(pairs[~gone]), atol=1e-6)
    assert (fewer.score(pairs[gone]) <= 0).all(), "no score, or the cosine of a vector of zeros"
    assert fewer.reorders == alignment.reorders
    cosine = fewer.cosine(pairs[gone])
    assert cosine is None or not cosine.any()


@every_method
def test_an_alignment_comes_back_from_its_file(name: str, tmp_path: Path) -> None:
    alignment, pairs = aligned(name), all_pairs()
    with (tmp_path / "scores.npz").open("wb") as file:
        ALIGNMENT.dump(alignment, file)
    back: Alignment = ALIGNMENT.load(tmp_path / "scores.npz")
    assert back.reorders == alignment.reorders
    assert back.arrays().keys() == alignment.arrays().keys()
    for member in ("score", "strength", "log_odds", "cosine"):
        written, read = (getattr(one, member)(pairs) for one in (alignment, back))
        assert (read is None) == (written is None)
        if written is not None:
            np.testing.assert_allclose(read, written, rtol=1e-4, atol=1e-4)  # unit vectors are scaled again


# Poor problems.


def small(anchors: list[tuple[int, int]], right_edges: bool = True) -> Problem:
    """Twelve accounts with two isolated ones on each side."""
    edges = [(i, (i + k) % 10) for i in range(10) for k in (1, 2)]
    left = Network.from_edges(edges, 12)
    right = Network.from_edges(edges if right_edges else [], 12)
    return Problem(left, right, anchors)


@pytest.mark.filterwarnings("ignore::kedge.hypergraph.DegenerateHypergraphWarning")
@every_method
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
def test_a_poor_problem_has_a_finite_answer_or_one_line(
    name: str, anchors: list[tuple[int, int]], right_edges: bool
) -> None:
    few = {
        "mgcn": CONFIG.mgcn.model_copy(update={"steps": 5}),
        "baselines": CONFIG.baselines.model_copy(update={"steps": 3, "passes": 2, "walks": 1}),
    }
    try:
        found = METHODS[name].align(small(anchors, right_edges), CONFIG.model_copy(update=few))
    except KedgeError as error:
        found, refusal = None, str(error)
    if found is None:
        assert "\n" not in refusal
        assert ";" in refusal, "no remedy"
        return
    for side in SIDES:
        best, scores = found.top(np.arange(12), 12, side)
        assert np.isfinite(scores[best >= 0]).all()
        assert not np.isnan(scores).any()


# Its record.


@every_record
def test_every_record_states_what_the_method_is(method: Method) -> None:
    assert 10 < len(method.about) < 100
    assert method.paper or method.explains, "only kedge's own methods have no paper"
    assert METHODS[method.name] is method


@every_record
def test_every_module_has_what_its_record_claims_and_no_more(method: Method) -> None:
    module = import_module(f"kedge.methods.{method.name.replace('-', '_')}")
    claims = {
        "choose_settings": method.chooses_settings,
        "trains": method.trains,
        "prepare": method.trains,
        "recall_vectors": method.recalls_vectors,
        "realign": method.realigns,
        "refinements": method.refines,
    }
    assert {name: hasattr(module, name) for name in claims} == claims
    assert callable(module.align)


@every_method
def test_what_explains_pairs_is_there_exactly_where_it_is_claimed(name: str) -> None:
    assert (aligned(name).support is not None) == METHODS[name].explains


GROUPS = ("engine", "evidence", "hypergraph", "mgcn", "pairing", "partition", "shared")


class Recording(Config):
    """A configuration that records which groups of settings are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in GROUPS:
            RECORDED.add(name)
        return super().__getattribute__(name)


RECORDED: set[str] = set()


def weighed(network: Network, seed: int) -> Network:
    """The same edges with weights between 0.2 and 5."""
    entries = network.adjacency.tocoo()
    drawn = np.random.default_rng(seed).uniform(0.2, 5, network.adjacency.shape).astype(np.float32)
    low, high = np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col)
    return Network(csr_array((drawn[low, high], (entries.row, entries.col)), shape=entries.shape), network.ids)


@every_method
def test_weights_and_settings_count_exactly_where_it_is_claimed(name: str) -> None:
    problem, _ = planted()
    config = Recording.model_construct(**{field: getattr(CONFIG, field) for field in Config.model_fields})
    RECORDED.clear()
    method = METHODS[name]
    chosen = method.choose_settings(problem, config)
    weights = Problem(weighed(problem.left, 1), weighed(problem.right, 2), problem.anchors)
    found = method.align(weights, chosen)
    if method.refines:  # its prior is made of other vectors where these are asked for
        pairing = chosen.pairing.model_copy(update={"vectors": "shared"})
        method.align(weights, chosen.model_copy(update={"pairing": pairing}))
    # Rounds of small networks are never divided, so the engine is read there and has no effect.
    idle = {"engine"} if method.divides and not method.uses_engine(problem, CONFIG) else set()
    assert set(method.groups(problem, CONFIG)) == RECORDED - idle
    plain = method.align(problem, chosen) if method.chooses_settings else aligned(name)
    pairs = all_pairs()
    differ = not np.allclose(plain.score(pairs), found.score(pairs), atol=1e-6, equal_nan=True)
    assert differ == method.reads_weights


@every_record
def test_a_problem_without_anchors_is_refused_where_the_record_claims_to_need_them(method: Method) -> None:
    if method.needs_anchors:
        with pytest.raises(KedgeError, match=f"^{method.name} needs anchors and there are none; give at least one"):
            method.align(small([]), CONFIG)


@every_record
def test_too_many_cells_are_refused_where_the_record_claims_to_score_every_pair(method: Method) -> None:
    config = CONFIG.model_copy(update={"baselines": CONFIG.baselines.model_copy(update={"dense_cells": 143})})
    if method.scores_every_pair:
        with pytest.raises(KedgeError, match=r"12 x 12 accounts are 144 cells, above 143; use .* or raise baselines"):
            method.align(small([(0, 0)]), config)


def test_every_claim_of_a_record_is_made_by_some_method_and_not_by_all() -> None:
    claims = [field.name for field in fields(Method) if field.type == "bool"]
    assert len(claims) >= 8
    for claim in claims:
        assert {getattr(method, claim) for method in METHODS.values()} == {True, False}, claim


def test_every_module_is_a_method_and_every_method_a_module() -> None:
    folder = Path(import_module("kedge.methods").__file__ or "").parent
    modules = {path.stem.replace("_", "-") for path in folder.glob("*.py") if path.stem != "__init__"}
    assert modules == set(METHODS)
