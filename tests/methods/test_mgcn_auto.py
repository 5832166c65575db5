"""`hypergraph.builders = auto` where both networks are placed at once: validation anchors choose, within the bound."""

from __future__ import annotations

from kedge_problems import planted

from kedge.config import Config, resolve
from kedge.context import Noting, RunContext, Silent
from kedge.methods import METHODS

MGCN = METHODS["mgcn"]


def config(*assignments: str) -> Config:
    return resolve(assignments=["method=mgcn", "hypergraph.builders=auto", "shared.rounds=1", *assignments])


def test_validation_anchors_choose_what_joins_the_neighbourhood_and_the_trials_are_reported() -> None:
    problem, progress = planted(80), Noting(Silent())
    context = RunContext(progress=progress)
    chosen = MGCN.choose_settings(problem, config("hypergraph.trials=3"), context)
    assert chosen.hypergraph.names[0] == "neighbourhood"
    assert MGCN.trains_vectors(config())
    assert not MGCN.trains_vectors(chosen)
    (facts,) = MGCN.prepare(problem, config("hypergraph.trials=3"), context)["training"]["builders"].values()
    assert facts["chosen"] == chosen.hypergraph.builders
    assert facts["on"] == "40 of 80 anchors"
    assert [one["builders"] for one in facts["trials"]][:2] == ["neighbourhood", "neighbourhood+nearest"]
    assert len(facts["trials"]) == 3
    assert len([note for note in progress.notes if "chosen by mean reciprocal rank" in note]) == 1, "chosen once"


def test_too_few_anchors_choose_nothing() -> None:
    context = RunContext()
    assert MGCN.choose_settings(planted(59), config(), context).hypergraph.builders == "neighbourhood"
    assert MGCN.prepare(planted(59), config(), context)["training"]["builders"]["both networks"]["trials"] == []
