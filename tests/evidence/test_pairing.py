"""What is settled before kedge's own method runs: where embeddings are used, and what a mixture has to gain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kedge_problems import QUICK, few_common_edges, planted

from kedge.config import PairingConfig, resolve
from kedge.context.run_context import RunContext, Silent
from kedge.errors import KedgeError
from kedge.evidence import pairing as settings
from kedge.evidence.pairing import refinements_at_most
from kedge.evidence.ranking import Choices
from kedge.methods import METHODS
from kedge.methods import kedge as method
from kedge.types import Network, Problem


def listening() -> tuple[RunContext, list[str]]:
    """A context, and what it is told."""
    told: list[str] = []
    listener = Silent()
    listener.note = told.append  # type: ignore[method-assign, assignment]
    return RunContext(progress=listener), told


@pytest.mark.parametrize(("anchors", "most"), [(1, 8), (59, 8), (199, 8), (200, 1)])
def test_embeddings_are_used_without_asking_anybody(monkeypatch: pytest.MonkeyPatch, anchors: int, most: int) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("tried")

    monkeypatch.setattr(settings, "_try", refuse)
    settled = METHODS["kedge"].choose_settings(
        planted(anchors, 240), resolve(assignments=[*QUICK, "evidence.form=sparse"])
    )
    assert (settled.pairing.use, settled.pairing.refinements, settled.pairing.mixture) == ("yes", most, ())


def test_without_anchors_nothing_aligns_embeddings() -> None:
    assert METHODS["kedge"].choose_settings(planted(0), resolve(assignments=QUICK)).pairing.use == "no"


def test_the_dense_form_scores_every_pair_and_needs_no_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "vectors_of", lambda *_: pytest.fail("embedded"))
    config = resolve(assignments=[*QUICK, "evidence.form=dense"])
    assert METHODS["kedge"].choose_settings(planted(30), config).pairing.use == "no"
    METHODS["kedge"].align(planted(30), config)


@pytest.mark.parametrize(
    ("anchors", "vectors", "told_of"),
    [(30, "auto", True), (210, "auto", False), (30, "mgcn", False), (0, "auto", False)],
)
def test_networks_too_large_to_embed_are_noted_where_anchors_are_few(anchors: int, vectors: str, told_of: bool) -> None:
    """Not where they would be trained for hours."""
    context, told = listening()
    config = resolve(assignments=[*QUICK, "pairing.accounts=10", f"pairing.vectors={vectors}"])
    assert METHODS["kedge"].choose_settings(planted(anchors, 240), config, context).pairing.use == "no"
    expected = (
        f"{anchors} anchors are few for networks of this size: embeddings may find more, at more CPU, with "
        "--set pairing.use=yes"
    )
    assert told == [expected] * told_of


def test_many_edges_cost_as_much_as_many_accounts() -> None:
    problem = planted(30)
    crowded = replace(problem, right=Network.from_edges(np.argwhere(np.triu(np.ones((120, 120)), 1)), 120))
    edges = crowded.left.edges + crowded.right.edges
    for accounts, used in ((edges // 10 + 1, True), (edges // 10 - 1, False)):
        assert accounts > 240, "accounts alone would do"
        found = refinements_at_most(crowded.left, crowded.right, 30, PairingConfig(accounts=accounts))
        assert bool(found) == used


def test_large_networks_are_not_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_SMALL", 10)
    problem = planted(30)
    for vectors, used in (("mgcn", "no"), ("sketch", "yes")):
        settled = METHODS["kedge"].choose_settings(problem, resolve(assignments=[*QUICK, f"pairing.vectors={vectors}"]))
        assert settled.pairing.use == used


def test_large_networks_take_few_refinements_and_save_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = planted(30)
    assert METHODS["kedge"].align(problem, resolve(assignments=QUICK)).vectors is not None
    monkeypatch.setattr(settings, "_SMALL", 10)
    monkeypatch.setattr(method, "_KEPT", 10)
    settled = METHODS["kedge"].choose_settings(problem, resolve(assignments=QUICK))
    assert settled.pairing.use == "yes"
    assert settled.pairing.refinements == 3
    assert METHODS["kedge"].align(problem, settled).vectors is None


def test_fewer_refinements_than_usual_may_be_set() -> None:
    settled = METHODS["kedge"].choose_settings(planted(30), resolve(assignments=[*QUICK, "pairing.refinements=2"]))
    assert settled.pairing.refinements == 2


def test_what_is_chosen_is_not_chosen_again() -> None:
    problem = planted(30)
    once = METHODS["kedge"].choose_settings(problem, resolve(assignments=QUICK))
    assert once.pairing.use in ("yes", "no")
    assert METHODS["kedge"].choose_settings(problem, once) == once


def choose_with_ranks(
    monkeypatch: pytest.MonkeyPatch, gain: float, spread: float = 0.0, anchors: int = 210
) -> tuple[PairingConfig, int]:
    """What is chosen, and how many folds were tried, where validation anchors have reciprocal ranks that the test
    sets: 0.1 by evidence and embeddings, `gain` more where they are weighed anew, give or take `spread`."""
    asked = []

    def hold_back(_: Problem, held: Any, *__: Any) -> Any:
        asked.append(1)
        return Choices(held, np.zeros((len(held), 6)), held), np.full(len(held), 0.1)

    def mixed_ranks(choices: Any, _: Any) -> Any:
        count = sum(len(one.held) for one in choices)
        return 0.1 + gain + spread * np.resize([1.0, -1.0], count)

    monkeypatch.setattr(settings, "_try", hold_back)
    monkeypatch.setattr(settings, "_mixed_ranks", mixed_ranks)
    monkeypatch.setattr(settings, "fit_mixture", lambda choices: (float(len(choices)),) * 6)
    monkeypatch.setattr(settings, "common_edges", lambda _: (10, 100, 50))
    same = np.column_stack([np.arange(anchors)] * 2)
    ring = Network.from_edges([(i, (i + 1) % 1000) for i in range(1000)], 1000)
    settled = METHODS["kedge"].choose_settings(
        Problem(ring, ring, same), resolve(assignments=[*QUICK, "evidence.form=sparse"])
    )
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
def test_a_mixture_is_asked_for_until_it_gains_clearly_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, gain: float, spread: float, asked: int, weighed: bool
) -> None:
    pairing, folds = choose_with_ranks(monkeypatch, gain, spread)
    assert folds == asked
    assert pairing.mixture == ((float(asked),) * 6 if weighed else ()), "it learns from all that it asked"
    assert (pairing.use, pairing.refinements) == ("yes", 1), "embeddings are used in any case"


def test_few_anchors_do_not_determine_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_with_ranks(monkeypatch, 0.5, anchors=199) == (
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
def test_a_mixture_is_tried_where_neither_network_has_half_of_the_edges_of_the_other(
    monkeypatch: pytest.MonkeyPatch, edges: Any, asked: bool
) -> None:
    tried = []
    monkeypatch.setattr(settings, "_with_mixture", lambda problem, config, *_: tried.append(1) or config)
    monkeypatch.setattr(settings, "common_edges", lambda _: edges)
    METHODS["kedge"].choose_settings(planted(200, 240), resolve(assignments=[*QUICK, "evidence.form=sparse"]))
    assert bool(tried) == asked


@pytest.mark.parametrize("weights", [(), (1.0,) * 6])
def test_the_dense_form_uses_embeddings_in_a_mixture_alone(monkeypatch: pytest.MonkeyPatch, weights: Any) -> None:
    monkeypatch.setattr(settings, "common_edges", lambda _: (10, 100, 50))
    mixed = settings.with_pairing
    monkeypatch.setattr(settings, "_with_mixture", lambda problem, config, *_: mixed(config, mixture=weights))
    settled = METHODS["kedge"].choose_settings(planted(200, 240), resolve(assignments=[*QUICK, "evidence.form=dense"]))
    assert settled.pairing.use == ("yes" if weights else "no")
    assert settled.pairing.mixture == weights


def test_where_training_fails_evidence_alone_is_used_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise KedgeError("the loss is not finite")

    monkeypatch.setattr(settings, "vectors_of", refuse)
    context, told = listening()
    settled = METHODS["kedge"].choose_settings(
        planted(30), resolve(assignments=[*QUICK, "pairing.vectors=mgcn"]), context
    )
    assert settled.pairing.use == "no"
    assert told == ["evidence alone is used: the loss is not finite"]


def test_what_a_mixture_gains_is_noted() -> None:
    problem, _ = few_common_edges(210)
    context, told = listening()
    settled = METHODS["kedge"].choose_settings(problem, resolve(assignments=QUICK), context)
    assert len(settled.pairing.mixture) == 6
    (note,) = told
    assert note.startswith(
        "the networks have few edges in common: validation anchors have a mean reciprocal rank of 0."
    )
    assert note.endswith("they are weighed anew")


def test_validation_anchors_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = few_common_edges(210)
    heard = []
    ask = settings.signals_of_candidates
    monkeypatch.setattr(
        settings, "signals_of_candidates", lambda trial, *more: heard.append(trial) or ask(trial, *more)
    )
    trial, held = problem.hold_out(np.arange(70))
    config = resolve(assignments=[*QUICK, "pairing.use=yes", "pairing.refinements=1", "evidence.form=sparse"])
    choices, ranks = settings._try(trial, held, settings.with_vectors(problem, config), RunContext())
    np.testing.assert_array_equal(choices.held, problem.anchors[:70])
    np.testing.assert_array_equal(heard[0].anchors, problem.anchors[70:])
    assert len(ranks) == 70
    assert 0 < ranks.mean() < 1


def test_most_of_very_many_anchors_stay_in_a_trial() -> None:
    problem = replace(planted(1, 3000), anchors=np.column_stack([np.arange(3000)] * 2))
    folds = list(problem.folds(3, 0, 1800))
    assert [(len(trial.anchors), len(held)) for trial, held in folds] == [(2400, 600)] * 3
    assert len(np.unique(np.concatenate([held for _, held in folds]), axis=0)) == 1800
