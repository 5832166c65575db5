"""The plan of an embedding: the parts of a network, the job of each, and the first vectors of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from kedge.config import AUTO, Config
from kedge.context import digest, spawn_seeds
from kedge.embedding.part import PartJob, hyperedges, key_of
from kedge.embedding.sketch import first_vectors
from kedge.hypergraph.profiles import rare_values
from kedge.linalg import sketch_network
from kedge.partition import part_adjacency, partition
from kedge.types import FloatArray, Hypergraph, IntArray, KedgeError, Network, Parts


@dataclass(frozen=True)
class Source:
    """A network to embed, its anchored accounts, its seed, and its name for people.

    A network with a hypergraph of its own is embedded whole, since hyperedges may join any of its accounts.
    """

    network: Network
    anchors: IntArray
    seed: int
    name: str = "the network"
    hypergraph: Hypergraph | None = None
    features: FloatArray | None = None  # [n, f], for `mgcn.start = given`
    shared_values: Hypergraph | None = None  # for hyperedges of profiles


@dataclass(frozen=True)
class Plan:
    """The parts of one network: accounts, jobs and keys, notes, and the sketch that all begin from."""

    source: Source
    parts: Parts
    accounts: tuple[IntArray, ...]
    jobs: tuple[PartJob, ...]
    keys: tuple[str, ...]
    notes: tuple[str, ...]
    sketch: FloatArray | None


def key_of_network(source: Source, config: Config) -> str:
    """All that a network's vectors depend on; anchors only where they are used."""
    A = source.network.adjacency
    used = uses_anchors(config) or config.partition.anchors_first
    stages = (config.mgcn, config.hypergraph, config.partition)
    settings = ["network", *(stage.model_dump(mode="json") for stage in stages), source.seed]
    known = np.sort(source.anchors) if used else np.empty(0, np.int64)
    features = () if source.features is None else (source.features,)
    given = (*hyperedges(source.hypergraph), *hyperedges(source.shared_values), *features)
    return digest(settings, A.indptr, A.indices, A.data, known, *given)


def make_plan(source: Source, config: Config) -> Plan:
    """Algorithm 1, and a job for each part; the same every time, so that a part is found again by its key."""
    network, name = source.network, source.name
    if source.hypergraph is None:
        parts, exceptions = partition(network, config.partition, source.seed, source.anchors)
    else:
        parts, exceptions = Parts(np.zeros(network.n, np.int64), np.empty(0, np.int64)), ()
    notes = [f"{name}: {note}" for note in exceptions]
    pieces: list[tuple[IntArray, csr_array]] = [(np.arange(network.n), network.adjacency)]
    seeds, labels = [source.seed], [name]
    sketch = first = None
    if parts.count > 1:
        pieces = [part_adjacency(network, parts, p, config.partition, source.anchors) for p in range(parts.count)]
        seeds = spawn_seeds(source.seed, parts.count)
        labels = [f"part {p + 1} of {name}" for p in range(parts.count)]
        if config.partition.shared_by == "border":
            sketch = sketch_network(network, config.mgcn.dimensions, config.partition.sketch_steps, source.seed)
            first = first_vectors(sketch, config.partition.sketch_length, source.seed)
    values = None if source.shared_values is None else rare_values(source.shared_values, config.hypergraph)
    jobs = []
    for (accounts, adjacency), seed, label in zip(pieces, seeds, labels, strict=True):
        known = np.flatnonzero(np.isin(accounts, source.anchors)) if uses_anchors(config) else np.empty(0, np.int64)
        job = PartJob(adjacency, config, seed, known, label, source.hypergraph)
        if uses_anchors(config) and len(known) == 0 and parts.count > 1:
            notes.append(f"{label} holds no anchors: its hyperedges are around all its accounts")
            job = replace(job, config=_around_all(config))
        if values is not None:
            job = replace(job, shared_values=Hypergraph(csr_array(values.H[accounts])))
        if first is not None:
            job = _begin_from(job, first[accounts])
        jobs.append(job if source.features is None else replace(job, features=source.features[accounts]))
    keys = tuple(key_of(job) for job in jobs)
    return Plan(source, parts, tuple(accounts for accounts, _ in pieces), tuple(jobs), keys, tuple(notes), sketch)


def _begin_from(job: PartJob, first: FloatArray) -> PartJob:
    """The job with these first vectors; they contain every edge, so none can be held out to decide when to stop."""
    if job.config.mgcn.start != "free":
        return job
    all_edges = job.config.mgcn.model_copy(update={"held_out": 0.0})
    return replace(job, first=first, config=job.config.model_copy(update={"mgcn": all_edges}))


def _around_all(config: Config) -> Config:
    """The configuration with hyperedges around all accounts in place of those around anchored ones."""
    parts = [part.replace("anchor", "neighbourhood") for part in config.hypergraph.builders.split("+")]
    drawn = config.hypergraph.model_copy(update={"builders": "+".join(dict.fromkeys(parts))})
    return config.model_copy(update={"hypergraph": drawn})


def check_features(features: Any, n: int) -> FloatArray:
    """The features as float32 [n, f], or one line on what is wrong with them."""
    with np.errstate(over="ignore"):  # refused below
        array = np.asarray(features, np.float32)
    if array.ndim != 2 or array.shape[0] != n or array.shape[1] == 0:
        raise KedgeError(f"features have shape {list(array.shape)}", remedy=f"give one row for each of {n:,} accounts")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise KedgeError(f"features of account {row} hold NaN or infinity", remedy="fill them in, e.g. with 0")
    return array


def uses_anchors(config: Config) -> bool:
    """Whether hyperedges are drawn around anchored accounts."""
    return bool({"anchor", AUTO} & set(config.hypergraph.names))


def describe(plan: Plan) -> str:
    """How a network is cut, for people."""
    sizes = np.bincount(plan.parts.part)
    cut = f"{plan.source.name} is cut into {len(sizes):,} parts of {sizes.min():,} to {sizes.max():,} accounts"
    if plan.sketch is None:
        return f"{cut}, {len(plan.parts.shared):,} accounts are in all of them"
    halo = sum(len(accounts) for accounts in plan.accounts) - plan.source.network.n
    return f"{cut}, begun from one sketch, with {halo:,} halo accounts from other parts"
