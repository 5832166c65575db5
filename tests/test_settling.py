"""What is settled before kedge's own method runs: where embeddings are used, and what a mixture has to gain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from kedge_problems import QUICK, few_common_edges, planted

from kedge.config import PairingConfig, resolve
from kedge.errors import KedgeError
from kedge.link.mixture import Choices
from kedge.methods import METHODS, settle, settling, together, turns
from kedge.methods import kedge as method
from kedge.methods.turns import turns_at_most
from kedge.progress import Silent
from kedge.types import Network, Problem
from kedge.workshop import Workshop


def listening() -> tuple[Workshop, list[str]]:
    """A workshop, and what it is told."""
    told: list[str] = []
    listener = Silent()
    listener.note = told.append
    return Workshop(progress=listener), told


@pytest.mark.parametrize(("anchors", "most"), [(1, 8), (59, 8), (199, 8), (200, 1)])
def test_embeddings_are_used_without_asking_anybody(monkeypatch, anchors, most):
    def refuse(*_):
        raise AssertionError("tried")

    monkeypatch.setattr(settling, "_hold_back", refuse)
    settled = settle(planted(anchors, 240), resolve(assignments=[*QUICK, "evidence.form=sparse"]), 0)
    assert (settled.pairing.use, settled.pairing.turns, settled.pairing.mixture) == ("yes", most, ())


def test_without_anchors_nothing_lays_embeddings_over_each_other():
    assert settle(planted(0), resolve(assignments=QUICK), 0).pairing.use == "no"


def test_the_dense_form_hears_every_pair_and_needs_no_embeddings(monkeypatch):
    monkeypatch.setattr(together, "vectors_of", lambda *_: pytest.fail("embedded"))
    config = resolve(assignments=[*QUICK, "evidence.form=dense"])
    assert settle(planted(30), config, 0).pairing.use == "no"
    METHODS["kedge"](planted(30), config, 0)


@pytest.mark.parametrize(
    ("anchors", "vectors", "told_of"),
    [(30, "auto", True), (210, "auto", False), (30, "mgcn", False), (0, "auto", False)],
)
def test_networks_too_large_to_embed_are_told_of_it_where_anchors_are_few(anchors, vectors, told_of):
    """Not where they would be trained for hours."""
    workshop, told = listening()
    config = resolve(assignments=[*QUICK, "pairing.accounts=10", f"pairing.vectors={vectors}"])
    assert settle(planted(anchors, 240), config, 0, workshop).pairing.use == "no"
    expected = (
        f"{anchors} anchors are few for networks of this size: embeddings may find more, at more CPU, with "
        "--set pairing.use=yes"
    )
    assert told == [expected] * told_of


def test_many_edges_cost_as_much_as_many_accounts():
    problem = planted(30)
    crowded = replace(problem, right=Network.from_edges(np.argwhere(np.triu(np.ones((120, 120)), 1)), 120))
    edges = crowded.left.edges + crowded.right.edges
    for accounts, used in ((edges // 10 + 1, True), (edges // 10 - 1, False)):
        assert accounts > 240, "accounts alone would do"
        found = turns_at_most(crowded.left, crowded.right, 30, PairingConfig(accounts=accounts))
        assert bool(found) == used


def test_large_networks_are_not_trained(monkeypatch):
    monkeypatch.setattr(turns, "_SMALL", 10)
    problem = planted(30)
    for vectors, used in (("mgcn", "no"), ("sketch", "yes")):
        settled = settle(problem, resolve(assignments=[*QUICK, f"pairing.vectors={vectors}"]), 0)
        assert settled.pairing.use == used


def test_large_networks_take_few_turns_and_keep_no_vectors(monkeypatch):
    problem = planted(30)
    assert METHODS["kedge"](problem, resolve(assignments=QUICK), 0).vectors is not None
    monkeypatch.setattr(turns, "_SMALL", 10)
    monkeypatch.setattr(method, "_KEPT", 10)
    settled = settle(problem, resolve(assignments=QUICK), 0)
    assert settled.pairing.use == "yes"
    assert settled.pairing.turns == 3
    assert METHODS["kedge"](problem, settled, 0).vectors is None


def test_fewer_turns_than_usual_may_be_asked_for():
    settled = settle(planted(30), resolve(assignments=[*QUICK, "pairing.turns=2"]), 0)
    assert settled.pairing.turns == 2


def test_what_is_settled_is_not_chosen_again():
    problem = planted(30)
    once = settle(problem, resolve(assignments=QUICK), 0)
    assert once.pairing.use in ("yes", "no")
    assert settle(problem, once, 0) == once


def settle_with_ranks(monkeypatch, gain: float, spread: float = 0.0, anchors: int = 210) -> tuple[PairingConfig, int]:
    """What is settled, and how many folds were asked, where held-back anchors have reciprocal ranks that the test
    sets: 0.1 by evidence and embeddings, `gain` more where they are weighed anew, give or take `spread`."""
    asked = []

    def hold_back(problem, fold, *_):
        asked.append(1)
        held = problem.anchors[fold]
        return Choices(held, np.zeros((len(held), 6)), held), np.full(len(held), 0.1)

    def mixed_ranks(choices, _):
        count = sum(len(one.held) for one in choices)
        return 0.1 + gain + spread * np.resize([1.0, -1.0], count)

    monkeypatch.setattr(settling, "_hold_back", hold_back)
    monkeypatch.setattr(settling, "_mixed_ranks", mixed_ranks)
    monkeypatch.setattr(settling, "fit_mixture", lambda choices: (float(len(choices)),) * 6)
    monkeypatch.setattr(settling, "common_edges", lambda _: (10, 100, 50))
    same = np.column_stack([np.arange(anchors)] * 2)
    ring = Network.from_edges([(i, (i + 1) % 1000) for i in range(1000)], 1000)
    settled = settle(Problem(ring, ring, same), resolve(assignments=[*QUICK, "evidence.form=sparse"]), 0)
    return settled.pairing, len(asked)


@pytest.mark.parametrize(
    ("gain", "spread", "asked", "weighed"),
    [
        (0.1, 0.0, 1, True),
        (0.1, 0.65, 3, True),  # two standard errors are 0.16 at 70 anchors, 0.11 at 140, 0.09 at 210
        (0.1, 0.9, 3, False),
        (0.005, 0.0, 1, False),  # certain, and not worth its cost
        (-0.1, 0.9, 1, False),
    ],
)
def test_a_mixture_is_asked_for_until_it_gains_clearly_or_not_at_all(monkeypatch, gain, spread, asked, weighed):
    pairing, folds = settle_with_ranks(monkeypatch, gain, spread)
    assert folds == asked
    assert pairing.mixture == ((float(asked),) * 6 if weighed else ()), "it learns from all that it asked"
    assert (pairing.use, pairing.turns) == ("yes", 1), "embeddings are used in any case"


def test_few_anchors_cannot_tell_weights_apart(monkeypatch):
    assert settle_with_ranks(monkeypatch, 0.5, anchors=199) == (
        resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.vectors=sketch"]).pairing,
        0,
    )


@pytest.mark.parametrize(
    ("edges", "asked"),
    [
        ((49, 100, 500), True),
        ((49, 500, 100), True),
        ((50, 100, 500), False),
        ((50, 500, 100), False),
        ((0, 29, 100), False),  # too few to tell
        ((0, 30, 100), True),
    ],
)
def test_a_mixture_is_tried_where_neither_network_has_half_of_the_edges_of_the_other(monkeypatch, edges, asked):
    tried = []
    monkeypatch.setattr(settling, "_with_mixture", lambda problem, config, *_: tried.append(1) or config)
    monkeypatch.setattr(settling, "common_edges", lambda _: edges)
    settle(planted(200, 240), resolve(assignments=[*QUICK, "evidence.form=sparse"]), 0)
    assert bool(tried) == asked


@pytest.mark.parametrize("weights", [(), (1.0,) * 6])
def test_the_dense_form_hears_embeddings_in_a_mixture_alone(monkeypatch, weights):
    monkeypatch.setattr(settling, "common_edges", lambda _: (10, 100, 50))
    mixed = settling.with_pairing
    monkeypatch.setattr(settling, "_with_mixture", lambda problem, config, *_: mixed(config, mixture=weights))
    settled = settle(planted(200, 240), resolve(assignments=[*QUICK, "evidence.form=dense"]), 0)
    assert settled.pairing.use == ("yes" if weights else "no")
    assert settled.pairing.mixture == weights


def test_where_training_fails_evidence_alone_is_used_and_it_is_said(monkeypatch):
    def refuse(*_):
        raise KedgeError("the loss is not finite")

    monkeypatch.setattr(settling, "vectors_of", refuse)
    workshop, told = listening()
    settled = settle(planted(30), resolve(assignments=[*QUICK, "pairing.vectors=mgcn"]), 0, workshop)
    assert settled.pairing.use == "no"
    assert told == ["evidence alone is used: the loss is not finite"]


def test_what_a_mixture_gains_is_told():
    problem, _ = few_common_edges(210)
    workshop, told = listening()
    settled = settle(problem, resolve(assignments=QUICK), 0, workshop)
    assert len(settled.pairing.mixture) == 6
    (note,) = told
    assert note.startswith("the networks have few edges in common: held-back anchors have a mean reciprocal rank of 0.")
    assert note.endswith("they are weighed anew")


def test_held_back_anchors_are_not_heard(monkeypatch):
    problem, _ = few_common_edges(210)
    heard = []
    ask = settling.what_is_known
    monkeypatch.setattr(settling, "what_is_known", lambda trial, *more: heard.append(trial) or ask(trial, *more))
    fold = np.arange(70)
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.turns=1", "evidence.form=sparse"])
    choices, ranks = settling._hold_back(problem, fold, settling.with_vectors(problem, config), Workshop())
    np.testing.assert_array_equal(choices.held, problem.anchors[:70])
    np.testing.assert_array_equal(heard[0].anchors, problem.anchors[70:])
    assert len(ranks) == 70
    assert 0 < ranks.mean() < 1


def test_most_of_very_many_anchors_stay_in_a_trial():
    problem = planted(1, 3000)
    folds = settling._folds(replace(problem, anchors=np.column_stack([np.arange(3000)] * 2)), 0)
    assert [len(fold) for fold in folds] == [600] * 3
    assert len(np.unique(np.concatenate(folds))) == 1800
