"""What is settled before kedge's own method runs: what is tried, on how much, and what it has to gain."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from kedge_problems import QUICK, few_common_edges, planted

from kedge.config import PairingConfig, resolve
from kedge.ingest import check
from kedge.methods import METHODS, settle, settling, together
from kedge.methods import kedge as method
from kedge.pipeline import matching
from kedge.progress import Silent
from kedge.types import Network, Problem
from kedge.workshop import Workshop


def test_anchors_too_few_to_choose_by_take_the_sketches_and_nothing_is_trained():
    assert settle(planted(6), resolve(assignments=QUICK), 0).pairing.use == "yes"
    assert settle(planted(6), resolve(assignments=[*QUICK, "pairing.vectors=mgcn"]), 0).pairing.use == "no"
    assert settle(planted(0), resolve(assignments=QUICK), 0).pairing.use == "no"


def test_where_evidence_ranks_nearly_all_first_nothing_is_embedded(monkeypatch):
    def refuse(*_):
        raise AssertionError("embedded")

    monkeypatch.setattr(together, "vectors_of", refuse)
    assert settle(planted(200, 240), resolve(assignments=[*QUICK, "pairing.enough=0.5"]), 0).pairing.use == "no"


def test_networks_too_large_to_embed_are_told_of_it_where_anchors_are_few():
    told = []
    listener = Silent()
    listener.note = told.append
    config = resolve(assignments=[*QUICK, "pairing.accounts=10"])
    assert settle(planted(30), config, 0, Workshop(progress=listener)).pairing.use == "no"
    assert told == [
        "30 anchors are few for networks of this size: embeddings may find more, at more CPU, with "
        "--set pairing.use=yes"
    ]


def test_large_networks_are_not_trained_for_a_trial(monkeypatch):
    def refuse(*_):
        raise AssertionError("tried")

    monkeypatch.setattr(settling, "_SMALL", 10)
    monkeypatch.setattr(settling, "_hold_back", refuse)
    settle(planted(30), resolve(assignments=[*QUICK, "pairing.vectors=mgcn"]), 0)


def test_large_networks_take_few_turns_and_keep_no_vectors(monkeypatch):
    problem = planted(30)
    assert METHODS["kedge"](problem, resolve(assignments=QUICK), 0).vectors is not None
    monkeypatch.setattr(settling, "_SMALL", 10)
    monkeypatch.setattr(method, "_KEPT", 10)
    settled = settle(problem, resolve(assignments=QUICK), 0)
    assert settled.pairing.use == "yes"
    assert settled.pairing.turns == 3
    assert METHODS["kedge"](problem, settled, 0).vectors is None


def test_with_few_anchors_sketches_are_tried_however_well_evidence_does(monkeypatch):
    made = []
    vectors = together.vectors_of
    monkeypatch.setattr(together, "vectors_of", lambda *a: made.append(1) or vectors(*a))
    settle(planted(60), resolve(assignments=[*QUICK, "pairing.enough=0.01"]), 0)
    assert made
    made.clear()
    settle(planted(60), resolve(assignments=[*QUICK, "pairing.enough=0.01", "pairing.vectors=mgcn"]), 0)
    assert not made, "trained vectors cost too much to be tried in any case"


def test_what_is_settled_is_not_chosen_again():
    problem = planted(30)
    once = settle(problem, resolve(assignments=QUICK), 0)
    assert once.pairing.use in ("yes", "no")
    assert settle(problem, once, 0) == once


@pytest.mark.parametrize(("gain", "runs"), [(False, 1), (True, 3)])
def test_one_fold_is_enough_to_see_that_nothing_is_gained(monkeypatch, gain, runs):
    """Ranks that the test sets in place of those by a mixture."""
    heard = []
    hold = settling._hold_back
    monkeypatch.setattr(settling, "_hold_back", lambda *a: heard.append(1) or hold(*a))
    monkeypatch.setattr(
        settling, "_mixed_ranks", lambda choices, _: np.full(sum(len(one.held) for one in choices), float(gain))
    )
    problem, _ = few_common_edges(210)
    settled = settle(problem, resolve(assignments=[*QUICK, "pairing.enough=1"]), 0)
    assert len(heard) == runs
    assert settled.pairing.use == ("yes" if gain else "no")


def settle_with_ranks(
    monkeypatch, anchors: int, mixed: float, prior: float = 0.2, spread: float = 0.0, promise_spread: float = 0.0
) -> tuple[PairingConfig, list[str]]:
    """What is settled, and what was tried, where held-back anchors have reciprocal ranks that the test sets: 0.1 by
    evidence, `prior` with its prior, give or take `spread`, `mixed` weighed anew, the first time give or take
    `promise_spread`."""
    tried = []

    def ranks(trial):
        alternating = np.resize([1.0, -1.0], len(trial.held))
        return trial.heard + (spread * alternating if trial.heard == prior else 0.0)

    def hold_back(problem, fold, config):
        tried.append("fold")
        return settling._Trial(problem, problem.anchors[fold], 0.1, None)

    def asked(trial, *_):
        tried.append("mixture")
        return trial

    def mixed_ranks(trials, _):
        count = sum(len(trial.held) for trial in trials)
        return mixed + np.resize([1.0, -1.0], count) * (promise_spread if tried.count("mixture") == 1 else 0.0)

    def fit(trials):
        tried.extend(f"fitted at {trial.heard}" for trial in trials)
        return (1.0,) * 6

    monkeypatch.setattr(settling, "_hold_back", hold_back)
    monkeypatch.setattr(settling, "_placed", lambda trial, *_: trial)
    monkeypatch.setattr(settling, "_asked", asked)
    monkeypatch.setattr(settling, "_with_prior", lambda trial, *_: replace(trial, heard=prior))
    monkeypatch.setattr(settling, "_choices", lambda trial: trial)
    monkeypatch.setattr(
        settling, "_ranks", lambda trials: np.concatenate([ranks(t) + np.zeros(len(t.held)) for t in trials])
    )
    monkeypatch.setattr(settling, "_mixed_ranks", mixed_ranks)
    monkeypatch.setattr(settling, "fit_mixture", fit)
    same = np.column_stack([np.arange(anchors)] * 2)
    ring = Network.from_edges([(i, (i + 1) % 1000) for i in range(1000)], 1000)
    settled = settle(Problem(ring, ring, same), resolve(assignments=[*QUICK, "evidence.form=sparse"]), 0)
    return settled.pairing, tried


@pytest.mark.parametrize(("anchors", "runs"), [(199, 3), (200, 3), (447, 3), (450, 2), (900, 1)])
def test_as_many_folds_as_it_takes_to_tell(monkeypatch, anchors, runs):
    settled, tried = settle_with_ranks(monkeypatch, anchors, mixed=0.3)
    assert tried.count("fold") == runs
    assert settled.use == "yes"
    assert bool(settled.mixture) == (anchors >= 200), "few anchors cannot tell weights apart"
    assert (settled.turns == 1) == (anchors >= 200)


@pytest.mark.parametrize("anchors", [70, 210])
@pytest.mark.parametrize(("small", "runs"), [(20_000, 3), (500, 1)])
def test_large_networks_are_tried_on_one_fold_where_it_is_clear(monkeypatch, anchors, small, runs):
    monkeypatch.setattr(settling, "_SMALL", small)
    settled, tried = settle_with_ranks(monkeypatch, anchors, mixed=0.3)
    assert tried.count("fold") == runs
    assert settled.use == "yes"


def test_large_networks_are_tried_on_more_folds_while_it_is_not_clear(monkeypatch):
    monkeypatch.setattr(settling, "_SMALL", 500)
    settled, tried = settle_with_ranks(monkeypatch, 210, mixed=0.15, spread=0.65)
    assert tried.count("fold") == 3, "0.1 gained; two standard errors are 0.16 at 70 anchors, 0.11 at 140, 0.09 at 210"
    assert settled.use == "yes"


def test_a_gain_has_to_be_worth_its_cost(monkeypatch):
    assert settle_with_ranks(monkeypatch, 900, mixed=0.109)[0].use == "no", "0.1 by evidence"
    assert settle_with_ranks(monkeypatch, 900, mixed=0.112)[0].use == "yes"
    monkeypatch.setattr(settling, "_SMALL", 500)
    assert settle_with_ranks(monkeypatch, 900, mixed=0.112)[0].use == "no", (
        "four times as many accounts, twice the gain"
    )
    assert settle_with_ranks(monkeypatch, 900, mixed=0.121)[0].use == "yes"


@pytest.mark.parametrize(("prior", "turns"), [(0.1, 0), (0.2, 1)])
def test_a_mixture_goes_without_the_prior_where_that_gains_nothing(monkeypatch, prior, turns):
    settled, tried = settle_with_ranks(monkeypatch, 900, mixed=0.3, prior=prior)
    assert len(settled.mixture) == 6
    assert settled.turns == turns
    assert tried[-1] == f"fitted at {prior}", "it learns from what it will weigh"


def test_a_promise_need_not_be_certain(monkeypatch):
    settled, tried = settle_with_ranks(monkeypatch, 210, mixed=0.15, promise_spread=0.9)
    assert tried.count("fold") == 3, "0.05 promised, give or take 0.11"
    assert settled.use == "yes"


def test_near_accounts_are_searched_for_once_a_trial(monkeypatch):
    """Three folds, and with the prior heard each of them anew where the mixture weighs it."""
    searched = []
    search = settling.near_ones
    monkeypatch.setattr(settling, "near_ones", lambda *a: searched.append(id(a[1])) or search(*a))
    problem, _ = few_common_edges(210)
    settled = settle(problem, resolve(assignments=[*QUICK, "pairing.enough=1"]), 0)
    assert settled.pairing.mixture
    assert len(searched) == 3 * (1 + settled.pairing.turns)


def test_most_of_very_many_anchors_stay_in_a_trial():
    problem = planted(1, 3000)
    folds = settling._folds(replace(problem, anchors=np.column_stack([np.arange(3000)] * 2)), 0)
    assert [len(fold) for fold in folds] == [600] * 3
    assert len(np.unique(np.concatenate(folds))) == 1800


def test_a_mixture_that_promises_less_than_the_prior_keeps_is_not_tried(monkeypatch):
    settled, tried = settle_with_ranks(monkeypatch, 900, mixed=0.15)
    assert settled.use == "yes"
    assert settled.mixture == ()
    assert tried.count("mixture") == 1, "the first look alone"


@pytest.mark.parametrize(
    ("settings", "turns"),
    [
        (["pairing.use=yes"], 3),
        (["pairing.use=yes", "pairing.turns=0", "pairing.mixture=[1, 1, 1, 1, 1, 1]"], 1),
        (["pairing.use=no"], 0),
        (["pairing.use=yes", "pairing.vectors=mgcn"], 0),
    ],
)
def test_what_turns_cost_is_told_where_it_is_much(monkeypatch, settings, turns):
    """Six runs of so many turns; a mixture alone searches once too; training is told of by its own progress."""
    said = []
    listener = Silent()
    listener.note = said.append
    config = resolve(assignments=["method=kedge", "pairing.vectors=sketch", *settings])
    matching._tell_turns(planted(30), config, 30, listener)
    assert said == [], "small networks take seconds"
    monkeypatch.setattr(check, "_TURN_PER_ACCOUNT", 1.0)
    matching._tell_turns(planted(30), config, 30, listener)
    assert bool(said) == bool(turns)
    if turns:
        found = re.fullmatch(r"embeddings are used: the rest will take roughly ([\d,]+) CPU seconds and .* MB", said[0])
        seconds = float(found[1].replace(",", ""))
        assert seconds == pytest.approx(6 * turns * 240, rel=0.02)
