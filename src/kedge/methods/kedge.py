"""Evidence with embeddings as its prior: kedge's own method, each part used only where held-back anchors gain by it.

`settle` tries on held-back anchors, in this order: the form of evidence, three times as many rounds, the embedding as a
prior. A part is taken up if the mean reciprocal rank of the held anchors rises by more than its standard error. So with
too few anchors to tell, or where nothing gains, it is the method `evidence` (docs/decisions/0009).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kedge.alignment import SparseAlignment
from kedge.config import Config
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, ranking_scores, reciprocal_ranks
from kedge.link.evidence import Evidence
from kedge.link.prior import embedded_prior
from kedge.methods import evidence as alone
from kedge.methods.evidence import recall, scores
from kedge.methods.mgcn import embed_both
from kedge.types import FloatArray, Problem
from kedge.workshop import Workshop

__all__ = ["align", "hear", "recall", "scores", "settle"]

_FOLDS = 3
_FEWEST = 10  # fewer anchors cannot tell what helps
_PATIENT = 3  # times as many rounds: a slower annealing reaches further from few anchors


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or nearness reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed, workshop))


def hear(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Evidence:
    """Evidence alone, then again with what its matches and the vectors say as a prior, if the settings want it."""
    workshop = workshop or Workshop()
    config = settle(problem, config, seed, workshop)
    first = FORMS[config.evidence.form](problem, config.evidence)
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return first
    # The seed of the run, not of a trial: vectors do not depend on anchors, so all runs share them on the shelf.
    left, right = (made.vectors for made in embed_both(problem, config, config.seed, workshop))
    prior = embedded_prior(problem, left, right, first, config.pairing, config.seed)
    return FORMS[config.evidence.form](problem, config.evidence, prior)


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = alone.settle(problem, config, seed)
    if config.pairing.use != "auto":
        return config
    plain = _using(config, "no")
    # Where networks are so large that nothing would be embedded, one more run of evidence costs more than all else.
    if len(problem.anchors) < _FEWEST or problem.left.n + problem.right.n > config.pairing.accounts:
        return plain
    workshop = workshop or Workshop()
    best, reached = plain, _held_ranks(problem, plain, seed, workshop)
    if reached.mean() >= config.pairing.enough:
        return plain
    options = [] if plain.evidence.form == "dense" else [_patient(plain)]
    for option in options:
        tried = _held_ranks(problem, option, seed, workshop)
        if _gains(tried, reached):
            best, reached = option, tried
    if reached.mean() >= config.pairing.enough:
        return best
    try:
        tried = _held_ranks(problem, _using(best, "yes"), seed, workshop)
    except KedgeError:
        return best  # a fit that collapsed has nothing to say
    return _using(best, "yes") if _gains(tried, reached) else best


def _using(config: Config, use: str) -> Config:
    return config.model_copy(update={"pairing": config.pairing.model_copy(update={"use": use})})


def _patient(config: Config) -> Config:
    names = ("rounds", "least_rounds")
    rounds = {name: _PATIENT * getattr(config.evidence, name) for name in names}
    return config.model_copy(update={"evidence": config.evidence.model_copy(update=rounds)})


def _held_ranks(problem: Problem, config: Config, seed: int, workshop: Workshop) -> FloatArray:
    """1 / rank of each anchor while it is held back, every anchor once."""
    result = np.zeros(len(problem.anchors))
    for fold in np.array_split(np.random.default_rng(seed).permutation(len(result)), _FOLDS):
        trial = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0))
        heard = hear(trial, config, seed, workshop)
        result[fold] = reciprocal_ranks(ranking_scores(heard), problem.anchors[fold])
    return result


def _gains(tried: FloatArray, reached: FloatArray) -> bool:
    """Whether the gain is larger than its standard error."""
    gain = tried - reached
    return bool(gain.mean() > gain.std() / np.sqrt(len(gain)))
