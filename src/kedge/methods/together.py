"""Evidence and nearness together: the prior, made again while it makes more matches certain."""

from __future__ import annotations

from dataclasses import replace

from kedge.config import Config
from kedge.embedding import sketch_both
from kedge.link.choice import FORMS
from kedge.link.evidence import Evidence, propagate
from kedge.link.mixture import known_of
from kedge.link.prior import Near, certain_pairs, near_pairs, prior_of
from kedge.methods import mgcn
from kedge.types import FloatArray, Problem
from kedge.workshop import Workshop

__all__ = ["hear_prior", "vectors_of", "what_is_known"]

_GROWTH = 1.1  # of the certain matches from which another turn pays


def hear_prior(problem: Problem, heard: Evidence, config: Config, workshop: Workshop) -> Evidence:
    """Evidence again, with a prior from what it was certain of.

    Matches that the prior makes certain lay the spaces over each other better than the anchors alone did, so it is made
    again as long as there are many more of them.
    """
    listen = FORMS[config.evidence.form]
    certain = len(certain_pairs(problem, heard, config.pairing.certain))
    for _ in range(config.pairing.turns):
        before = certain
        near = _near_ones(problem, heard, config, workshop)
        prior = prior_of(near, heard.beliefs.shape)
        if prior.nnz == 0:
            break
        heard = replace(listen(problem, config.evidence, prior), laid=near.laid)
        certain = len(certain_pairs(problem, heard, config.pairing.certain))
        if certain < _GROWTH * before:
            break
    return heard


def _near_ones(problem: Problem, heard: Evidence, config: Config, workshop: Workshop) -> Near:
    """What the vectors say, laid over each other by the matches that evidence is certain of."""
    left, right = vectors_of(problem, config, workshop)
    certain = certain_pairs(problem, heard, config.pairing.certain)
    return near_pairs(problem, left, right, certain, heard.log_odds, config.pairing, config.seed, workshop.progress)


def what_is_known(problem: Problem, heard: Evidence, config: Config, workshop: Workshop) -> tuple[Near, FloatArray]:
    """What a mixture chooses from: near pairs and candidates, and what is known of each, [m, 6]."""
    near = _near_ones(problem, heard, config, workshop)
    return near, known_of(near.pairs, near.log_ratio, heard, _hear_anchors(problem, config))


def _hear_anchors(problem: Problem, config: Config) -> Evidence:
    """What the anchors alone say: a single round."""
    return propagate(problem, config.evidence.model_copy(update={"rounds": 1, "least_rounds": 1}))


def vectors_of(problem: Problem, config: Config, workshop: Workshop) -> tuple[FloatArray, ...]:
    """Vectors of both networks, from the seed of the run, not of a trial: they do not depend on anchors, so all runs
    share them on the shelf."""
    if config.pairing.vectors == "sketch":
        return sketch_both(problem, config, workshop.shelf)
    return tuple(made.vectors for made in mgcn.embed_both(problem, config, config.seed, workshop))
