"""`hypergraph.builders = auto` where a network is trained alone: builders chosen by its held-out edges.

A trial trains MGCN with the hyperedges of some builders for `hypergraph.trial_steps` steps, on edges of which a share
is held out, the same in every trial; the hyperedges are drawn without them. Its figure is the AUC on these edges. So
the choice costs at most `hypergraph.trials` · `hypergraph.trial_steps` training steps. It is made once for a network.
Of one that is cut into parts, trials see one part, that of median size: parts with hyperedges of different kinds would
be harder to bring into one space, and a trial of each part would cost as much as its training.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from kedge.config import AUTO, Config
from kedge.context import CacheEntry, RunContext, digest, get_or_make
from kedge.embedding.part import PartJob, hyperedges, train_alone
from kedge.embedding.plan import Plan, Source, make_plan
from kedge.hypergraph.choice import BuilderChoice, choose_builders
from kedge.types import KedgeError

# The first is the default, which stays where others are equal; those that seldom gain are last, since trials are few.
CANDIDATES: Final = (
    "neighbourhood", "neighbourhood:128", "communities", "nearest", "profiles", "anchor", "neighbourhood:8",
    "latent", "centrality",
)  # fmt: skip
# Gains in AUC that count: at least 0.001, and more where few edges are held out, whose AUC is noise (decision 50).
_LEAST_GAIN: Final = 0.001
_NOISE: Final = 0.1  # over the root of their number
_HELD_OUT: Final = 0.05  # of the edges, where the settings hold out none
_JUDGED_BY: Final = "AUC on held-out edges"


def resolve_builders(source: Source, config: Config, context: RunContext) -> tuple[Config, BuilderChoice | None]:
    """The configuration with builders for this network, and how they were chosen; None where the user named them."""
    if config.hypergraph.builders != AUTO or source.hypergraph is not None:
        return config, None
    plan = make_plan(source, with_builders(config, CANDIDATES[0]))
    sample = _typical(plan, source)
    A = sample.adjacency
    settings = ["builders", config.mgcn.model_dump(mode="json"), config.hypergraph.model_dump(mode="json"), sample.seed]
    key = digest(settings, A.indptr, A.indices, A.data, sample.anchors, *hyperedges(sample.shared_values))
    entry = get_or_make(context.cache, key, lambda: CacheEntry({}, _choose(sample, config, context).facts()))
    choice = BuilderChoice.from_facts(entry.facts)
    context.progress.note(f"{source.name}: {choice.describe()}")
    return with_builders(config, choice.builders), choice


def _typical(plan: Plan, source: Source) -> PartJob:
    """The part of median size, with the anchors and values of its accounts."""
    sizes = [len(accounts) for accounts in plan.accounts]
    place = int(np.argsort(sizes, kind="stable")[len(sizes) // 2])
    accounts, job = plan.accounts[place], plan.jobs[place]
    known = np.flatnonzero(np.isin(accounts, source.anchors))
    return replace(job, anchors=known, first=None, hypergraph=None)


def _choose(sample: PartJob, config: Config, context: RunContext) -> BuilderChoice:
    usable = {"anchor": len(sample.anchors) > 0, "profiles": sample.shared_values is not None}
    candidates = [name for name in CANDIDATES if usable.get(name, True)]
    settings, tried = config.hypergraph, 0

    def judge(builders: str) -> float:
        nonlocal tried
        tried += 1
        context.progress.advance(tried - 1, settings.trials, f"trial of hyperedges: {builders}")
        fit = train_alone(replace(sample, config=_trial(config, builders)))
        if fit.auc is None:
            raise KedgeError(f"{sample.name} has too few edges to hold any out")
        return round(fit.auc, 6)

    held_out = max(1, int(_held_out(config) * sample.adjacency.nnz / 2))
    least = max(_LEAST_GAIN, _NOISE / held_out**0.5)
    where = f"{sample.name}, {settings.trial_steps:,} steps per trial, {held_out:,} edges; least gain {least:.4f}"
    return choose_builders(candidates, judge, settings.trials, least, (_JUDGED_BY, where))


def _held_out(config: Config) -> float:
    """The share of edges that a trial holds out."""
    return config.mgcn.held_out or _HELD_OUT


def _trial(config: Config, builders: str) -> Config:
    """A short training with held-out edges."""
    mgcn, steps = config.mgcn, min(config.hypergraph.trial_steps, config.mgcn.steps)
    short = {"steps": steps, "stop": "edges", "held_out": _held_out(config), "release": 0, "refit": False}
    return with_builders(config.model_copy(update={"mgcn": mgcn.model_copy(update=short)}), builders)


def with_builders(config: Config, builders: str) -> Config:
    """The configuration with these builders."""
    return config.model_copy(update={"hypergraph": config.hypergraph.model_copy(update={"builders": builders})})
