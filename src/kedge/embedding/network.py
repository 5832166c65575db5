"""Whole networks: cut where they are larger than one part, trained part by part, laid together.

    plan (Algorithm 1, shared accounts) -> train parts (Eq. 1-10) -> one space (Eq. 12) -> boundary refinement

The parts of all networks go to the engine together, the largest first, so that no core waits for a network's last
part. Every part is put on the shelf as soon as it is trained, and the finished network in its parts' place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.embedding.boundary import refine_boundary
from kedge.embedding.part import PartFit, PartJob, digest, hyperedges, key_of, megabytes, train_alone, train_part
from kedge.engine import make_engine, refuse_too_large
from kedge.errors import KedgeError
from kedge.partition import part_adjacency, partition
from kedge.reconcile.parts import PartVectors, reconcile_parts
from kedge.types import FloatArray, Hypergraph, IntArray, Network, Parts
from kedge.workshop import Piece, Shelf, Workshop

__all__ = ["NetworkVectors", "Source", "embed_network", "embed_networks", "recall_networks"]


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
class NetworkVectors:
    """Vectors [n, d] of a whole network, its parts, how well each fits the others and was trained, and notes.

    `losses` has a curve a part, `trivial` the loss of saying nothing, `auc` the judgement on edges left out (None where
    none were), `steps` what each part's vectors took, `hyperedges` what they were like.
    """

    vectors: FloatArray
    parts: Parts
    residuals: FloatArray
    losses: tuple[FloatArray, ...]
    trivial: float
    auc: tuple[float | None, ...]
    steps: tuple[int, ...]
    hyperedges: tuple[Mapping[str, Any] | None, ...]
    notes: tuple[str, ...]

    def piece(self) -> Piece:
        """As it is kept."""
        arrays = {"vectors": self.vectors, "part": np.asarray(self.parts.part), "shared": np.asarray(self.parts.shared)}
        arrays |= {"residuals": self.residuals, "ends": np.cumsum([len(curve) for curve in self.losses])}
        arrays["losses"] = np.concatenate(self.losses)
        facts: dict[str, Any] = {
            "trivial": self.trivial,
            "auc": list(self.auc),
            "steps": list(self.steps),
            "notes": list(self.notes),
        }
        facts["hyperedges"] = [None if said is None else dict(said) for said in self.hyperedges]
        return Piece(arrays, facts)

    @staticmethod
    def of(piece: Piece) -> NetworkVectors:
        """As it was kept."""
        held, facts = piece.arrays, piece.facts
        return NetworkVectors(
            held["vectors"],
            Parts(held["part"], held["shared"]),
            held["residuals"],
            tuple(np.split(held["losses"], held["ends"][:-1])),
            facts["trivial"],
            tuple(facts["auc"]),
            tuple(facts["steps"]),
            tuple(facts["hyperedges"]),
            tuple(facts["notes"]),
        )


@dataclass(frozen=True)
class _Plan:
    """How one network is to be embedded: its parts' accounts and jobs, and the key of each job."""

    source: Source
    parts: Parts
    accounts: tuple[IntArray, ...]
    jobs: tuple[PartJob, ...]
    keys: tuple[str, ...]
    notes: tuple[str, ...]


def embed_network(
    network: Network,
    config: Config,
    seed: int,
    anchors: IntArray,
    name: str = "the network",
    workshop: Workshop | None = None,
    hypergraph: Hypergraph | None = None,
) -> NetworkVectors:
    """MGCN on one network of any size; `anchors` are its anchored accounts."""
    return embed_networks([Source(network, anchors, seed, name, hypergraph)], config, workshop)[0]


def embed_networks(
    sources: Sequence[Source], config: Config, workshop: Workshop | None = None
) -> tuple[NetworkVectors, ...]:
    """MGCN on networks of any size; what lies on the workshop's shelf is not trained again."""
    workshop = workshop or Workshop()
    keys = [_key_of_network(source, config) for source in sources]
    made = {key: NetworkVectors.of(piece) for key in keys if (piece := workshop.shelf.get(key)) is not None}
    plans = {key: _plan(source, config) for key, source in zip(keys, sources, strict=True) if key not in made}
    for plan in plans.values():
        _describe(plan, workshop)
    fits = _train(list(plans.values()), config, workshop)
    for key, plan in plans.items():
        made[key] = _assemble(plan, [fits[part] for part in plan.keys], config)
        for note in made[key].notes[len(plan.notes) :]:
            workshop.progress.note(note)
        workshop.shelf.put(key, made[key].piece())
        workshop.shelf.drop(plan.keys)
    return tuple(made[key] for key in keys)


def recall_networks(sources: Sequence[Source], config: Config, shelf: Shelf) -> tuple[NetworkVectors, ...] | None:
    """The vectors as they lie on the shelf; None where one network's are missing, since nothing is trained here."""
    pieces = [shelf.get(_key_of_network(source, config)) for source in sources]
    found = tuple(NetworkVectors.of(piece) for piece in pieces if piece is not None)
    return found if len(found) == len(sources) else None


def _looks_at_anchors(config: Config) -> bool:
    return "anchor" in config.hypergraph.builders.split("+")


def _key_of_network(source: Source, config: Config) -> str:
    """All that a network's vectors depend on; anchors only where something looks at them."""
    A = source.network.adjacency
    used = _looks_at_anchors(config) or config.partition.anchors_first
    stages = (config.mgcn, config.hypergraph, config.partition)
    settings = ["network", *(stage.model_dump(mode="json") for stage in stages), source.seed]
    known = np.sort(source.anchors) if used else np.empty(0, np.int64)
    return digest(settings, A.indptr, A.indices, A.data, known, *hyperedges(source.hypergraph))


def _plan(source: Source, config: Config) -> _Plan:
    network, name = source.network, source.name
    if source.hypergraph is None:
        parts, said = partition(network, config.partition, source.seed, source.anchors)
    else:
        parts, said = Parts(np.zeros(network.n, np.int64), np.empty(0, np.int64)), ()
    notes = [f"{name}: {note}" for note in said]
    pieces: list[tuple[IntArray, csr_array]] = [(np.arange(network.n), network.adjacency)]
    seeds = [source.seed]
    if parts.count > 1:
        pieces = [part_adjacency(network, parts, p, config.partition) for p in range(parts.count)]
        seeds = [int(s) for s in np.random.SeedSequence(source.seed).generate_state(parts.count)]
    jobs = []
    for p, (accounts, adjacency) in enumerate(pieces):
        label = name if parts.count <= 1 else f"part {p + 1} of {name}"
        inside = np.flatnonzero(np.isin(accounts, source.anchors))
        jobs.append(_job(adjacency, config, seeds[p], inside, label, parts.count > 1, notes))
    if source.hypergraph is not None:
        jobs = [replace(jobs[0], hypergraph=source.hypergraph)]
    keys = tuple(key_of(job) for job in jobs)
    return _Plan(source, parts, tuple(accounts for accounts, _ in pieces), tuple(jobs), keys, tuple(notes))


def _job(
    adjacency: csr_array, config: Config, seed: int, anchors: IntArray, label: str, one_of_many: bool, notes: list[str]
) -> PartJob:
    """A part's job; one of many parts without anchors has hyperedges around every account instead."""
    if not _looks_at_anchors(config):
        return PartJob(adjacency, config, seed, np.empty(0, np.int64), label)
    if len(anchors) == 0 and one_of_many:
        notes.append(f"{label} holds no anchors: its hyperedges stand around all its accounts")
        names = ["neighbourhood" if name == "anchor" else name for name in config.hypergraph.builders.split("+")]
        drawn = config.hypergraph.model_copy(update={"builders": "+".join(dict.fromkeys(names))})
        config = config.model_copy(update={"hypergraph": drawn})
    return PartJob(adjacency, config, seed, anchors, label)


def _describe(plan: _Plan, workshop: Workshop) -> None:
    for note in plan.notes:
        workshop.progress.note(note)
    if plan.parts.count > 1:
        sizes = np.bincount(plan.parts.part)
        workshop.progress.note(
            f"{plan.source.name} is cut into {len(sizes):,} parts of {sizes.min():,} to {sizes.max():,} accounts, "
            f"{len(plan.parts.shared):,} accounts stand in all of them"
        )


def _train(plans: Sequence[_Plan], config: Config, workshop: Workshop) -> dict[str, PartFit]:
    """Every part's fit by its key: from the shelf, or trained now and put there."""
    shelf, progress = workshop.shelf, workshop.progress
    jobs = {key: job for plan in plans for key, job in zip(plan.keys, plan.jobs, strict=True)}
    fits = {key: PartFit.of(piece) for key in jobs if (piece := shelf.get(key)) is not None}
    if fits:
        progress.note(f"{len(fits):,} of {len(jobs):,} parts were trained before")
    waiting = sorted((key for key in jobs if key not in fits), key=lambda key: -jobs[key].adjacency.nnz)
    if not waiting:
        return fits
    needed = max(megabytes(jobs[key]) for key in waiting)
    results: Iterable[tuple[int, PartFit]]
    if all(plan.parts.count <= 1 for plan in plans):
        # A process of its own would cost more than it brings, and here every step can be told.
        refuse_too_large(config.engine, needed)
        results = ((i, _train_and_tell(jobs[key], len(fits), len(jobs), workshop)) for i, key in enumerate(waiting))
    else:
        engine = make_engine(config.engine, needed, progress.note)
        progress.advance(len(fits), len(jobs), "parts trained")
        results = engine.run(train_part, [jobs[key] for key in waiting])
    for place, fit in results:
        shelf.put(waiting[place], fit.piece())
        fits[waiting[place]] = fit
        progress.advance(len(fits), len(jobs), "parts trained")
    return fits


def _train_and_tell(job: PartJob, done: int, total: int, workshop: Workshop) -> PartFit:
    steps = job.config.mgcn.steps + job.config.mgcn.release

    def tell(step: int, loss: float, trivial: float) -> None:
        detail = f"{job.name}: loss {loss:.3f} (saying nothing: {trivial:.3f})"
        workshop.progress.advance(done + step / steps, total, detail)

    return train_alone(job, tell)


def _assemble(plan: _Plan, fits: Sequence[PartFit], config: Config) -> NetworkVectors:
    """Phase 1 (Eq. 12), then the edges between parts; refused where no part has learnt anything of its edges."""
    settings, network, parts = config.partition, plan.source.network, plan.parts
    collapsed = [(job.name, fit) for job, fit in zip(plan.jobs, fits, strict=True) if fit.collapsed]
    if len(collapsed) == len(fits):
        name, fit = collapsed[0]
        raise KedgeError(
            f"the embedding of {name} collapsed (loss {fit.losses[-1]:.3f}, saying nothing: {fit.trivial:.3f})",
            remedy="use the default preset, or mgcn.weighing=mean with mgcn.unit=true",
        )
    empty = tuple(f"{name} taught nothing (loss {fit.losses[-1]:.3f}): its vectors are 0" for name, fit in collapsed)
    learnt = [
        PartVectors(accounts, fit.vectors, np.diff(job.adjacency.indptr))
        for accounts, fit, job in zip(plan.accounts, fits, plan.jobs, strict=True)
    ]
    laid = reconcile_parts(learnt, parts.part, parts.shared, settings.reconcile)
    return NetworkVectors(
        vectors=refine_boundary(network, parts.part, laid.vectors, settings.boundary_steps),
        parts=parts,
        residuals=laid.residuals,
        losses=tuple(fit.losses for fit in fits),
        trivial=fits[0].trivial,
        auc=tuple(fit.auc for fit in fits),
        steps=tuple(fit.steps for fit in fits),
        hyperedges=tuple(fit.hyperedges for fit in fits),
        notes=(*plan.notes, *_said_of_hyperedges(plan, fits), *empty, *laid.notes),
    )


def _said_of_hyperedges(plan: _Plan, fits: Sequence[PartFit]) -> Iterator[str]:
    """Which parts have hyperedges that say nothing; a whole network's trainer has warned of that already."""
    if plan.parts.count > 1:
        for job, fit in zip(plan.jobs, fits, strict=True):
            if fit.hyperedges and fit.hyperedges["warning"]:
                yield f"{job.name}: {fit.hyperedges['warning']}"
