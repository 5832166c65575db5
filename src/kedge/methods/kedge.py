"""Evidence, with embeddings as its prior where held-back anchors gain by them: kedge's own method.

`settle` holds training anchors back. Where evidence alone finds most of many, or networks are large, nothing is
embedded; else the prior is taken up if their mean reciprocal rank rises by more than two standard errors, or unless it
falls where anchors are few, and without asking where they are too few to tell. Where nothing gains it is the method
`evidence` (docs/decisions/0009). The vectors are sketches of the two networks unless the settings ask for MGCN's
(docs/decisions/0017); how much nearness counts as a prior is estimated (docs/decisions/0018). Where held-back anchors
gain by it, all that is known of a candidate is weighed anew for its place (docs/decisions/0020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.alignment import SparseAlignment, VectorAlignment
from kedge.config import Config
from kedge.embedding import recall_sketches, sketch_both
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, gains, ranking_scores, reciprocal_ranks
from kedge.link.evidence import Evidence, propagate
from kedge.link.mixture import Choices, fit_mixture, known_of, mix
from kedge.link.prior import Near, certain_pairs, near_pairs, prior_of
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
_TELLING = 300  # held-back anchors that tell a gain from chance
_GROWTH = 1.1  # of the certain matches from which another turn pays
_PLENTY = 200  # below as many anchors a prior is tried however well evidence does, and taken unless they lose by it


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> SparseAlignment:
    """Scores of the candidate pairs that evidence or nearness reaches, and of the anchors above them."""
    return scores(problem, hear(problem, config, seed, workshop))


def hear(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Evidence:
    """Evidence alone, or with what its matches and the vectors say as a prior, if the settings want it.

    Where the settings have a mixture, it orders the candidates.
    """
    workshop = workshop or Workshop()
    config = settle(problem, config, seed, workshop)
    heard = FORMS[config.evidence.form](problem, config.evidence)
    if config.pairing.use != "yes" or len(problem.anchors) == 0:
        return heard
    heard = _hear_prior(problem, heard, _near(problem, heard, config, workshop), config, workshop)
    if not config.pairing.mixture:
        return heard
    near = _near(problem, heard, config, workshop)
    if len(near.pairs) == 0:
        return heard
    known = _all_known(problem, heard, near, config)
    order = mix(near.pairs, known, config.pairing.mixture, heard.beliefs.shape)
    return replace(heard, order=order, laid=near.laid)


def _hear_prior(problem: Problem, heard: Evidence, near: Near, config: Config, workshop: Workshop) -> Evidence:
    """Evidence again, with a prior from what it was certain of.

    Matches that the prior makes certain lay the spaces over each other better than the anchors alone did, so it is made
    again as long as there are many more of them.
    """
    listen = FORMS[config.evidence.form]
    certain = len(certain_pairs(problem, heard, config.pairing.certain))
    for turn in range(config.pairing.turns):
        before = certain
        near = near if turn == 0 else _near(problem, heard, config, workshop)
        prior = prior_of(near, heard.beliefs.shape)
        if prior.nnz == 0:
            break
        heard = replace(listen(problem, config.evidence, prior), laid=near.laid)
        certain = len(certain_pairs(problem, heard, config.pairing.certain))
        if certain < _GROWTH * before:
            break
    return heard


def _near(problem: Problem, heard: Evidence, config: Config, workshop: Workshop) -> Near:
    """What the vectors say, laid over each other by the matches that evidence is certain of."""
    left, right = _vectors(problem, config, workshop)
    certain = certain_pairs(problem, heard, config.pairing.certain)
    return near_pairs(problem, left, right, certain, heard.log_odds, config.pairing, config.seed, workshop.progress)


def _all_known(problem: Problem, heard: Evidence, near: Near, config: Config) -> FloatArray:
    """What a mixture weighs of each near pair, [m, 6]."""
    once = propagate(problem, config.evidence.model_copy(update={"rounds": 1, "least_rounds": 1}))
    return known_of(near.pairs, near.log_ratio, heard, once)


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
    # Of many anchors one fold shows that evidence is enough or that nothing is gained, and others only cost.
    first = folds if few else folds[:1]
    others = [] if few else folds[1 : -(-_TELLING // len(folds[0]))]
    shape = (problem.left.n, problem.right.n)
    trials = [_hold_back(problem, fold, config) for fold in first]
    reached = _ranks(trials)
    if not (few and cheap) and reached.mean() >= config.pairing.enough:
        return plain
    try:
        nears = [_near(one.problem, one.heard, together, workshop) for one in trials]
        # Another run of evidence costs more than to weigh what this one says against nearness.
        if not few and not gains(_mixed_ranks(_choices(trials, nears, together), shape), reached, _CLEARLY):
            workshop.progress.note("held-back anchors gain nothing by embeddings: evidence alone is used")
            return plain
        more = [_hold_back(problem, fold, config) for fold in others]
        nears += [_near(one.problem, one.heard, together, workshop) for one in more]
        trials += more
        reached = _ranks(trials)
        trials = [
            replace(one, heard=_hear_prior(one.problem, one.heard, near, together, workshop))
            for one, near in zip(trials, nears, strict=True)
        ]
        nears = [_near(one.problem, one.heard, together, workshop) for one in trials]
        choices = _choices(trials, nears, together)
    except KedgeError as error:
        workshop.progress.note(f"evidence alone is used: {error}")
        return plain
    tried = _ranks(trials)
    better = tried.mean() >= reached.mean() if few and cheap else gains(tried, reached, _CLEARLY)
    mixed = _mixed_ranks(choices, shape)
    mixture = gains(mixed, tried if better else reached, _CLEARLY)
    used = "both, weighed anew, are" if mixture else "both are" if better else "evidence alone is"
    workshop.progress.note(
        f"held-back anchors have a mean reciprocal rank of {reached.mean():.3f} by evidence alone, of "
        f"{tried.mean():.3f} with embeddings and of {mixed.mean():.3f} where both are weighed anew: {used} used"
    )
    if mixture:
        return _pairing(together, mixture=fit_mixture(choices))
    return together if better else plain


@dataclass(frozen=True)
class _Trial:
    """The problem without some anchors, those, and what is heard without them."""

    problem: Problem
    held: IntArray
    heard: Evidence


def _hold_back(problem: Problem, fold: IntArray, config: Config) -> _Trial:
    """Evidence alone without the anchors of the fold."""
    trial = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0))
    return _Trial(trial, problem.anchors[fold], FORMS[config.evidence.form](trial, config.evidence))


def _ranks(trials: Sequence[_Trial]) -> FloatArray:
    """1 / rank of each held anchor by evidence's own order."""
    return np.concatenate([reciprocal_ranks(ranking_scores(trial.heard), trial.held) for trial in trials])


def _choices(trials: Sequence[_Trial], nears: Sequence[Near], config: Config) -> list[Choices]:
    """What a mixture of each trial has to choose from."""
    return [
        Choices(near.pairs, _all_known(one.problem, one.heard, near, config), one.held)
        for one, near in zip(trials, nears, strict=True)
    ]


def _mixed_ranks(choices: Sequence[Choices], shape: tuple[int, int]) -> FloatArray:
    """1 / rank of each held anchor by a mixture that was learnt from the others: halves of the folds take turns."""
    halves = [replace(one, held=half) for one in choices for half in np.array_split(one.held, 2)]
    result = []
    for i, half in enumerate(halves):
        weights = fit_mixture(halves[:i] + halves[i + 1 :])
        result.append(reciprocal_ranks(mix(half.pairs, half.known, weights, shape), half.held))
    return np.concatenate(result)


def _with_vectors(problem: Problem, config: Config) -> Config:
    """The kind of vectors settled: hyperedges of the user's own are of use to MGCN alone."""
    if config.pairing.vectors != "auto":
        return config
    kind = "mgcn" if any(own is not None for own in problem.hypergraphs) else "sketch"
    return _pairing(config, vectors=kind)


def _pairing(config: Config, **changes: object) -> Config:
    return config.model_copy(update={"pairing": config.pairing.model_copy(update=changes)})
