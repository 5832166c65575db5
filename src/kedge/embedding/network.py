"""Whole networks: cut where they are larger than one part, trained part by part, reconciled.

    plan (Algorithm 1, sketch, halo accounts) -> train parts (Eq. 1-10) -> one space (Eq. 12) -> boundary refinement

The parts of all networks go to the engine together, the largest first, so that no core waits for a network's last
part. Every part is cached as soon as it is trained, and replaced by the finished network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.config import Config
from kedge.context import Cache, CacheEntry, Progress, RunContext, need_extra, spawn_seeds
from kedge.embedding.auto import resolve_builders
from kedge.embedding.part import PartFit, PartJob, megabytes, train_alone, train_part
from kedge.embedding.plan import Plan, Source, describe, key_of_network, make_plan
from kedge.embedding.reconcile import PartVectors, reconcile_parts, refine_boundary, rotate_onto_sketch
from kedge.embedding.sketch import concatenate_sketch
from kedge.embedding.states import PartStates
from kedge.engine import make_engine
from kedge.engine.memory import refuse_too_large
from kedge.hypergraph.choice import BuilderChoice
from kedge.types import FloatArray, KedgeError, Parts, Problem


@dataclass(frozen=True)
class NetworkVectors:
    """Vectors [n, d] of a whole network ([n, 2d] concatenated with its sketch), its parts, how well each fits the
    others and was trained, and notes.

    `losses` has one curve per part, `trivial` is the loss of equal vectors, `auc` that of held-out edges (None where
    none were), `steps` the training steps of each part, `hyperedges` the figures of its hyperedges, `levels` the share
    that its two levels pass on (None where nothing was trained), `choice` how builders of hyperedges were chosen (None
    where the user named them).
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
    levels: tuple[tuple[float, float] | None, ...] = ()
    choice: BuilderChoice | None = None

    @property
    def level_shares(self) -> tuple[float, float] | None:
        """The share of the simple and of the hypergraph level's output that is passed on, over all accounts."""
        sizes = np.bincount(self.parts.part, minlength=len(self.levels)).tolist()
        known = [(size, pair) for size, pair in zip(sizes, self.levels, strict=False) if pair is not None and size]
        if not known:
            return None
        simple, upper = np.average([pair for _, pair in known], axis=0, weights=[size for size, _ in known]).tolist()
        return round(simple, 6), round(upper, 6)

    @property
    def curve(self) -> list[float]:
        """The loss of each step over all parts by their accounts; a part that stopped keeps its last."""
        sizes = np.bincount(self.parts.part, minlength=len(self.losses)).astype(float)
        trained = [(size, curve) for size, curve in zip(sizes, self.losses, strict=True) if len(curve)]
        if not trained:
            return []
        length = max(len(curve) for _, curve in trained)
        padded = [np.pad(curve, (0, length - len(curve)), "edge") for _, curve in trained]
        mean = np.average(padded, axis=0, weights=np.maximum([size for size, _ in trained], 1e-9))
        return [round(float(value), 6) for value in mean]

    def describe(self, name: str) -> str:
        """The course of the training in one line: the loss at five steps, the trivial one, what levels pass on."""
        curve = self.curve
        if not curve:
            return f"{name}: nothing to learn"
        places = sorted({round(i * (len(curve) - 1) / 4) for i in range(5)})
        losses = ", ".join(f"{curve[i]:.3f}" for i in places)
        steps = ", ".join(f"{i + 1:,}" for i in places)
        line = f"{name}: loss {losses} at steps {steps} (trivial loss {self.trivial:.3f})"
        if self.level_shares is None:
            return line
        simple, upper = self.level_shares
        return f"{line}; passed on by the simple level {simple:.2f}, by the hypergraph level {upper:.2f}"

    def cache_entry(self) -> CacheEntry:
        """As it is cached."""
        arrays = {"vectors": self.vectors, "part": np.asarray(self.parts.part), "shared": np.asarray(self.parts.shared)}
        arrays |= {"residuals": self.residuals, "ends": np.cumsum([len(curve) for curve in self.losses])}
        arrays["losses"] = np.concatenate(self.losses)
        facts: dict[str, Any] = {
            "trivial": self.trivial,
            "auc": list(self.auc),
            "steps": list(self.steps),
            "notes": list(self.notes),
        }
        facts["hyperedges"] = [None if figures is None else dict(figures) for figures in self.hyperedges]
        facts["levels"] = [None if pair is None else list(pair) for pair in self.levels]
        facts["choice"] = None if self.choice is None else self.choice.facts()
        return CacheEntry(arrays, facts)

    @staticmethod
    def from_entry(entry: CacheEntry) -> NetworkVectors:
        """As it was cached."""
        held, facts = entry.arrays, entry.facts
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
            tuple(None if pair is None else tuple(pair) for pair in facts.get("levels", ())),
            BuilderChoice.from_facts(facts["choice"]) if facts.get("choice") else None,
        )


def embed_network(source: Source, config: Config, context: RunContext | None = None) -> NetworkVectors:
    """MGCN on one network of any size."""
    return embed_networks([source], config, context)[0]


def embed_networks(
    sources: Sequence[Source], config: Config, context: RunContext | None = None
) -> tuple[NetworkVectors, ...]:
    """MGCN on networks of any size; what the cache has is not trained again."""
    context = context or RunContext()
    keys = [key_of_network(source, config) for source in sources]
    made = {key: NetworkVectors.from_entry(entry) for key in keys if (entry := context.cache.get(key)) is not None}
    if len(made) < len(set(keys)):
        need_extra("mgcn", "training vectors")
    plans, choices = {}, {}
    for key, source in zip(keys, sources, strict=True):
        if key not in made and key not in plans:
            own, choices[key] = resolve_builders(source, config, context)
            plans[key] = make_plan(source, own)
    for plan in plans.values():
        for note in (*plan.notes, *([describe(plan)] if plan.parts.count > 1 else [])):
            context.progress.note(note)
    fits = _train(list(plans.values()), config, context)
    for key, plan in plans.items():
        fit = _assemble(plan, [fits[part] for part in plan.keys], config)
        made[key] = replace(fit, choice=choices[key])
        for note in (*made[key].notes[len(plan.notes) :], made[key].describe(plan.source.name)):
            context.progress.note(note)
        context.cache.put(key, made[key].cache_entry())
        context.cache.drop(plan.keys)
    return tuple(made[key] for key in keys)


def recall_networks(sources: Sequence[Source], config: Config, cache: Cache) -> tuple[NetworkVectors, ...] | None:
    """The vectors from the cache alone; None where it does not have every network's, since nothing is trained here."""
    entries = [cache.get(key_of_network(source, config)) for source in sources]
    found = tuple(NetworkVectors.from_entry(entry) for entry in entries if entry is not None)
    return found if len(found) == len(sources) else None


def _train(plans: Sequence[Plan], config: Config, context: RunContext) -> dict[str, PartFit]:
    """Every part's fit by its key: from the cache, or trained now and cached."""
    cache, progress = context.cache, context.progress
    jobs = {key: job for plan in plans for key, job in zip(plan.keys, plan.jobs, strict=True)}
    fits = {key: PartFit.from_entry(entry) for key in jobs if (entry := cache.get(key)) is not None}
    if fits:
        progress.note(f"{len(fits):,} of {len(jobs):,} parts were trained before")
    waiting = sorted((key for key in jobs if key not in fits), key=lambda key: -jobs[key].adjacency.nnz)
    if not waiting:
        return fits
    if cache.lasts and config.engine.checkpoint > 0 and config.engine.name != "dask":  # whose workers are elsewhere
        states = {key: PartStates(cache, key, config.engine.checkpoint) for key in waiting}
        jobs |= {key: replace(jobs[key], states=states[key]) for key in waiting}
    needed = max(megabytes(jobs[key]) for key in waiting)
    results: Iterable[tuple[int, PartFit]]
    if all(plan.parts.count <= 1 for plan in plans):
        # A process of its own would cost more than it gains, and here the progress of every step is shown.
        refuse_too_large(config.engine, needed)
        results = (
            (i, _train_with_progress(jobs[key], len(fits), len(jobs), progress)) for i, key in enumerate(waiting)
        )
    else:
        engine = make_engine(config.engine, needed, progress.note)
        _report(fits, jobs, progress)
        results = engine.run(train_part, [jobs[key] for key in waiting])
    for place, fit in results:
        cache.put(waiting[place], fit.cache_entry())
        fits[waiting[place]] = fit
        if (saved := jobs[waiting[place]].states) is not None:
            saved.clear()
        _report(fits, jobs, progress)
    return fits


def _report(fits: Collection[str], jobs: Mapping[str, PartJob], progress: Progress) -> None:
    """How far training is, by edges: the largest parts are trained first, so a count of parts would mislead."""
    edges = {key: job.adjacency.nnz for key, job in jobs.items()}
    share = sum(edges[key] for key in fits) / max(1, sum(edges.values()))
    progress.advance(share * len(jobs), len(jobs), f"{len(fits):,} of {len(jobs):,} parts trained")


def _train_with_progress(job: PartJob, done: int, total: int, progress: Progress) -> PartFit:
    settings = job.config.mgcn
    steps = settings.steps + (settings.release if settings.stop != "never" else 0)

    def advance(step: int, loss: float, trivial: float) -> None:
        progress.advance(done + step / steps, total, f"{job.name}: loss {loss:.3f} (trivial loss {trivial:.3f})")

    return train_alone(job, advance)


def _assemble(plan: Plan, fits: Sequence[PartFit], config: Config) -> NetworkVectors:
    """Phase 1 (Eq. 12), then the edges between parts; refused where every part has collapsed."""
    settings, network, parts = config.partition, plan.source.network, plan.parts
    collapsed = [(job.name, fit) for job, fit in zip(plan.jobs, fits, strict=True) if fit.collapsed]
    if len(collapsed) == len(fits):
        name, fit = collapsed[0]
        raise KedgeError(
            f"the embedding of {name} collapsed (loss {fit.losses[-1]:.3f}, trivial loss {fit.trivial:.3f})",
            remedy="use the default preset, or mgcn.weighing=mean with mgcn.unit=true",
        )
    empty = tuple(f"{name} collapsed (loss {fit.losses[-1]:.3f}): its vectors are 0" for name, fit in collapsed)
    learned = [
        PartVectors(accounts, fit.vectors, np.diff(job.adjacency.indptr))
        for accounts, fit, job in zip(plan.accounts, fits, plan.jobs, strict=True)
    ]
    if plan.sketch is None:
        joined = reconcile_parts(learned, parts.part, parts.shared, settings.reconcile)
    else:
        joined = rotate_onto_sketch(learned, parts.part, plan.sketch, settings.reconcile)
    vectors = refine_boundary(network, parts.part, joined.vectors, settings.boundary_steps)
    if plan.sketch is not None and settings.learned_weight:
        vectors = concatenate_sketch(plan.sketch, vectors, settings.learned_weight)
    return NetworkVectors(
        vectors=vectors,
        parts=parts,
        residuals=joined.residuals,
        losses=tuple(fit.losses for fit in fits),
        trivial=fits[0].trivial,
        auc=tuple(fit.auc for fit in fits),
        steps=tuple(fit.steps for fit in fits),
        hyperedges=tuple(fit.hyperedges for fit in fits),
        notes=(*plan.notes, *_hyperedge_warnings(plan, fits), *empty, *joined.notes),
        levels=tuple(fit.levels for fit in fits),
    )


def _hyperedge_warnings(plan: Plan, fits: Sequence[PartFit]) -> Iterator[str]:
    """Parts whose hyperedges hardly differ; for a whole network the trainer has warned of that already."""
    if plan.parts.count > 1:
        for job, fit in zip(plan.jobs, fits, strict=True):
            if fit.hyperedges and fit.hyperedges["warning"]:
                yield f"{job.name}: {fit.hyperedges['warning']}"


def train_for_matching(config: Config) -> Config:
    """The configuration with `mgcn.stop = auto` resolved to all edges and all steps.

    Held-out edges are predicted well from communities alone, after few steps; a partner is found by what distinguishes
    an account within its community, which is learnt later (docs/decisions/0019).
    """
    if config.mgcn.stop != "auto":
        return config
    return config.model_copy(update={"mgcn": config.mgcn.model_copy(update={"stop": "never"})})


def embed_both(problem: Problem, config: Config, seed: int, context: RunContext | None) -> tuple[NetworkVectors, ...]:
    """Vectors of the left and of the right network; the same seed and settings give the same from the cache."""
    return embed_networks(sources(problem, seed), train_for_matching(config), context)


def recall_both(problem: Problem, config: Config, seed: int, cache: Cache) -> tuple[NetworkVectors, ...] | None:
    """The same from the cache alone; None where it does not have both."""
    return recall_networks(sources(problem, seed), train_for_matching(config), cache)


def sources(problem: Problem, seed: int) -> list[Source]:
    """The left and the right network to embed, each with its own seed."""
    named = [
        (network, f"the {side} network")
        for network, side in zip((problem.left, problem.right), problem.sides, strict=True)
    ]
    return [
        Source(
            network,
            problem.anchors[:, side],
            spawn_seeds(seed)[side],
            name,
            problem.hypergraphs[side],
            shared_values=problem.shared_values[side],
        )
        for side, (network, name) in enumerate(named)
    ]
