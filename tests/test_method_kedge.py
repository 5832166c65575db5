"""Evidence with embeddings as its prior: when it is used, what it adds, and inputs with nothing to say."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from graphs import communities, relabel
from kedge_problems import QUICK, few_common_edges, planted
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from kedge import evaluate, synth
from kedge.config import resolve
from kedge.embedding import network, sketched
from kedge.link import prior
from kedge.link.choice import ranking_scores, reciprocal_ranks
from kedge.link.evidence import propagate
from kedge.link.pair_rule import fit_pair_rule
from kedge.link.prior import certain_pairs, near_pairs
from kedge.methods import METHODS, evidenced, recall_alignment, settle, settling, together
from kedge.methods import kedge as method
from kedge.progress import Silent
from kedge.synth import subnetworks
from kedge.types import Hypergraph, Network, Problem
from kedge.workshop import MemoryShelf, Workshop


def prior_of(problem, left, right, evidence, config, *more):
    certain = certain_pairs(problem, evidence, config.certain)
    near = near_pairs(problem, left, right, certain, evidence.log_odds, config, 0, *more)
    return prior.prior_of(near, evidence.beliefs.shape)


def test_without_a_prior_it_is_the_method_evidence():
    problem = planted(30)
    settled = settle(problem, resolve(assignments=[*QUICK, "pairing.use=no"]), 0)
    together = METHODS["kedge"](problem, settled, 0)
    alone = METHODS["evidence"](problem, settled.model_copy(update={"method": "evidence"}), 0)
    np.testing.assert_array_equal(together.scores.toarray(), alone.scores.toarray())


def test_what_the_prior_makes_certain_is_laid_again_while_it_grows(monkeypatch):
    """Five anchors in two networks that share seven edges in ten: evidence alone finds little, turn by turn most."""
    pair = subnetworks(communities(400, 20, 0.5, 0.004, 1), 0.7, 0.7, 1)
    drawn = np.random.default_rng(1).permutation(pair.anchors)
    problem, held = Problem(pair.left, pair.right, drawn[:5]), drawn[5:]
    config = resolve(assignments=["method=kedge"])
    known = []
    make = together.near_pairs

    def watched(problem, left, right, pairs, *more):
        known.append(len(pairs))
        return make(problem, left, right, pairs, *more)

    monkeypatch.setattr(together, "near_pairs", watched)
    heard = method.hear(problem, config, 0)
    assert len(known) > 1
    assert all(after >= 1.1 * before for before, after in pairwise(known)), "another turn only while they grow"
    alone = propagate(problem, config.evidence)
    found = [reciprocal_ranks(ranking_scores(one), held).mean() for one in (alone, heard)]
    assert found[0] < 0.3
    assert found[1] > 0.7


def test_vectors_are_learnt_once_for_all_runs_on_the_same_networks(monkeypatch):
    calls = []
    train = network.train_alone
    monkeypatch.setattr(network, "train_alone", lambda *a: calls.append(1) or train(*a))
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.vectors=mgcn", "seed=77"])
    workshop = Workshop()
    for anchors in (20, 30):
        METHODS["kedge"](planted(anchors), config, anchors, workshop)
    assert len(calls) == 2


def test_sketches_are_made_once_and_nothing_is_trained(monkeypatch):
    calls = []
    sketch = sketched.sketch_network
    monkeypatch.setattr(sketched, "sketch_network", lambda *a: calls.append(1) or sketch(*a))
    monkeypatch.setattr(network, "train_alone", lambda *_: pytest.fail("trained"))
    config = resolve(assignments=[*QUICK, "pairing.use=yes"])
    workshop = Workshop()
    for anchors in (20, 30):
        METHODS["kedge"](planted(anchors), config, anchors, workshop)
    assert len(calls) == 2


def test_sketches_put_partners_near_each_other():
    problem = planted(60)
    config = settle(problem, resolve(assignments=[*QUICK, "pairing.use=yes"]), 0)
    shelf = MemoryShelf()
    assert recall_alignment(problem, config, shelf) is None, "nothing lies there yet"
    METHODS["kedge"](problem, config, 0, Workshop(shelf))
    laid = recall_alignment(problem, config, shelf)
    partners = np.column_stack([np.random.default_rng(0).permutation(120), np.arange(120)])
    others = np.column_stack([partners[:, 0], np.roll(partners[:, 1], 7)])
    assert np.median(laid.cosine(partners)) > np.median(laid.cosine(others)) + 0.3


@pytest.mark.parametrize(("vectors", "own"), [("auto", False), ("mgcn", False), ("auto", True)])
def test_vectors_are_recalled_with_the_settings_as_they_were_asked(vectors, own):
    """A run keeps the settings that it was given, with `auto` in them."""
    problem, shelf = planted(30), MemoryShelf()
    if own:
        H = (np.random.default_rng(0).random((120, 9)) < 0.3).astype(float)
        problem = replace(problem, hypergraphs=(Hypergraph(csr_array(H)), None))
    asked = [*QUICK, f"pairing.vectors={vectors}"]
    METHODS["kedge"](problem, resolve(assignments=[*asked, "pairing.use=yes"]), 0, Workshop(shelf))
    for use in ("yes", "auto"):
        assert recall_alignment(problem, resolve(assignments=[*asked, f"pairing.use={use}"]), shelf) is not None


def test_own_hyperedges_are_read_by_mgcn():
    problem = planted(30)
    own = Hypergraph(csr_array(np.ones((120, 1))))
    for given, kind in (((None, None), "sketch"), ((own, None), "mgcn")):
        settled = settle(replace(problem, hypergraphs=given), resolve(assignments=[*QUICK, "pairing.use=yes"]), 0)
        assert settled.pairing.vectors == kind


def test_the_prior_is_heard_and_kept():
    problem = planted(30)
    heard = method.hear(problem, resolve(assignments=[*QUICK, "pairing.use=yes"]), 0)
    assert heard.prior is not None
    assert heard.prior.nnz > 0
    assert heard.prior.data.min() > 0
    assert not np.isin(heard.prior.tocoo().row, problem.anchors[:, 0]).any()


def test_where_evidence_misleads_all_that_is_known_is_weighed_anew():
    problem, held = few_common_edges(300)
    settled = settle(problem, resolve(assignments=["method=kedge"]), 0)
    assert settled.pairing.use == "yes"
    assert settled.pairing.turns <= 1, "many anchors need no second turn"
    assert len(settled.pairing.mixture) == 6
    forms = {"alone": {"use": "no", "mixture": ()}, "prior": {"turns": 1, "mixture": ()}, "mixture": {}}
    found = {
        name: evaluate.ranking(METHODS["kedge"](problem, settling.with_pairing(settled, **changes), 0), held)["mrr"]
        for name, changes in forms.items()
    }
    assert found["mixture"] > found["prior"] + 0.05
    assert found["prior"] >= found["alone"]


def test_without_a_turn_nearness_reaches_the_mixture_alone():
    problem, _ = few_common_edges(300)
    ones = "pairing.mixture=[1, 1, 1, 1, 1, 1]"
    settings = resolve(
        assignments=["method=kedge", "pairing.use=yes", "pairing.vectors=sketch", "pairing.turns=0", ones]
    )
    plain = method.hear(problem, settling.with_pairing(settings, use="no"), 0)
    mixed = method.hear(problem, settings, 0)
    assert mixed.prior is None
    assert (mixed.log_odds != plain.log_odds).nnz == 0
    assert mixed.weighed is not None
    assert mixed.weighed.nnz > plain.log_odds.nnz, "near accounts that evidence does not reach"


def test_the_number_of_threads_changes_no_bit():
    pair = synth.planted(1500, 1500, 1200, 6000, 6000, overlap=0.6, seed=0)
    problem = Problem(pair.left, pair.right, pair.anchors[:300])
    settings = resolve(
        assignments=[
            "method=kedge",
            "pairing.use=yes",
            "pairing.vectors=sketch",
            "pairing.turns=2",
            "evidence.form=sparse",
        ]
    )
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(METHODS["kedge"](problem, settings, 0).scores)
    assert np.array_equal(found[0].indices, found[1].indices)
    assert np.array_equal(found[0].data, found[1].data)


def test_an_order_of_its_own_leaves_rejected_pairs_and_anchored_accounts_out():
    problem, held = few_common_edges(300)
    settled = settle(problem, resolve(assignments=["method=kedge"]), 0)
    found = METHODS["kedge"](problem, settled, 0)
    likely, _ = found.top(held[:, 0], 1)
    ruled_out = np.column_stack([held[:, 0], likely[:, 0]])
    again = METHODS["kedge"](replace(problem, rejected=ruled_out), settled, 0)
    assert np.isneginf(again.score(ruled_out)).all()
    for side in ("left", "right"):
        best, _ = again.top(problem.anchors[:, 0 if side == "left" else 1], 2, side)
        assert (best[:, 0] == problem.anchors[:, 1 if side == "left" else 0]).all()
        assert (best[:, 1] == -1).all()


def test_a_mixture_does_not_look_at_the_numbers_of_accounts():
    problem, held = few_common_edges(300)
    rng = np.random.default_rng(4)
    places = [rng.permutation(network.n) for network in (problem.left, problem.right)]

    def moved(pairs):
        return np.column_stack([places[side][pairs[:, side]] for side in (0, 1)])

    sides = zip((problem.left, problem.right), places, strict=True)
    networks = [relabel(network, np.argsort(place)) for network, place in sides]
    settled = settle(problem, resolve(assignments=["method=kedge"]), 0)
    assert settled.pairing.mixture
    here = evaluate.ranking(METHODS["kedge"](problem, settled, 0), held)["mrr"]
    there = evaluate.ranking(METHODS["kedge"](Problem(*networks, moved(problem.anchors)), settled, 0), moved(held))
    assert there["mrr"] == pytest.approx(here, abs=0.03)  # sketches begin from random vectors
    again = evaluate.ranking(METHODS["kedge"](problem, settled, 0), held)["mrr"]
    assert again == here


def test_accounts_without_a_vector_keep_their_candidates_under_a_mixture(monkeypatch):
    problem = planted(40)
    weights = [1.0, 0.1, 0.5, 1.0, 0.5, 0.0]
    config = resolve(assignments=[*QUICK, "pairing.use=yes", f"pairing.mixture={weights}"])
    vectors = together.vectors_of

    def some(*more):
        made = [np.array(side) for side in vectors(*more)]
        made[0][50:80] = 0
        return tuple(made)

    monkeypatch.setattr(together, "vectors_of", some)
    free = np.setdiff1d(np.arange(50, 80), problem.anchors[:, 0])
    best, _ = METHODS["kedge"](problem, config, 0).top(free, 1)
    assert (best >= 0).all()


def test_few_certain_pairs_leave_a_mixture_its_candidates():
    problem = planted(3)
    weights = [1.0, 0.1, 0.5, 1.0, 0.5, 0.0]
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.certain=0.9999999", f"pairing.mixture={weights}"])
    alone = resolve(assignments=[*QUICK, "pairing.use=no"])
    weighed, plain = (METHODS["kedge"](problem, one, 0).scores for one in (config, alone))
    assert weighed.nnz == plain.nnz > 3


def test_the_rule_for_single_pairs_sees_vectors_of_pairs_that_are_no_candidates():
    problem, held = few_common_edges(300)
    config = resolve(assignments=["method=kedge", "pairing.use=yes", "pairing.turns=1"])
    found = METHODS["kedge"](problem, config, 0)
    u, v = problem.anchors.T
    found = replace(found, scores=csr_array((np.ones(300), (u, v)), shape=found.scores.shape), strengths=None)
    far = np.column_stack([held[:, 0], np.roll(held[:, 1], 13)])
    share = {}
    for name, alignment in (("with", found), ("without", replace(found, vectors=None))):
        rule = fit_pair_rule([(problem, alignment, held[:150])], np.random.default_rng(0))
        said = [rule.says_link(problem, alignment, pairs) for pairs in (held[150:], far[150:])]
        share[name] = evaluate.macro(*said)["macro_f1"]
    assert share["with"] > share["without"] + 0.2


def test_accounts_without_edges_are_near_nobody():
    made = communities(120, 6, 0.3, 0.01, 0)
    lonely = Network.from_edges(np.argwhere(np.triu(made.adjacency.toarray())), 125)
    same = np.column_stack([np.arange(125)] * 2)
    problem = Problem(lonely, lonely, same[:30])
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "evidence.form=dense"])
    said = method.hear(problem, config, 0).prior
    assert said.nnz > 0
    assert said[120:].nnz == said[:, 120:].nnz == 0


def test_a_rejected_pair_stays_out_though_it_is_near():
    problem = replace(
        planted(30), rejected=np.array([[50, int(np.flatnonzero(np.random.default_rng(0).permutation(120) == 50)[0])]])
    )
    heard = method.hear(problem, resolve(assignments=[*QUICK, "pairing.use=yes"]), 0)
    u, v = problem.rejected[0]
    assert v not in heard.log_odds[[u]].indices


def test_certain_pairs_begin_with_the_anchors():
    problem = planted(40)
    evidence = propagate(problem, resolve().evidence)
    sure = certain_pairs(problem, evidence, 0.8)
    np.testing.assert_array_equal(sure[:40], problem.anchors)
    assert len(np.unique(sure[:, 0])) == len(sure)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_prior_of_too_few_pairs_is_empty(count):
    problem = planted(count)
    evidence = propagate(problem, resolve().evidence)
    X = np.random.default_rng(0).normal(size=(120, 4)).astype(np.float32)
    config = resolve(assignments=["pairing.certain=0.999999999"]).pairing
    assert prior_of(problem, X, X, evidence, config).nnz == 0


def test_equal_vectors_speak_for_no_pair_more_than_another():
    problem = planted(30)
    X = np.ones((120, 4), np.float32)
    said = prior_of(problem, X, X, propagate(problem, resolve().evidence), resolve().pairing)
    assert said.nnz == 0 or np.ptp(said.data) < 1e-4


@pytest.mark.parametrize("anchors", [0, 1, 12])
def test_networks_without_edges_are_answered(anchors):
    empty = Network.from_edges([], 20)
    same = np.column_stack([np.arange(anchors)] * 2)
    config = resolve(assignments=[*QUICK, "pairing.use=yes"])
    scores = METHODS["kedge"](Problem(empty, empty, same), config, 0).scores
    assert np.isfinite(scores.data).all()


def test_only_methods_that_can_say_why_are_evidenced():
    assert evidenced("mgcn") is None
    for name in ("evidence", "kedge"):
        assert all(hasattr(evidenced(name), part) for part in ("hear", "scores", "recall", "settle"))


def test_what_approximate_search_misses_is_told(monkeypatch):
    problem = planted(40)
    heard = propagate(problem, resolve(assignments=QUICK).evidence)
    vectors = [np.random.default_rng(side).normal(size=(120, 6)) for side in (0, 1)]
    told = []
    listener = Silent()
    listener.note = told.append
    config = resolve(assignments=QUICK).pairing
    prior_of(problem, *vectors, heard, config, listener)
    assert told == [], "exact search misses nothing"
    monkeypatch.setattr(prior, "_EXACT_UP_TO", 50)
    prior_of(problem, *vectors, heard, config, listener)
    (note,) = told
    assert re.fullmatch(r"the nearest accounts are searched for approximately: at least \d0% of the true ones .*", note)
