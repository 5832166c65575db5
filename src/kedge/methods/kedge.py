"""Evidence, with embeddings as its prior where held-back anchors gain by them: kedge's own method.

`settle` holds training anchors back. Where evidence alone finds most of many, or networks are large, nothing is
embedded; else the prior is taken up if their mean reciprocal rank rises by more than two standard errors, or unless it
falls where anchors are few, and without asking where they are too few to tell. Where nothing gains it is the method
`evidence` (docs/decisions/0009). The vectors are sketches of the two networks unless the settings ask for MGCN's
(docs/decisions/0017); how much nearness counts is estimated, and more where held-back anchors gain by that
(docs/decisions/0018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kedge.alignment import SparseAlignment, VectorAlignment
from kedge.config import Config
from kedge.embedding import recall_sketches, sketch_both
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, gains, ranking_scores, reciprocal_ranks
from kedge.link.evidence import Evidence
from kedge.link.prior import certain_pairs, embedded_prior
from kedge.methods import evidence as alone
from kedge.methods import mgcn
from kedge.methods.embedded import lay_vectors
from kedge.methods.evidence import recall, scores
from kedge.types import FloatArray, IntArray, Problem
from kedge.workshop import Shelf, Workshop

__all__ = ["align", "hear", "recall", "recall_alignment", "scores", "settle"]

_FOLDS = 3
_FEWEST = 10  # fewer anchors cannot tell what trained vectors are worth
_TRUSTED = 60  # below as many, folds of fewer than 20 tell too little, and sketches are known to help or to do no harm
_CLEARLY = 2.0  # standard errors of a gain: trials have fewer anchors than the run, and the prior helps them more
_GROWTH = 1.1  # of the certain matches from which another turn pays
_TIMES = 4.0  # more often that nearness counts in a step of its weight
_HEAVIER = 2  # such steps at most
_PLENTY = 200  # below as many anchors a prior is tried however well evidence does, and taken unless they lose by it


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or nearness reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed, workshop))


def hear(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Evidence:
    """Evidence alone, then again with what its matches and the vectors say as a prior, if the settings want it.

    Matches that the prior makes certain lay the spaces over each other better than the anchors alone did, so it is made
    again as long as there are many more of them.
    """
    workshop = workshop or Workshop()
    config = settle(problem, config, seed, workshop)
    propagate = FORMS[config.evidence.form]
    heard = propagate(problem, config.evidence)
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return heard
    left, right = _vectors(problem, config, workshop)
    known = certain_pairs(problem, heard, config.pairing.certain)
    for _ in range(config.pairing.turns):
        before = len(known)
        prior = embedded_prior(
            problem, left, right, known, heard.log_odds, config.pairing, config.seed, workshop.progress
        )
        if prior.nnz == 0:
            break
        heard = propagate(problem, config.evidence, prior)
        known = certain_pairs(problem, heard, config.pairing.certain)
        if len(known) < _GROWTH * before:
            break
    return heard


def _vectors(problem: Problem, config: Config, workshop: Workshop) -> tuple[FloatArray, ...]:
    """Vectors of both networks, from the seed of the run, not of a trial: they do not depend on anchors, so all runs
    share them on the shelf."""
    if config.pairing.vectors == "sketch":
        return sketch_both(problem, config, workshop.shelf)
    return tuple(made.vectors for made in mgcn.embed_both(problem, config, config.seed, workshop))


def recall_alignment(problem: Problem, config: Config, seed: int, shelf: Shelf) -> VectorAlignment | None:
    """The cosines of the vectors that a run left on its shelf, laid over each other by the anchors; None without.

    `config` may be as it was asked for, not settled.
    """
    if _with_vectors(problem, config).pairing.vectors == "mgcn":
        return mgcn.recall_alignment(problem, config, seed, shelf)
    found = recall_sketches(problem, config, shelf)
    if found is None or len(problem.anchors) == 0:
        return None
    return lay_vectors(problem, found[0], found[1], seed)


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = _with_vectors(problem, alone.settle(problem, config, seed))
    if config.pairing.use != "auto":
        return config
    few = len(problem.anchors) < _PLENTY
    cheap = config.pairing.vectors == "sketch"
    plain = _pairing(config, use="no")
    # Many anchors lay the spaces over each other well at once.
    together = _pairing(config, use="yes", turns=config.pairing.turns if few else 1)
    # Where networks are so large that nothing would be embedded, one more run of evidence costs more than all else.
    if len(problem.anchors) == 0 or problem.left.n + problem.right.n > config.pairing.accounts:
        return plain
    workshop = workshop or Workshop()
    if cheap and len(problem.anchors) < _TRUSTED:
        workshop.progress.note(f"{len(problem.anchors)} anchors are too few to see whether embeddings help: used")
        return together
    if len(problem.anchors) < _FEWEST:
        return plain
    folds = np.array_split(np.random.default_rng(seed).permutation(len(problem.anchors)), _FOLDS)
    # Of many anchors one fold shows that evidence is enough or that nothing is gained: others only cost.
    first, others = (folds, []) if few else (folds[:1], folds[1:])
    reached = _held_ranks(problem, plain, seed, workshop, first)
    if not (few and cheap) and reached.mean() >= config.pairing.enough:
        return plain
    try:
        tried = _held_ranks(problem, together, seed, workshop, first)
    except KedgeError as error:
        workshop.progress.note(f"evidence alone is used: {error}")
        return plain
    if gains(tried, reached):
        reached = np.append(reached, _held_ranks(problem, plain, seed, workshop, others))
        tried = np.append(tried, _held_ranks(problem, together, seed, workshop, others))
    better = tried.mean() >= reached.mean() if few and cheap else gains(tried, reached, _CLEARLY)
    workshop.progress.note(
        f"held-back anchors have a mean reciprocal rank of {reached.mean():.3f} by evidence alone and of "
        f"{tried.mean():.3f} with embeddings: {'both are' if better else 'evidence alone is'} used"
    )
    if not better:
        return plain
    return together if few else _heavier(problem, together, tried, seed, workshop, folds)


def _heavier(
    problem: Problem, config: Config, reached: FloatArray, seed: int, workshop: Workshop, folds: Sequence[IntArray]
) -> Config:
    """Nearness weighed more, as long as held-back anchors gain: where networks share few edges, evidence misleads."""
    for _ in range(_HEAVIER):
        heavier = _pairing(config, weight=_TIMES * config.pairing.weight)
        tried = _held_ranks(problem, heavier, seed, workshop, folds[:1])
        if not gains(tried, reached[: len(tried)]):
            break
        tried = np.append(tried, _held_ranks(problem, heavier, seed, workshop, folds[1:]))
        if not gains(tried, reached, _CLEARLY):
            break
        config, reached = heavier, tried
        workshop.progress.note(
            f"nearness counts {config.pairing.weight:g} times: the mean reciprocal rank rises to {reached.mean():.3f}"
        )
    return config


def _with_vectors(problem: Problem, config: Config) -> Config:
    """The kind of vectors settled: hyperedges of the user's own are of use to MGCN alone."""
    if config.pairing.vectors != "auto":
        return config
    kind = "mgcn" if any(own is not None for own in problem.hypergraphs) else "sketch"
    return _pairing(config, vectors=kind)


def _pairing(config: Config, **changes: object) -> Config:
    return config.model_copy(update={"pairing": config.pairing.model_copy(update=changes)})


def _held_ranks(
    problem: Problem, config: Config, seed: int, workshop: Workshop, folds: Sequence[IntArray]
) -> FloatArray:
    """1 / rank of each anchor while its fold is held back, fold after fold."""
    result = []
    for fold in folds:
        trial = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0))
        heard = hear(trial, config, seed, workshop)
        result.append(reciprocal_ranks(ranking_scores(heard), problem.anchors[fold]))
    return np.concatenate([[], *result])  # there may be no folds
