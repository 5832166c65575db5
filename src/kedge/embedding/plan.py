"""How a network is to be embedded: its parts, what each is trained on, and what all of them begin from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.embedding.part import PartJob, digest, hyperedges, key_of
from kedge.embedding.sketch import first_vectors, sketch_network
from kedge.partition import part_adjacency, partition
from kedge.types import FloatArray, Hypergraph, IntArray, Network, Parts

__all__ = ["Plan", "Source", "describe", "key_of_network", "looks_at_anchors", "make_plan"]


@dataclass(frozen=True)
class Source:
    """A network to embed, its anchored accounts, where its randomness starts, and its name for people.

    A network with a hypergraph of its own is embedded whole, since hyperedges may join any of its accounts.
    """

    network: Network
    anchors: IntArray
    seed: int
    name: str = "the network"
    hypergraph: Hypergraph | None = None


@dataclass(frozen=True)
class Plan:
    """How one network is to be embedded: its parts' accounts and jobs, the key of each, and what all begin from."""

    source: Source
    parts: Parts
    accounts: tuple[IntArray, ...]
    jobs: tuple[PartJob, ...]
    keys: tuple[str, ...]
    notes: tuple[str, ...]
    sketch: FloatArray | None


def key_of_network(source: Source, config: Config) -> str:
    """All that a network's vectors depend on; anchors only where something looks at them."""
    A = source.network.adjacency
    used = looks_at_anchors(config) or config.partition.anchors_first
    stages = (config.mgcn, config.hypergraph, config.partition)
    settings = ["network", *(stage.model_dump(mode="json") for stage in stages), source.seed]
    known = np.sort(source.anchors) if used else np.empty(0, np.int64)
    return digest(settings, A.indptr, A.indices, A.data, known, *hyperedges(source.hypergraph))


def make_plan(source: Source, config: Config) -> Plan:
    """Algorithm 1, and a job for each part; the same every time, so that a part is found again by its key."""
    network, name = source.network, source.name
    if source.hypergraph is None:
        parts, said = partition(network, config.partition, source.seed, source.anchors)
    else:
        parts, said = Parts(np.zeros(network.n, np.int64), np.empty(0, np.int64)), ()
    notes = [f"{name}: {note}" for note in said]
    pieces: list[tuple[IntArray, csr_array]] = [(np.arange(network.n), network.adjacency)]
    seeds = [source.seed]
    sketch = None
    if parts.count > 1:
        pieces = [part_adjacency(network, parts, p, config.partition, source.anchors) for p in range(parts.count)]
        seeds = [int(s) for s in np.random.SeedSequence(source.seed).generate_state(parts.count)]
    jobs = []
    for p, (accounts, adjacency) in enumerate(pieces):
        label = name if parts.count <= 1 else f"part {p + 1} of {name}"
        inside = np.flatnonzero(np.isin(accounts, source.anchors))
        jobs.append(_job(adjacency, config, seeds[p], inside, label, parts.count > 1, notes))
    if source.hypergraph is not None:
        jobs = [replace(jobs[0], hypergraph=source.hypergraph)]
    if parts.count > 1 and config.partition.shared_by == "border":
        sketch = sketch_network(network, config.mgcn.dimensions, config.partition.sketch_steps, source.seed)
        first = first_vectors(sketch, config.partition.sketch_length, source.seed)
        jobs = [_begun(job, first[accounts]) for job, (accounts, _) in zip(jobs, pieces, strict=True)]
    keys = tuple(key_of(job) for job in jobs)
    return Plan(source, parts, tuple(accounts for accounts, _ in pieces), tuple(jobs), keys, tuple(notes), sketch)


def _begun(job: PartJob, first: FloatArray) -> PartJob:
    """The job from these vectors on; they have seen every edge, so none can be left out to tell when to stop."""
    if job.config.mgcn.start != "free":
        return job
    all_edges = job.config.mgcn.model_copy(update={"held_out": 0.0})
    return replace(job, first=first, config=job.config.model_copy(update={"mgcn": all_edges}))


def _job(
    adjacency: csr_array, config: Config, seed: int, anchors: IntArray, label: str, one_of_many: bool, notes: list[str]
) -> PartJob:
    """A part's job; one of many parts without anchors has hyperedges around every account instead."""
    if not looks_at_anchors(config):
        return PartJob(adjacency, config, seed, np.empty(0, np.int64), label)
    if len(anchors) == 0 and one_of_many:
        notes.append(f"{label} holds no anchors: its hyperedges stand around all its accounts")
        names = ["neighbourhood" if name == "anchor" else name for name in config.hypergraph.builders.split("+")]
        drawn = config.hypergraph.model_copy(update={"builders": "+".join(dict.fromkeys(names))})
        config = config.model_copy(update={"hypergraph": drawn})
    return PartJob(adjacency, config, seed, anchors, label)


def looks_at_anchors(config: Config) -> bool:
    """Whether hyperedges are drawn around anchored accounts."""
    return "anchor" in config.hypergraph.builders.split("+")


def describe(plan: Plan) -> str:
    """How a network is cut, for people."""
    sizes = np.bincount(plan.parts.part)
    cut = f"{plan.source.name} is cut into {len(sizes):,} parts of {sizes.min():,} to {sizes.max():,} accounts"
    if plan.sketch is None:
        return f"{cut}, {len(plan.parts.shared):,} accounts stand in all of them"
    guests = sum(len(accounts) for accounts in plan.accounts) - plan.source.network.n
    return f"{cut}, begun from one sketch, with {guests:,} guests from other parts"
