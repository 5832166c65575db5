"""`hypergraph.builders = auto`: chosen once for a network by held-out edges, the same every time, and reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import communities

from kedge.config import Config, resolve
from kedge.context import Noting, RunContext, Silent
from kedge.embedding import auto
from kedge.embedding.auto import CANDIDATES, resolve_builders
from kedge.embedding.network import NetworkVectors, embed_network
from kedge.embedding.part import PartFit, PartJob
from kedge.embedding.plan import Source, make_plan
from kedge.hypergraph import BUILDERS
from kedge.types import Hypergraph, Network

NO_ANCHORS = np.empty(0, np.int64)
SETTINGS = (
    "hypergraph.builders=auto hypergraph.trials=4 hypergraph.trial_steps=20 mgcn.dimensions=8 mgcn.steps=20 "
    "mgcn.release=0 mgcn.pool=64 engine.name=serial"
).split()


def config(*assignments: str) -> Config:
    return resolve(assignments=[*SETTINGS, *assignments])


@pytest.fixture(scope="module")
def network() -> Network:
    return communities(240, 6, 0.25, 0.01, 0)


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[PartJob]:
    """The jobs of all trials, which are not trained: nearest is the best, communities add to it."""
    jobs: list[PartJob] = []
    figures = {"nearest": 0.9, "nearest+communities": 0.95}

    def train(job: PartJob) -> PartFit:
        jobs.append(job)
        found = figures.get(job.config.hypergraph.builders, 0.5)
        return PartFit(np.zeros((job.adjacency.shape[0], 8)), np.zeros(1), 1.0, found, 1)

    monkeypatch.setattr(auto, "train_alone", train)
    return jobs


def names(jobs: list[PartJob]) -> list[str]:
    return [job.config.hypergraph.builders for job in jobs]


def test_every_candidate_is_a_builder() -> None:
    assert {name.partition(":")[0] for name in CANDIDATES} == set(BUILDERS)


def test_a_trial_is_short_and_holds_edges_out_even_where_matching_would_not(network: Network, trials: Any) -> None:
    resolve_builders(Source(network, NO_ANCHORS, 0), config("mgcn.stop=never", "mgcn.steps=300"), RunContext())
    for job in trials:
        settings = job.config.mgcn
        assert (settings.stop, settings.steps, settings.release) == ("edges", 20, 0)
        assert settings.held_out > 0


def test_what_needs_anchors_or_profiles_is_tried_only_with_them(network: Network, trials: Any) -> None:
    many = config("hypergraph.trials=40")
    resolve_builders(Source(network, NO_ANCHORS, 0), many, RunContext())
    assert not {"anchor", "profiles"} & set(names(trials))
    values = Hypergraph(BUILDERS["communities"].build(network, many.hypergraph).H)
    resolve_builders(Source(network, np.arange(9), 0, shared_values=values), many, RunContext())
    assert {"anchor", "profiles"} <= set(names(trials))


def test_the_choice_is_within_its_bound_cached_and_stated(network: Network, trials: Any) -> None:
    progress = Noting(Silent())
    context = RunContext(progress=progress)
    given = config("hypergraph.trials=11")
    chosen, choice = resolve_builders(Source(network, NO_ANCHORS, 0, "it"), given, context)
    assert choice is not None
    assert chosen.hypergraph.builders == choice.builders == "nearest+communities"
    assert len(trials) == len(choice.trials) <= 11
    assert progress.notes[0].startswith("it: hyperedges of nearest+communities, chosen by AUC on held-out edges")
    assert "nearest 0.9000" in progress.notes[0]
    resolve_builders(Source(network, NO_ANCHORS, 0, "it"), given, context)
    assert len(trials) == len(choice.trials), "a second time from the cache"


def test_named_builders_and_hyperedges_of_the_users_own_need_no_trial(network: Network, trials: Any) -> None:
    own = Source(network, NO_ANCHORS, 0, hypergraph=BUILDERS["communities"].build(network, config().hypergraph))
    assert resolve_builders(own, config(), RunContext())[1] is None
    named = config("hypergraph.builders=nearest")
    assert resolve_builders(Source(network, NO_ANCHORS, 0), named, RunContext()) == (named, None)
    assert not trials


def test_parts_share_one_choice_made_on_the_part_of_median_size(network: Network, trials: Any) -> None:
    source = Source(network, NO_ANCHORS, 0)
    cut, choice = resolve_builders(
        source, config("partition.n_max=90", "partition.n_min=20", "partition.shared=20"), RunContext()
    )
    plan = make_plan(source, cut)
    sizes = sorted(len(accounts) for accounts in plan.accounts)
    assert len(sizes) > 2
    assert {job.adjacency.shape[0] for job in trials} == {sizes[len(sizes) // 2]}
    assert all(job.first is None for job in trials), "a sketch of the whole network would contain the held-out edges"
    assert choice is not None
    assert {job.config.hypergraph.builders for job in plan.jobs} == {choice.builders}


def test_a_whole_embedding_by_auto_is_the_same_every_time_and_as_by_the_builders_it_chose(network: Network) -> None:
    source = Source(network, NO_ANCHORS, 0)
    first, again = (embed_network(source, config()) for _ in range(2))
    assert first.choice is not None
    assert first.choice == again.choice
    assert np.array_equal(first.vectors, again.vectors)
    named = embed_network(source, config(f"hypergraph.builders={first.choice.builders}"))
    assert np.array_equal(first.vectors, named.vectors)
    assert NetworkVectors.from_entry(first.cache_entry()).choice == first.choice
