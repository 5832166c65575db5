"""Evidence, with vector similarity as its prior: kedge's own method.

Where that is not affordable it is evidence alone (evidence/pairing.py, docs/decisions/0025). With few anchors the
prior comes from MGCN's space of both networks (docs/decisions/0051), else from sketches of the networks unless the
settings ask for MGCN's trained vectors (docs/decisions/0017); how much similarity counts as a prior is
estimated (docs/decisions/0018). Where the settings have a mixture, all that is known of a candidate is weighed anew for
its rank (docs/decisions/0020). Profiles are a prior too (evidence/profile_prior.py, docs/decisions/0042).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kedge.config import Config
from kedge.context import Cache, RunContext
from kedge.embedding.coordinates import place_both, recall_levels, without_weights
from kedge.embedding.sketch import recall_sketches
from kedge.evidence import (
    FORMS,
    Evidence,
    Where,
    choose_settings,
    may_divide,
    mix,
    profile_prior,
    rank_candidates,
    realign,
    refine,
    refinements_at_most,
    signals_of_candidates,
    with_vectors,
)
from kedge.linalg import VectorAlignment
from kedge.similarity import project_by
from kedge.types import Alignment, Network, Problem

__all__ = [
    "align",
    "choose_settings",
    "divides",
    "find_evidence",
    "prepare",
    "realign",
    "recall_vectors",
    "refinements",
    "trains",
]

_KEPT = 20_000  # accounts beyond which their vectors would weigh more than all else that a run keeps


def align(problem: Problem, config: Config, context: RunContext) -> Alignment:
    """Scores of the candidate pairs that evidence or similarity reaches, and of the anchors above them."""
    return rank_candidates(problem, find_evidence(problem, config, context))


def find_evidence(problem: Problem, config: Config, context: RunContext) -> Evidence:
    """Evidence alone, or refined with the prior that its matches and the vectors give, if the settings want it.

    Where the settings have a mixture, it orders the candidates.
    """
    config = choose_settings(problem, config, context)
    profiles = profile_prior(problem, config)
    evidence = FORMS[config.evidence.form](
        problem, config.evidence, profiles=profiles, where=Where.of(config.engine, context)
    )
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return evidence
    if config.pairing.refinements:
        evidence = refine(problem, evidence, config, context, profiles)
    if config.pairing.mixture:
        near, signals = signals_of_candidates(problem, evidence, config, context, profiles)
        mixed = mix(near.pairs, signals, config.pairing.mixture, evidence.beliefs.shape)
        evidence = replace(evidence, mixed=mixed, vectors=near.vectors)
    large = problem.left.n + problem.right.n > _KEPT
    return replace(evidence, vectors=None) if large else evidence


def trains(config: Config) -> bool:
    """Whether the prior comes from trained vectors."""
    return config.pairing.use == "yes" and config.pairing.vectors == "mgcn"


def prepare(problem: Problem, config: Config, context: RunContext) -> dict[str, Any]:
    """Train MGCN's vectors into the cache."""
    from kedge.methods import mgcn  # trained vectors alone need it

    return mgcn.train_both(problem, config, context)


def recall_vectors(problem: Problem, config: Config, cache: Cache) -> Alignment | None:
    """The cosines of the vectors that a run has cached, aligned by the anchors; None without.

    `config` may be as the user gave it, with settings left open.
    """
    kind = with_vectors(problem, config).pairing.vectors
    if kind == "mgcn":
        from kedge.methods import mgcn

        return mgcn.recall_vectors(problem, config, cache)
    if kind == "shared":
        levels = recall_levels(without_weights(problem), config, cache)
        return None if levels is None else VectorAlignment(*place_both(levels, problem.anchors, config))
    found = recall_sketches(problem, config, cache)
    if found is None or len(problem.anchors) == 0:
        return None
    return project_by(found[0], found[1], problem.anchors, config.seed)[0]


def refinements(left: Network, right: Network, anchors: int, config: Config) -> int:
    """How often one run repeats evidence and prior, at most; 0 where evidence goes without a prior."""
    if config.evidence.form == "dense" and config.pairing.use == "auto":
        return 0
    count = refinements_at_most(left, right, anchors, config.pairing)
    return max(count, 1) if config.pairing.mixture else count  # a mixture searches once too


def divides(problem: Problem, config: Config) -> bool:
    """Whether rounds may run in blocks, and elsewhere."""
    return may_divide(problem, config.evidence, problem.profiles is not None)
