"""What all methods with vectors share: candidates, the pair network, and the order of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kedge.config import PairingConfig, resolve
from kedge.evaluation import metrics as evaluate
from kedge.linalg import VectorAlignment
from kedge.probability.pair_rule import fit_pair_rule
from kedge.similarity.align import align_mapped, align_shared, align_vectors
from kedge.types import Network, Problem

N = 300


def problem_of(anchors: np.ndarray) -> Problem:
    """Two rings: vectors are given here, and networks only fix the number of accounts."""
    ring = Network.from_edges([(i, (i + 1) % N) for i in range(N)], N)
    return Problem(ring, ring, anchors)


def twins(nuisance: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Row i is the same person on both sides; the last two coordinates are large on each side and mean nothing."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(N, 8))
    sides = [people + 0.3 * rng.normal(size=(N, 8)) for _ in range(2)]
    left, right = (np.hstack([side, nuisance * rng.normal(size=(N, 2))]).astype(np.float32) for side in sides)
    return left, right


def same(start: int, stop: int) -> np.ndarray:
    return np.column_stack([np.arange(start, stop)] * 2)


KNOWN, TEST = same(0, 150), same(150, N)


def mrr(alignment: Any) -> Any:
    return evaluate.ranking(alignment, TEST)["mrr"]


def mapped(nuisance: float, score: str = "auto", validation: np.ndarray = KNOWN, **more: object) -> VectorAlignment:
    config = PairingConfig(score=score, **more)
    return align_mapped(problem_of(KNOWN), VectorAlignment(*twins(nuisance)), validation, config, seed=1)


def test_the_network_ranks_where_a_coordinate_misleads_the_cosine() -> None:
    cosine, network, chosen = (mapped(4.0, score) for score in ("cosine", "network", "auto"))
    assert mrr(network) > mrr(cosine) + 0.15
    assert mrr(chosen) == mrr(network)


def test_the_cosine_stays_where_the_network_has_nothing_to_add() -> None:
    """The network is trained nevertheless: yes or no for single pairs needs it."""
    cosine, chosen = mapped(0.0, "cosine"), mapped(0.0)
    assert mrr(chosen) >= mrr(cosine) - 0.02
    assert chosen.network is not None
    assert cosine.network is None


def crowded(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Most people stand far apart, some in a crowd whose members are nearer to everybody than others to themselves."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(N, 12))
    people[::3] = people[:1] + 0.15 * people[::3]
    noise = np.where(np.arange(N)[:, None] % 3 == 0, 0.05, 0.8)
    left, right = (people + noise * rng.normal(size=people.shape) for _ in range(2))
    return left.astype(np.float32), right.astype(np.float32)


def test_similarity_ranks_where_crowds_mislead_the_cosine() -> None:
    cosine, similarity = (
        align_vectors(problem_of(KNOWN), *crowded(), PairingConfig(score=s), 0) for s in ("cosine", "similarity")
    )
    assert mrr(similarity) > mrr(cosine) + 0.02
    chosen = align_vectors(problem_of(KNOWN), *crowded(), PairingConfig(), 0)
    assert mrr(chosen) == mrr(similarity), "validation anchors choose it"
    assert similarity.network is not None, "yes or no for single pairs still needs the network"


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_few_anchors_leave_the_cosine(count: int) -> None:
    few = problem_of(same(0, count))
    left, right = twins(1.0)
    auto, cosine = (align_vectors(few, left, right, PairingConfig(score=s), 0) for s in ("auto", "cosine"))
    assert (auto.head != cosine.head).nnz == 0
    assert auto.network is None


def test_an_anchored_account_is_no_other_accounts_candidate() -> None:
    found = align_shared(problem_of(KNOWN), *twins(1.0), PairingConfig(nearest=10))
    for side in ("left", "right"):
        best, _ = found.top(np.arange(N), 10, side)
        assert (best[:150, 0] == np.arange(150)).all(), "a known partner comes first"
        assert (best[150:] >= 150).all()


def test_candidates_rank_above_all_others_which_keep_their_cosine() -> None:
    found = mapped(4.0, "network", nearest=5)
    best, scores = found.top(TEST[:, 0], N)
    stored = np.diff(found.head[150:].indptr)
    for row, candidates in enumerate(stored):
        assert set(best[row, :candidates]) == set(found.head[[150 + row]].indices)
        rest = np.column_stack([np.full(N - candidates, 150 + row), best[row, candidates:]])
        assert (np.diff(scores[row]) <= 0).all()
        assert scores[row, candidates:] == pytest.approx(found.cosine(rest), abs=1e-6)


@pytest.mark.parametrize("form", ["interaction", "concat"])
def test_the_same_seed_gives_the_same_order(form: str) -> None:
    pairs = np.random.default_rng(0).integers(N, size=(50, 2))
    first, again = (mapped(2.0, "network", form=form) for _ in range(2))
    np.testing.assert_array_equal(first.score(pairs), again.score(pairs))
    np.testing.assert_array_equal(first.log_odds(pairs), again.log_odds(pairs))


@pytest.mark.parametrize(("score", "far"), [("cosine", 0.0), ("similarity", 0.02), ("network", 0.1)])
def test_numbers_of_accounts_carry_no_meaning(score: str, far: float) -> None:
    """Exactly for the cosine; the false pairs of the others are drawn anew, so nearly for them."""
    left, right = twins(2.0)
    rng = np.random.default_rng(5)
    place = [rng.permutation(N) for _ in range(2)]
    moved = [vectors[np.argsort(where)] for vectors, where in zip((left, right), place, strict=True)]
    pairs = [np.column_stack([place[side][part[:, side]] for side in (0, 1)]) for part in (KNOWN, TEST)]
    config = PairingConfig(score=score)
    here = align_vectors(problem_of(KNOWN), left, right, config, 0)
    there = align_vectors(problem_of(pairs[0]), *moved, config, 0)
    assert abs(evaluate.ranking(there, pairs[1])["mrr"] - mrr(here)) <= far + 1e-9


def test_the_rule_for_single_pairs_uses_the_network() -> None:
    """Yes or no at 1:1, on pairs that are hardly ever candidates: the paper's own classifier."""
    validation, fewer = same(100, 150), problem_of(same(0, 100))
    share = {}
    for score in ("cosine", "network"):
        found = align_mapped(
            fewer, VectorAlignment(*twins(4.0)), same(0, 100), PairingConfig(score=score, nearest=1), 1
        )
        rule = fit_pair_rule([(fewer, found, validation)], np.random.default_rng(0))
        true, false = evaluate.balanced_pairs(TEST, N, KNOWN, np.random.default_rng(1))
        predicted = [rule.predicts_link(fewer, found, pairs) for pairs in (true, false)]
        share[score] = evaluate.macro(*predicted)["macro_f1"]
    assert share["network"] > share["cosine"] + 0.03


def test_the_papers_preset_takes_the_papers_network() -> None:
    pairing = resolve("paper").pairing
    found = align_mapped(problem_of(KNOWN), VectorAlignment(*twins(0.0)), KNOWN, pairing, 0)
    left, right = twins(0.0)
    assert found.network.form == "concat"
    assert found.ordered_by == "network"
    assert found.network.W_1.shape[0] == left.shape[1] + right.shape[1]
    best, scores = found.top(TEST[:, 0], 1)
    log_odds = found.log_odds(np.column_stack([TEST[:, 0], best[:, 0]]))
    assert np.corrcoef(log_odds, scores[:, 0])[0, 1] == pytest.approx(1.0, abs=1e-4)
