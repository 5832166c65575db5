"""Evidence propagation against its oracle, its symmetries, and inputs that have nothing to say."""

from __future__ import annotations

from dataclasses import replace

import data
import evidence_oracle as oracle
import numba
import numpy as np
import pyarrow as pa
import pytest
from evidence_problems import SMALL, dense, planted
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.config import Config, EvidenceConfig
from kedge.context import RunContext
from kedge.evaluation import metrics as evaluate
from kedge.evidence import propagate as module
from kedge.evidence.forms import FORMS
from kedge.evidence.propagate import anchored_neighbours, propagate, schedule
from kedge.evidence.ranking import ranking_scores
from kedge.evidence.terms import terms
from kedge.methods.evidence import align
from kedge.types import Network, Problem


def path(n: int) -> Network:
    return Network.from_edges([(i, i + 1) for i in range(n - 1)], n)


@pytest.mark.parametrize("seed", [0, 1])
def test_sparse_equals_the_oracle(seed: int) -> None:
    problem, _ = planted(seed=seed)
    got = propagate(problem, SMALL)
    want = oracle.propagate(problem, SMALL.rounds, SMALL.first_temperature, SMALL.temperature, SMALL.least_belief)
    assert (got.s, got.t) == oracle.rates(problem)
    np.testing.assert_array_equal(np.isfinite(dense(got)), np.isfinite(want))
    np.testing.assert_allclose(dense(got), want, rtol=1e-5, atol=1e-4)


def test_bands_change_memory_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = planted(n=80, seed=4)
    whole = propagate(problem, SMALL)
    monkeypatch.setattr("kedge.evidence.round.MOST_MESSAGES", 50)
    monkeypatch.setattr("kedge.evidence.round._ALONE", 0)
    banded = propagate(problem, SMALL)
    for one, other in ((whole.log_odds, banded.log_odds), (whole.beliefs, banded.beliefs)):
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_array_equal(one.data, other.data)


def test_a_prior_proposes_no_anchored_account() -> None:
    problem, _ = planted(n=40, seed=2)
    a, b = problem.anchors[0]
    free = next(u for u in range(problem.left.n) if u not in problem.anchors[:, 0])
    prior = csr_array(
        ([5.0, 5.0], ([free, a], [b, (b + 1) % problem.right.n])), shape=(problem.left.n, problem.right.n)
    )
    log_odds = propagate(problem, SMALL, prior).log_odds.tocoo()
    assert b not in log_odds.col
    assert a not in log_odds.row


@pytest.mark.parametrize("form", FORMS)
def test_terms_add_up_to_the_log_odds(form: str) -> None:
    problem, _ = planted(seed=2)
    evidence = FORMS[form](problem, SMALL)
    L = evidence.log_odds.tocoo()
    for u, v, value in list(zip(*L.coords, L.data, strict=True))[::7]:
        found = terms(problem, evidence, int(u), int(v))
        assert sum(term.weight for term in found) == pytest.approx(value, abs=2e-3)
        assert found == sorted(found, key=lambda term: -term.weight)


def test_terms_also_explain_a_pair_that_is_no_candidate() -> None:
    problem = Problem(path(4), path(4), [(0, 0)])
    evidence = propagate(problem, SMALL)
    (miss, *_) = [term for term in terms(problem, evidence, 1, 3) if term.b == -1 and term.a == 0]
    assert miss.weight < 0


def test_a_prior_adds_to_the_log_odds_and_brings_candidates() -> None:
    problem = Problem(path(6), path(6), [(0, 0)])
    config = EvidenceConfig(rounds=1, keep=100)
    prior = csr_array(([2.5, 4.0], ([1, 5], [1, 5])), shape=(6, 6))
    plain, raised = dense(propagate(problem, config)), dense(propagate(problem, config, prior))
    assert raised[1, 1] == pytest.approx(plain[1, 1] + 2.5)
    assert np.isneginf(plain[5, 5])
    assert raised[5, 5] == pytest.approx(4.0, abs=1.0)


def test_relabelling_commutes() -> None:
    problem, _ = planted(n=60, anchors=15, seed=4)
    rng = np.random.default_rng(9)
    turn = rng.permutation(60)
    edges = np.argwhere(np.triu(problem.left.adjacency.toarray()))
    anchors = problem.anchors.copy()
    anchors[:, 0] = turn[anchors[:, 0]]
    other = Problem(Network.from_edges(turn[edges], 60), problem.right, anchors)
    np.testing.assert_allclose(
        dense(propagate(other, SMALL))[turn], dense(propagate(problem, SMALL)), rtol=1e-4, atol=1e-4
    )


def test_a_mirrored_problem_gives_the_transpose() -> None:
    problem, _ = planted(n=60, anchors=15, seed=6)
    mirrored = Problem(problem.right, problem.left, problem.anchors[:, ::-1])
    one, two = propagate(problem, SMALL), propagate(mirrored, SMALL)
    np.testing.assert_allclose(dense(one), dense(two).T, rtol=1e-4, atol=1e-4)
    assert (one.s, one.t) == (two.t, two.s)


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = planted(n=300, anchors=60, seed=7)
    monkeypatch.setattr("kedge.evidence.round._ALONE", 0)
    results = []
    for count in (1, 2, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", count)
        results.append(propagate(problem, EvidenceConfig()).log_odds)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].data, other.data)
        np.testing.assert_array_equal(results[0].indices, other.indices)


def test_it_finds_most_of_a_planted_matching() -> None:
    problem, test = planted(n=400, anchors=60, seed=8, degree=10)
    result = evaluate.ranking(align(problem, Config(), RunContext()), test)
    assert result["hits1"] > 0.95
    assert result["mrr"] > 0.96


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("anchors", [0, 1, 2])
def test_few_anchors_are_no_error(form: str, anchors: int) -> None:
    problem, _ = planted(anchors=anchors)
    evidence = FORMS[form](problem, EvidenceConfig())
    assert np.isfinite(evidence.log_odds.data).all()
    if form == "sparse" and anchors == 0:
        assert evidence.log_odds.nnz == 0
    align(problem, Config(), RunContext())


def test_anchors_on_isolated_accounts_say_nothing() -> None:
    left = path(5).with_isolated(pa.array(["x"], pa.large_string()))
    problem = Problem(left, left, [(5, 5)])
    assert propagate(problem, SMALL).log_odds.nnz == 0


def test_disjoint_networks_without_edges_have_no_candidates() -> None:
    empty = Network.from_edges([], 4)
    scores = align(Problem(empty, empty, [(0, 0), (1, 1)]), Config(), RunContext()).scores
    assert scores.nnz == 2


def test_networks_with_nothing_in_common_give_no_confident_match() -> None:
    rng = np.random.default_rng(0)
    networks = [Network.from_edges(rng.integers(0, 200, (600, 2)), 200) for _ in range(2)]
    evidence = propagate(Problem(*networks, np.column_stack([np.arange(40)] * 2)), EvidenceConfig())
    assert evidence.s < 0.2
    assert np.median(evidence.beliefs.data) < 0.1


def test_identical_networks_match_themselves() -> None:
    problem, _ = planted(n=200, anchors=0, seed=1, degree=8)
    same = Problem(problem.left, problem.left, np.column_stack([np.arange(30)] * 2))
    test = np.column_stack([np.arange(30, 200)] * 2)
    known = test[problem.left.degrees[test[:, 0]] > 1]
    assert evaluate.ranking(align(same, Config(), RunContext()), known)["hits1"] > 0.95


def test_a_hub_joined_to_everybody_does_no_harm() -> None:
    problem, test = planted(n=300, anchors=60, seed=2, degree=10)
    edges = [np.argwhere(np.triu(network.adjacency.toarray())) for network in (problem.left, problem.right)]
    hub = np.column_stack([np.full(300, 300), np.arange(300)])
    networks = [Network.from_edges(np.concatenate([edge, hub]), 301) for edge in edges]
    anchors = np.concatenate([problem.anchors, [(300, 300)]])
    result = evaluate.ranking(align(Problem(*networks, anchors), Config(), RunContext()), test)
    assert result["hits1"] > 0.9


def test_hubs_fall_silent_where_work_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.evidence.propagate._FREE_WORK", 0.0)
    problem, _ = planted(n=300, anchors=60, seed=2, degree=10)
    evidence = propagate(problem, EvidenceConfig(work=1.0))
    rows = np.repeat(np.arange(300), np.diff(evidence.support.indptr))
    spoken = problem.left.degrees[rows] * problem.right.degrees[evidence.support.indices]
    assert 0 < spoken.sum() <= problem.left.edges + problem.right.edges


def test_equal_accounts_are_still_assigned_one_to_one() -> None:
    star = Network.from_edges([(0, i) for i in range(1, 8)], 8)
    evidence = propagate(Problem(star, star, [(0, 0)]), EvidenceConfig())
    assert len(np.unique(evidence.log_odds.data.round(6))) == 1
    rows = np.repeat(np.arange(8), np.diff(evidence.log_odds.indptr))[evidence.assigned]
    columns = evidence.log_odds.indices[evidence.assigned]
    assert sorted(rows) == sorted(columns) == list(range(1, 8))


@pytest.mark.parametrize("form", FORMS)
def test_among_equal_accounts_the_assigned_one_ranks_first(form: str) -> None:
    star = Network.from_edges([(0, i) for i in range(1, 8)], 8)
    evidence = FORMS[form](Problem(star, star, [(0, 0)]), EvidenceConfig())
    scores = ranking_scores(evidence)
    for u in range(1, 8):
        row = slice(scores.indptr[u], scores.indptr[u + 1])
        assert (evidence.assigned[row] == (scores.data[row] == scores.data[row].max())).all()


def test_where_beliefs_are_one_to_one_the_assignment_overrules_close_rivals_alone() -> None:
    problem, _ = planted(n=150, anchors=30, seed=2, degree=4.0)
    for form in FORMS:
        evidence = FORMS[form](problem, EvidenceConfig())
        lifted = ranking_scores(evidence).data - ranking_scores(replace(evidence, assigned=~evidence.assigned)).data
        assert np.allclose(abs(lifted), 0.3 if form == "dense" else 3.0)


def test_large_problems_are_assigned_greedily_one_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.evidence.propagate._OPTIMAL", 0)
    problem, _ = planted(seed=1)
    evidence = propagate(problem, SMALL)
    rows = np.repeat(np.arange(40), np.diff(evidence.log_odds.indptr))[evidence.assigned]
    columns = evidence.log_odds.indices[evidence.assigned]
    assert len(rows) == len(set(rows)) == len(set(columns)) > 0
    assert evidence.assigned[evidence.log_odds.data.argmax()]


@pytest.mark.parametrize("form", FORMS)
def test_a_rejected_pair_is_no_candidate(form: str) -> None:
    problem, test = planted(seed=1)
    ruled_out = Problem(problem.left, problem.right, problem.anchors, test[:3])
    L = dense(FORMS[form](ruled_out, SMALL))
    assert np.isneginf(L[tuple(test[:3].T)]).all()


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "hits1", "mrr"),
    [("cora", 0.81, 0.85), ("douban", 0.58, 0.69), ("phone-email", 0.37, 0.51), ("acm-dblp", 0.61, 0.71)],
)
def test_floors_on_research_networks(name: str, hits1: float, mrr: float) -> None:
    folder = data.pair(name)

    def read(path: str) -> list[list[str]]:
        return [line.split("\t") for line in (folder / path).read_text().splitlines()]

    train, test = read("splits/off20/train.tsv"), read("splits/off20/test.tsv")
    networks = []
    for side, file in enumerate(("left.tsv", "right.tsv")):
        edges = read(file)
        ids = list(dict.fromkeys([name for edge in edges for name in edge] + [pair[side] for pair in train]))
        place = {name: i for i, name in enumerate(ids)}
        networks.append(Network.from_edges([(place[u], place[v]) for u, v in edges], len(ids), ids))

    def find(pairs: list[list[str]]) -> np.ndarray:
        columns = list(zip(*pairs, strict=True))
        return np.column_stack([network.find(column) for network, column in zip(networks, columns, strict=True)])

    result = evaluate.ranking(align(Problem(*networks, find(train)), Config(), RunContext()), find(test))
    assert result["hits1"] > hits1
    assert result["mrr"] > mrr


@pytest.mark.parametrize("with_prior", [False, True])
def test_the_order_of_work_changes_no_evidence(monkeypatch: pytest.MonkeyPatch, with_prior: bool) -> None:
    problem, _ = planted(n=60, anchors=15, seed=4)
    prior = csr_array(([2.5, 4.0], ([1, 5], [1, 5])), shape=(60, 60)) if with_prior else None
    plain = propagate(problem, SMALL, prior)
    monkeypatch.setattr(module, "_CACHED", 0)
    spared = propagate(problem, SMALL, prior)
    for name in ("log_odds", "support", "beliefs"):
        one, two = (getattr(evidence, name).toarray() for evidence in (plain, spared))
        np.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-4)
    for one, two in ((plain, spared), (spared, plain)):
        chosen = csr_array((one.assigned.astype(float), one.log_odds.indices, one.log_odds.indptr), shape=(60, 60))
        assert chosen.multiply(two.log_odds).sum() == pytest.approx(one.log_odds.data[one.assigned].sum(), rel=1e-4)
    u, v = (int(i) for i in np.argwhere(plain.beliefs.toarray() > 0.3)[0])
    told = [sum(term.weight for term in terms(problem, evidence, u, v)) for evidence in (plain, spared)]
    assert told[1] == pytest.approx(told[0], rel=1e-4)


def ring(n: int, anchors: int) -> Problem:
    """Two rings of n accounts, the first `anchors` of them matched."""
    network = Network.from_edges([(i, (i + 1) % n) for i in range(n)], n)
    return Problem(network, network, [(i, i) for i in range(anchors)])


def test_reach_counts_anchored_neighbours_on_the_poorer_side() -> None:
    star = Network.from_edges([(0, i) for i in range(1, 5)], 5)
    pair = Network.from_edges([(0, 1)], 2)
    # The hub alone is anchored: four of five accounts of the star know it, one of two of the pair.
    assert anchored_neighbours(Problem(star, pair, [(0, 0)])) == pytest.approx(0.5)
    assert anchored_neighbours(ring(10, 10)) == pytest.approx(2.0)


def test_more_anchors_mean_fewer_rounds() -> None:
    rounds = [len(schedule(ring(20, count), 15, 3, 4.0, 1.0)) for count in (0, 1, 10, 15, 20)]
    assert rounds == [15, 15, 15, 10, 8]


@given(st.integers(1, 30), st.integers(1, 30), st.floats(1.0, 8.0), st.floats(0.2, 1.0))
def test_cools_to_the_last_temperature_and_stays_there(most: int, least: int, first: float, last: float) -> None:
    rounds = schedule(ring(12, 9), most, least, first, last)
    heats = [one.temperature for one in rounds]
    assert min(least, most) <= len(rounds) <= most
    assert heats == sorted(heats, reverse=True)
    assert heats[-1] == pytest.approx(last) or len(rounds) == 1
    kept = np.array([one.kept for one in rounds])
    assert kept[0] == 0
    assert (np.diff(kept) >= 0).all(), "once beliefs are damped they stay damped"
