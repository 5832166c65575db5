"""Profiles as a prior: exact where evidence looks, usual elsewhere, and never worse than structure alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from kedge import synthetic
from kedge.config import Config, EvidenceConfig, ProfileConfig
from kedge.context import RunContext
from kedge.evidence import FORMS, choose_profile_weight, profile_prior, terms
from kedge.evidence.profile_prior import ProfilePrior, pairs_of
from kedge.evidence.ranking import ranking_scores
from kedge.linalg import entries_at, reciprocal_ranks, with_data
from kedge.types import IntArray, Problem, Profiles

PAIR = synthetic.planted(300, 300, 240, 900, 900, overlap=0.6, seed=3)
TRAIN, TEST = synthetic.split(PAIR.anchors, 0.2, seed=0)


def _with_city(problem: Problem, agrees: float, truth: IntArray, seed: int = 0) -> Problem:
    """Each person has one of 20 cities; the right account has it too in so many of the pairs."""
    rng = np.random.default_rng(seed)
    cities = [rng.integers(0, 20, side.n) for side in (problem.left, problem.right)]
    same = rng.random(len(truth)) < agrees
    cities[1][truth[same, 1]] = cities[0][truth[same, 0]]
    tables = [pa.table({"city": pa.array([f"c{c}" for c in side], pa.large_string())}) for side in cities]
    return replace(problem, profiles=(Profiles(tables[0]), Profiles(tables[1])))


STRUCTURE = Problem(PAIR.left, PAIR.right, TRAIN)
HELPFUL = _with_city(STRUCTURE, 0.9, PAIR.anchors)


def _ranks(problem: Problem, form: str, weight: float) -> float:
    config = Config(profiles=ProfileConfig(weight=weight))
    found = FORMS[form](problem, config.evidence, profiles=profile_prior(problem, config))
    return float(reciprocal_ranks(ranking_scores(found), TEST).mean())


@pytest.mark.parametrize("form", FORMS)
def test_a_field_that_agrees_helps_both_forms(form: str) -> None:
    assert _ranks(HELPFUL, form, 1.0) > _ranks(HELPFUL, form, 0.0) + 0.1
    assert _ranks(HELPFUL, form, 0.0) == _ranks(STRUCTURE, form, 1.0)


def test_the_log_odds_of_every_candidate_hold_its_exact_profile_evidence() -> None:
    config = Config()
    known = profile_prior(HELPFUL, config)
    found = FORMS["sparse"](HELPFUL, config.evidence, profiles=known)
    pairs = pairs_of(found.log_odds)[:200]
    assert np.allclose(entries_at(found.prior, pairs), known.exact(pairs), atol=1e-4)
    for u, v in pairs[:20]:
        added = sum(term.weight for term in terms(HELPFUL, found, u, v)) + found.prior[u, v]
        assert added == pytest.approx(found.log_odds[u, v], abs=1e-3)


def test_numbering_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    known = profile_prior(HELPFUL, Config())
    plain = FORMS["sparse"](HELPFUL, EvidenceConfig(), profiles=known)
    monkeypatch.setattr("kedge.evidence.propagate._CACHED", 0)
    moved = FORMS["sparse"](HELPFUL, EvidenceConfig(), profiles=known)
    assert np.allclose(ranking_scores(plain).toarray(), ranking_scores(moved).toarray(), atol=1e-6)
    assert np.allclose(plain.prior.toarray(), moved.prior.toarray(), atol=1e-6)


class _Notes:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)

    def stage(self, name: str, done: bool = False) -> None: ...

    def advance(self, done: float, total: float | None, detail: str = "") -> None: ...


def _chosen(problem: Problem) -> tuple[float | None, list[str]]:
    notes = _Notes()
    config = Config(evidence=EvidenceConfig(form="sparse"))
    return choose_profile_weight(problem, config, RunContext(progress=notes)).profiles.weight, notes.lines


def test_validation_anchors_choose_what_profiles_count(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, (note,) = _chosen(HELPFUL)
    assert weight in (0.5, 1.0, 2.0)
    assert note.startswith("profiles count: validation anchors have a log-likelihood of")

    def reversed_prior(problem: Problem, config: Config) -> ProfilePrior | None:
        """Agreement as evidence against a pair, as no anchors would teach it."""
        known = profile_prior(problem, config)
        if known is None:
            return None
        data = with_data(known.beyond, -known.beyond.data)
        return ProfilePrior(data, -known.left, known.right, lambda pairs: -known.exact(pairs))

    monkeypatch.setattr("kedge.evidence.profile_weight.profile_prior", reversed_prior)
    weight, (note,) = _chosen(HELPFUL)
    assert weight == 0
    assert note.startswith("profiles count nothing beside structure")


def test_few_anchors_never_count_profiles_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float | None] = []

    def noted(problem: Problem, config: Config) -> ProfilePrior | None:
        tried.append(config.profiles.weight)
        return profile_prior(problem, config)

    monkeypatch.setattr("kedge.evidence.profile_weight.profile_prior", noted)
    _chosen(HELPFUL)
    assert set(tried) == {2.0, 1.0, 0.5, 0.0}
    tried.clear()
    _chosen(replace(HELPFUL, anchors=HELPFUL.anchors[:12]))
    assert set(tried) == {1.0, 0.5, 0.0}


def test_what_is_stated_is_not_chosen() -> None:
    assert choose_profile_weight(STRUCTURE, Config(), RunContext()).profiles.weight is None
    fixed = Config(profiles=ProfileConfig(weight=0.7))
    assert choose_profile_weight(HELPFUL, fixed, RunContext()) is fixed


def test_profiles_without_a_common_field_are_structure_alone() -> None:
    sides = [Profiles(pa.table({name: ["x"] * 300})) for name in ("one", "other")]
    apart = replace(STRUCTURE, profiles=(sides[0], sides[1]))
    assert _chosen(apart) == (0.0, [])
    assert profile_prior(apart, Config()) is None


def test_a_field_without_meaning_costs_nothing() -> None:
    meaningless = _with_city(STRUCTURE, 0.0, PAIR.anchors)
    assert _ranks(meaningless, "sparse", 1.0) > _ranks(STRUCTURE, "sparse", 1.0) - 0.02
