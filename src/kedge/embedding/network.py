"""Whole networks: cut where they are larger than one part, trained part by part, laid together.

    plan (Algorithm 1, sketch, guests) -> train parts (Eq. 1-10) -> one space (Eq. 12) -> boundary refinement

The parts of all networks go to the engine together, the largest first, so that no core waits for a network's last
part. Every part is put on the shelf as soon as it is trained, and the finished network in its parts' place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.config import Config
from kedge.embedding.boundary import refine_boundary
from kedge.embedding.part import PartFit, PartJob, megabytes, train_alone, train_part
from kedge.embedding.plan import Plan, Source, describe, key_of_network, make_plan
from kedge.embedding.sketch import put_beside
from kedge.engine import make_engine, refuse_too_large
from kedge.errors import KedgeError
from kedge.reconcile.parts import PartVectors, lay_on_sketch, reconcile_parts
from kedge.types import FloatArray, Hypergraph, IntArray, Network, Parts
from kedge.workshop import Piece, Shelf, Workshop

__all__ = ["NetworkVectors", "Source", "embed_network", "embed_networks", "recall_networks"]


@dataclass(frozen=True)
class NetworkVectors:
    """Vectors [n, d] of a whole network ([n, 2d] with its sketch beside), its parts, how well each fits
    the others and was trained, and notes.

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
    keys = [key_of_network(source, config) for source in sources]
    made = {key: NetworkVectors.of(piece) for key in keys if (piece := workshop.shelf.get(key)) is not None}
    plans = {key: make_plan(source, config) for key, source in zip(keys, sources, strict=True) if key not in made}
    for plan in plans.values():
        for note in (*plan.notes, *([describe(plan)] if plan.parts.count > 1 else [])):
            workshop.progress.note(note)
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
    pieces = [shelf.get(key_of_network(source, config)) for source in sources]
    found = tuple(NetworkVectors.of(piece) for piece in pieces if piece is not None)
    return found if len(found) == len(sources) else None


def _train(plans: Sequence[Plan], config: Config, workshop: Workshop) -> dict[str, PartFit]:
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
    settings = job.config.mgcn
    steps = settings.steps + (settings.release if settings.stop != "never" else 0)

    def tell(step: int, loss: float, trivial: float) -> None:
        detail = f"{job.name}: loss {loss:.3f} (saying nothing: {trivial:.3f})"
        workshop.progress.advance(done + step / steps, total, detail)

    return train_alone(job, tell)


def _assemble(plan: Plan, fits: Sequence[PartFit], config: Config) -> NetworkVectors:
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
    if plan.sketch is None:
        laid = reconcile_parts(learnt, parts.part, parts.shared, settings.reconcile)
    else:
        laid = lay_on_sketch(learnt, parts.part, plan.sketch, settings.reconcile)
    vectors = refine_boundary(network, parts.part, laid.vectors, settings.boundary_steps)
    if plan.sketch is not None and settings.beside:
        vectors = put_beside(plan.sketch, vectors, settings.beside)
    return NetworkVectors(
        vectors=vectors,
        parts=parts,
        residuals=laid.residuals,
        losses=tuple(fit.losses for fit in fits),
        trivial=fits[0].trivial,
        auc=tuple(fit.auc for fit in fits),
        steps=tuple(fit.steps for fit in fits),
        hyperedges=tuple(fit.hyperedges for fit in fits),
        notes=(*plan.notes, *_said_of_hyperedges(plan, fits), *empty, *laid.notes),
    )


def _said_of_hyperedges(plan: Plan, fits: Sequence[PartFit]) -> Iterator[str]:
    """Which parts have hyperedges that say nothing; a whole network's trainer has warned of that already."""
    if plan.parts.count > 1:
        for job, fit in zip(plan.jobs, fits, strict=True):
            if fit.hyperedges and fit.hyperedges["warning"]:
                yield f"{job.name}: {fit.hyperedges['warning']}"
