"""Evidence with vector similarity as its prior, refined while that makes more matches certain."""

from __future__ import annotations

from dataclasses import replace

from kedge.config import Config
from kedge.context import RunContext
from kedge.embedding.sketch import sketch_both
from kedge.evidence.form import FORMS
from kedge.evidence.mixture import known_of
from kedge.evidence.prior import Near, certain_pairs, near_pairs, prior_of
from kedge.evidence.propagate import Evidence, propagate
from kedge.types import FloatArray, Problem

_GROWTH = 1.1  # of the certain matches, from which another refinement pays


def refine(problem: Problem, evidence: Evidence, config: Config, context: RunContext) -> Evidence:
    """Evidence again, with a prior from what it was certain of.

    Matches that the prior makes certain align the spaces better than the anchors alone did, so it is made again as long
    as there are many more of them.
    """
    spread = FORMS[config.evidence.form]
    certain = len(certain_pairs(problem, evidence, config.pairing.certain))
    for _ in range(config.pairing.refinements):
        before = certain
        near = _near_ones(problem, evidence, config, context)
        prior = prior_of(near, evidence.beliefs.shape)
        if prior.nnz == 0:
            break
        evidence = replace(spread(problem, config.evidence, prior), vectors=near.vectors)
        certain = len(certain_pairs(problem, evidence, config.pairing.certain))
        if certain < _GROWTH * before:
            break
    return evidence


def _near_ones(problem: Problem, evidence: Evidence, config: Config, context: RunContext) -> Near:
    """Similar pairs of vectors, aligned by the matches that evidence is certain of."""
    left, right = vectors_of(problem, config, context)
    certain = certain_pairs(problem, evidence, config.pairing.certain)
    return near_pairs(problem, left, right, certain, evidence.log_odds, config.pairing, config.seed, context.progress)


def signals_of_candidates(
    problem: Problem, evidence: Evidence, config: Config, context: RunContext
) -> tuple[Near, FloatArray]:
    """The pairs that a mixture orders, and the signals of each, [m, 6]."""
    near = _near_ones(problem, evidence, config, context)
    return near, known_of(near.pairs, near.log_ratio, evidence, _anchors_alone(problem, config))


def _anchors_alone(problem: Problem, config: Config) -> Evidence:
    """The evidence of the anchors alone: a single round."""
    return propagate(problem, config.evidence.model_copy(update={"rounds": 1, "least_rounds": 1}))


def vectors_of(problem: Problem, config: Config, context: RunContext) -> tuple[FloatArray, ...]:
    """Vectors of both networks, from the seed of the run, not of a trial: they do not depend on anchors, so all runs
    share them in the cache."""
    if config.pairing.vectors == "sketch":
        return sketch_both(problem, config, context.cache)
    from kedge.embedding.both import embed_both  # training is loaded where something is trained

    return tuple(made.vectors for made in embed_both(problem, config, config.seed, context))
