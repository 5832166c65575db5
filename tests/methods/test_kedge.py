"""Evidence with embeddings as its prior: when it is used, what it adds, and inputs with nothing to say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from graphs import communities, relabel
from kedge_problems import QUICK, few_common_edges, planted
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from kedge import synthetic
from kedge.config import resolve
from kedge.context.run_context import MemoryCache, RunContext, Silent
from kedge.embedding import network
from kedge.embedding import sketch as sketches
from kedge.evaluation import metrics as evaluate
from kedge.evidence import pairing
from kedge.evidence.forms import reciprocal_ranks
from kedge.evidence.pairing import certain_pairs, near_pairs
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import ranking_scores
from kedge.methods import METHODS
from kedge.methods import kedge as method
from kedge.probability.pair_rule import fit_pair_rule
from kedge.synthetic import subnetworks
from kedge.types import Hypergraph, Network, Problem


def prior_of(problem: Problem, vectors: Any, config: Any) -> Any:
    evidence = propagate(problem, config.evidence)
    near = near_pairs(problem, evidence, (vectors, vectors), config, Silent())
    return pairing.prior_of(near, evidence.beliefs.shape)


def test_without_a_prior_it_is_the_method_evidence() -> None:
    problem = planted(30)
    resolved = METHODS["kedge"].choose_settings(problem, resolve(assignments=[*QUICK, "pairing.use=no"]))
    together = METHODS["kedge"].align(problem, resolved)
    alone = METHODS["evidence"].align(problem, resolved.model_copy(update={"method": "evidence"}))
    np.testing.assert_array_equal(together.scores.toarray(), alone.scores.toarray())


def test_refinements_go_on_while_certain_pairs_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five anchors in two networks that share seven edges in ten: evidence alone finds few, refinements most."""
    pair = subnetworks(communities(400, 20, 0.5, 0.004, 1), 0.7, 0.7, 1)
    drawn = np.random.default_rng(1).permutation(pair.anchors)
    problem, held = Problem(pair.left, pair.right, drawn[:5]), drawn[5:]
    config = resolve(assignments=["method=kedge"])
    known = []
    make = pairing.find_near

    def watched(problem: Problem, evidence: Any, *more: Any) -> Any:
        known.append(len(certain_pairs(problem, evidence, config.pairing.certain)))
        return make(problem, evidence, *more)

    monkeypatch.setattr(pairing, "find_near", watched)
    refined = method.find_evidence(problem, config, RunContext())
    assert len(known) > 1
    assert all(after >= 1.1 * before for before, after in pairwise(known)), "another refinement only while they grow"
    alone = propagate(problem, config.evidence)
    found = [reciprocal_ranks(ranking_scores(one), held).mean() for one in (alone, refined)]
    assert found[0] < 0.3
    assert found[1] > 0.7


def test_vectors_are_learnt_once_for_all_runs_on_the_same_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    train = network.train_alone
    monkeypatch.setattr(network, "train_alone", lambda *a: calls.append(1) or train(*a))
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.vectors=mgcn", "seed=77"])
    context = RunContext()
    for anchors in (20, 30):
        METHODS["kedge"].align(planted(anchors), config, context)
    assert len(calls) == 2


def test_sketches_are_made_once_and_nothing_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    sketch = sketches.sketch_network
    monkeypatch.setattr(sketches, "sketch_network", lambda *a: calls.append(1) or sketch(*a))
    monkeypatch.setattr(network, "train_alone", lambda *_: pytest.fail("trained"))
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.vectors=sketch"])
    context = RunContext()
    for anchors in (20, 30):
        METHODS["kedge"].align(planted(anchors), config, context)
    assert len(calls) == 2


@pytest.mark.parametrize("vectors", ["sketch", "shared"])
def test_recalled_vectors_put_partners_near_each_other(vectors: str) -> None:
    problem = planted(60)
    given = resolve(assignments=[*QUICK, "pairing.use=yes", f"pairing.vectors={vectors}"])
    config = METHODS["kedge"].choose_settings(problem, given)
    cache = MemoryCache()
    assert METHODS["kedge"].recall_vectors(problem, config, cache) is None, "nothing is cached yet"
    METHODS["kedge"].align(problem, config, RunContext(cache))
    projected = METHODS["kedge"].recall_vectors(problem, config, cache)
    partners = np.column_stack([np.random.default_rng(0).permutation(120), np.arange(120)])
    others = np.column_stack([partners[:, 0], np.roll(partners[:, 1], 7)])
    assert np.median(projected.cosine(partners)) > np.median(projected.cosine(others)) + 0.3


@pytest.mark.parametrize(("vectors", "own"), [("auto", False), ("sketch", False), ("mgcn", False), ("auto", True)])
def test_vectors_are_recalled_with_the_settings_as_given(vectors: str, own: bool) -> None:
    """A run saves the settings as given, with `auto` in them."""
    problem, cache = planted(30), MemoryCache()
    if own:
        H = (np.random.default_rng(0).random((120, 9)) < 0.3).astype(float)
        problem = replace(problem, hypergraphs=(Hypergraph(csr_array(H)), None))
    asked = [*QUICK, f"pairing.vectors={vectors}"]
    METHODS["kedge"].align(problem, resolve(assignments=[*asked, "pairing.use=yes"]), RunContext(cache))
    for use in ("yes", "auto"):
        assert (
            METHODS["kedge"].recall_vectors(problem, resolve(assignments=[*asked, f"pairing.use={use}"]), cache)
            is not None
        )


def test_own_hyperedges_are_read_by_mgcn() -> None:
    problem = planted(30)
    own = Hypergraph(csr_array(np.ones((120, 1))))
    for given, kind in (((None, None), "sketch"), ((own, None), "mgcn")):
        resolved = METHODS["kedge"].choose_settings(
            replace(problem, hypergraphs=given), resolve(assignments=[*QUICK, "pairing.use=yes"])
        )
        assert resolved.pairing.vectors == kind


def test_the_prior_is_part_of_the_evidence() -> None:
    problem = planted(30)
    refined = method.find_evidence(problem, resolve(assignments=[*QUICK, "pairing.use=yes"]), RunContext())
    assert refined.prior is not None
    assert refined.prior.nnz > 0
    assert refined.prior.data.min() > 0
    assert not np.isin(refined.prior.tocoo().row, problem.anchors[:, 0]).any()


def test_a_mixture_is_chosen_where_evidence_misleads() -> None:
    problem, held = few_common_edges(300)
    resolved = METHODS["kedge"].choose_settings(problem, resolve(assignments=["method=kedge"]))
    assert resolved.pairing.use == "yes"
    assert resolved.pairing.refinements <= 1, "many anchors need no second refinement"
    assert len(resolved.pairing.mixture) == 6
    forms = {"alone": {"use": "no", "mixture": ()}, "prior": {"refinements": 1, "mixture": ()}, "mixture": {}}
    found = {
        name: evaluate.ranking(METHODS["kedge"].align(problem, pairing.with_pairing(resolved, **changes)), held)["mrr"]
        for name, changes in forms.items()
    }
    assert found["mixture"] > found["prior"] + 0.05
    assert found["prior"] >= found["alone"]


def test_without_a_refinement_similarity_is_part_of_the_mixture_alone() -> None:
    problem, _ = few_common_edges(300)
    ones = "pairing.mixture=[1, 1, 1, 1, 1, 1]"
    settings = resolve(
        assignments=["method=kedge", "pairing.use=yes", "pairing.vectors=sketch", "pairing.refinements=0", ones]
    )
    plain = method.find_evidence(problem, pairing.with_pairing(settings, use="no"), RunContext())
    mixed = method.find_evidence(problem, settings, RunContext())
    assert mixed.prior is None
    assert (mixed.log_odds != plain.log_odds).nnz == 0
    assert mixed.mixed is not None
    assert mixed.mixed.nnz > plain.log_odds.nnz, "near accounts that evidence does not reach"


def test_the_number_of_threads_changes_no_bit() -> None:
    pair = synthetic.planted(1500, 1500, 1200, 6000, 6000, overlap=0.6, seed=0)
    problem = Problem(pair.left, pair.right, pair.anchors[:300])
    settings = resolve(
        assignments=[
            "method=kedge",
            "pairing.use=yes",
            "pairing.vectors=sketch",
            "pairing.refinements=2",
            "evidence.form=sparse",
        ]
    )
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(METHODS["kedge"].align(problem, settings).scores)
    assert np.array_equal(found[0].indices, found[1].indices)
    assert np.array_equal(found[0].data, found[1].data)


def test_an_order_of_its_own_leaves_rejected_pairs_and_anchored_accounts_out() -> None:
    problem, held = few_common_edges(300)
    resolved = METHODS["kedge"].choose_settings(problem, resolve(assignments=["method=kedge"]))
    found = METHODS["kedge"].align(problem, resolved)
    likely, _ = found.top(held[:, 0], 1)
    ruled_out = np.column_stack([held[:, 0], likely[:, 0]])
    again = METHODS["kedge"].align(replace(problem, rejected=ruled_out), resolved)
    assert np.isneginf(again.score(ruled_out)).all()
    for side in ("left", "right"):
        best, _ = again.top(problem.anchors[:, 0 if side == "left" else 1], 2, side)
        assert (best[:, 0] == problem.anchors[:, 1 if side == "left" else 0]).all()
        assert (best[:, 1] == -1).all()


def test_numbers_of_accounts_carry_no_meaning_for_a_mixture() -> None:
    problem, held = few_common_edges(300)
    rng = np.random.default_rng(4)
    places = [rng.permutation(network.n) for network in (problem.left, problem.right)]

    def moved(pairs: Any) -> Any:
        return np.column_stack([places[side][pairs[:, side]] for side in (0, 1)])

    sides = zip((problem.left, problem.right), places, strict=True)
    networks = [relabel(network, np.argsort(place)) for network, place in sides]
    resolved = METHODS["kedge"].choose_settings(problem, resolve(assignments=["method=kedge"]))
    assert resolved.pairing.mixture
    here = evaluate.ranking(METHODS["kedge"].align(problem, resolved), held)["mrr"]
    there = evaluate.ranking(METHODS["kedge"].align(Problem(*networks, moved(problem.anchors)), resolved), moved(held))
    assert there["mrr"] == pytest.approx(here, abs=0.03)  # sketches begin from random vectors
    again = evaluate.ranking(METHODS["kedge"].align(problem, resolved), held)["mrr"]
    assert again == here


def test_accounts_without_a_vector_keep_their_candidates_under_a_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = planted(40)
    weights = [1.0, 0.1, 0.5, 1.0, 0.5, 0.0]
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.vectors=sketch", f"pairing.mixture={weights}"])
    vectors = pairing.vectors_of

    def some(*more: Any) -> Any:
        made = [np.array(side) for side in vectors(*more)]
        made[0][50:80] = 0
        return tuple(made)

    monkeypatch.setattr(pairing, "vectors_of", some)
    free = np.setdiff1d(np.arange(50, 80), problem.anchors[:, 0])
    best, _ = METHODS["kedge"].align(problem, config).top(free, 1)
    assert (best >= 0).all()


def test_few_certain_pairs_leave_a_mixture_its_candidates() -> None:
    problem = planted(3)
    weights = [1.0, 0.1, 0.5, 1.0, 0.5, 0.0]
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.certain=0.9999999", f"pairing.mixture={weights}"])
    alone = resolve(assignments=[*QUICK, "pairing.use=no"])
    weighed, plain = (METHODS["kedge"].align(problem, one).scores for one in (config, alone))
    assert weighed.nnz == plain.nnz > 3


def test_the_rule_for_single_pairs_uses_vectors_of_pairs_that_are_no_candidates() -> None:
    problem, held = few_common_edges(300)
    config = resolve(assignments=["method=kedge", "pairing.use=yes", "pairing.refinements=1"])
    found: Any = METHODS["kedge"].align(problem, config)
    u, v = problem.anchors.T
    found = replace(found, scores=csr_array((np.ones(300), (u, v)), shape=found.scores.shape), strengths=None)
    far = np.column_stack([held[:, 0], np.roll(held[:, 1], 13)])
    share = {}
    for name, alignment in (("with", found), ("without", replace(found, vectors=None))):
        rule = fit_pair_rule([(problem, alignment, held[:150])], np.random.default_rng(0))
        predicted = [rule.predicts_link(problem, alignment, pairs) for pairs in (held[150:], far[150:])]
        share[name] = evaluate.macro(*predicted)["macro_f1"]
    assert share["with"] > share["without"] + 0.2


def test_accounts_without_edges_have_no_prior() -> None:
    made = communities(120, 6, 0.3, 0.01, 0)
    isolated = Network.from_edges(np.argwhere(np.triu(made.adjacency.toarray())), 125)
    same = np.column_stack([np.arange(125)] * 2)
    problem = Problem(isolated, isolated, same[:30])
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "evidence.form=dense"])
    found = method.find_evidence(problem, config, RunContext()).prior
    assert found.nnz > 0
    assert found[120:].nnz == found[:, 120:].nnz == 0


def test_a_rejected_pair_stays_out_though_it_is_near() -> None:
    problem = replace(
        planted(30), rejected=np.array([[50, int(np.flatnonzero(np.random.default_rng(0).permutation(120) == 50)[0])]])
    )
    refined = method.find_evidence(problem, resolve(assignments=[*QUICK, "pairing.use=yes"]), RunContext())
    u, v = problem.rejected[0]
    assert v not in refined.log_odds[[u]].indices


def test_certain_pairs_begin_with_the_anchors() -> None:
    problem = planted(40)
    evidence = propagate(problem, resolve().evidence)
    sure = certain_pairs(problem, evidence, 0.8)
    np.testing.assert_array_equal(sure[:40], problem.anchors)
    assert len(np.unique(sure[:, 0])) == len(sure)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_prior_of_too_few_pairs_is_empty(count: int) -> None:
    problem = planted(count)
    X = np.random.default_rng(0).normal(size=(120, 4)).astype(np.float32)
    assert prior_of(problem, X, resolve(assignments=["pairing.certain=0.999999999"])).nnz == 0


def test_equal_vectors_give_every_pair_the_same_prior() -> None:
    problem = planted(30)
    X = np.ones((120, 4), np.float32)
    found = prior_of(problem, X, resolve())
    assert found.nnz == 0 or np.ptp(found.data) < 1e-4


@pytest.mark.parametrize("anchors", [0, 1, 12])
def test_networks_without_edges_have_finite_scores(anchors: int) -> None:
    empty = Network.from_edges([], 20)
    same = np.column_stack([np.arange(anchors)] * 2)
    config = resolve(assignments=[*QUICK, "pairing.use=yes"])
    scores = METHODS["kedge"].align(Problem(empty, empty, same), config).scores
    assert np.isfinite(scores.data).all()
