"""Whether evidence is heard alone, with nearness as its prior, or weighed anew: tried on anchors held back.

Where evidence alone finds most of many, or networks are very large, nothing is tried. Else the prior is taken up if the
mean reciprocal rank of held-back anchors rises clearly, or unless it falls where anchors are few, and without asking
where they are too few to tell. Where nothing gains it is evidence alone (docs/decisions/0009). Where many anchors gain
by it, a mixture of all that is known of a candidate orders them (docs/decisions/0020). Large networks have fewer trials
and turns (docs/decisions/0021), and have to gain more (docs/decisions/0022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, gains, ranking_scores, reciprocal_ranks, unassigned_scores
from kedge.link.evidence import Evidence
from kedge.link.mixture import Choices, fit_mixture, known_of, mix
from kedge.link.prior import Near
from kedge.methods import evidence
from kedge.methods.together import hear_anchors, hear_prior, near_ones
from kedge.types import FloatArray, IntArray, Problem
from kedge.workshop import Workshop

__all__ = ["settle", "with_pairing", "with_vectors"]

_FOLDS = 3
_FEWEST = 10  # fewer anchors cannot tell what trained vectors are worth
_TRUSTED = 60  # below as many, folds of fewer than 20 tell too little, and sketches mostly help and hardly harm
_PLENTY = 200  # below as many anchors a prior is tried however well evidence does, and taken unless they lose by it
_CLEARLY = 2.0  # standard errors of a gain: trials have fewer anchors than the run, and the prior helps them more
_WORTH = 0.01  # in mean reciprocal rank: less is not worth the CPU, however many anchors are sure of it (`_worth`)
_TELLING = 300  # held-back anchors that tell a gain from chance
_HELD = 600  # more at once tell little more, and the trial would have many fewer anchors than the run
_SMALL = 20_000  # accounts of both networks up to which a trial more, or a turn, takes seconds
_TURNS = 3  # of larger ones: later turns move next to nothing (docs/decisions/0021)
_EDGES = 10  # for each account that may be embedded: they cost as much


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = with_vectors(problem, evidence.settle(problem, config, seed))
    if config.pairing.use != "auto":
        return config
    workshop = workshop or Workshop()
    count = len(problem.anchors)
    plain = with_pairing(config, use="no")
    if count == 0:
        return plain
    cheap = config.pairing.vectors == "sketch"
    # A turn with sketches takes minutes at most; training large networks would take hours.
    most = config.pairing.accounts if cheap else min(config.pairing.accounts, _SMALL)
    if _accounts(problem) > most or problem.left.edges + problem.right.edges > _EDGES * config.pairing.accounts:
        if count < _PLENTY and cheap and most:
            workshop.progress.note(
                f"{count} anchors are few for networks of this size: embeddings may find more, at more CPU, with "
                "--set pairing.use=yes"
            )
        return plain
    if _is_large(problem):
        plain = with_pairing(plain, turns=min(config.pairing.turns, _TURNS))
    if count < _TRUSTED and cheap:
        workshop.progress.note(f"{count} anchors are too few to see whether embeddings help: used")
        return with_pairing(plain, use="yes")
    if count < _FEWEST:
        return plain
    try:
        return (_settle_few if count < _PLENTY else _settle_many)(problem, plain, seed, workshop)
    except KedgeError as error:
        workshop.progress.note(f"evidence alone is used: {error}")
        return plain


def _settle_few(problem: Problem, plain: Config, seed: int, workshop: Workshop) -> Config:
    """Sketches are used unless held-back anchors lose, trained vectors if they gain clearly."""
    together = with_pairing(plain, use="yes")
    cheap = plain.pairing.vectors == "sketch"
    folds = _folds(problem, seed)[: 1 if _is_large(problem) else _FOLDS]
    trials = [_hold_back(problem, fold, plain) for fold in folds]
    reached = _ranks(trials)
    if not cheap and reached.mean() >= plain.pairing.enough:
        return plain
    tried = _ranks([_with_prior(trial, together, workshop) for trial in trials])
    # A single fold is too few to tell a small loss from chance.
    kept = not gains(reached, tried) if len(trials) == 1 else tried.mean() >= reached.mean()
    better = kept if cheap else _pays(tried, reached, problem)
    workshop.progress.note(f"{_said(reached, tried)}: {'both are' if better else 'evidence alone is'} used")
    return together if better else plain


def _settle_many(problem: Problem, plain: Config, seed: int, workshop: Workshop) -> Config:
    """One fold shows that evidence is enough or that nothing is gained; only where it promises more, others follow."""
    # Many anchors lay the spaces over each other well at once.
    together = with_pairing(plain, use="yes", turns=1)
    shape = (problem.left.n, problem.right.n)
    folds = _folds(problem, seed)
    first = _hold_back(problem, folds[0], plain)
    reached = _ranks([first])
    if reached.mean() >= plain.pairing.enough:
        return plain
    # Another run of evidence costs more than to weigh what this one says against nearness. It also brings more, so
    # that a promise need not be certain.
    first = _asked(_placed(first, together, workshop), together)
    promised = _mixed_ranks([_choices(first)], shape)
    if promised.mean() < reached.mean() + _worth(problem):
        workshop.progress.note("held-back anchors gain nothing by embeddings: evidence alone is used")
        return plain
    alone, trials = [first], [_with_prior(first, together, workshop)]
    tried = _ranks(trials)
    for fold in folds[1 : -(-_TELLING // len(folds[0]))]:
        if _is_large(problem) and gains(tried, reached, _CLEARLY):
            break
        alone.append(_placed(_hold_back(problem, fold, plain), together, workshop))
        trials.append(_with_prior(alone[-1], together, workshop))
        reached, tried = np.append(reached, _ranks(alone[-1:])), np.append(tried, _ranks(trials[-1:]))
    better = together if _pays(tried, reached, problem) else plain
    said, used = _said(reached, tried), "both are" if better is together else "evidence alone is"
    if better is plain and tried.mean() > reached.mean():
        said += " (not clearly more, or not worth its cost)"
    # A mixture is tried where it promised more than the prior has kept.
    if promised.mean() > tried[: len(promised)].mean():
        # Where evidence is no better for its prior, nearness is heard by the mixture alone.
        ahead, heard, turns = (tried, trials, 1) if better is together else (reached, alone, 0)
        choices = [_choices(_asked(_placed(trial, together, workshop), together)) for trial in heard]
        mixed = _mixed_ranks(choices, shape)
        said = f"{said} and of {mixed.mean():.3f} where both are weighed anew"
        if _pays(mixed, ahead, problem):
            better = with_pairing(together, turns=turns, mixture=fit_mixture(choices))
            used = "both, weighed anew, are"
    workshop.progress.note(f"{said}: {used} used")
    return better


def _pays(tried: FloatArray, reached: FloatArray, problem: Problem) -> bool:
    """Whether what was tried gains clearly, and enough for what it costs."""
    return gains(tried, reached, _CLEARLY) and bool(tried.mean() >= reached.mean() + _worth(problem))


def _worth(problem: Problem) -> float:
    """The least gain that is worth its CPU: it is seconds in small networks and minutes in large ones."""
    return float(_WORTH * np.sqrt(max(1.0, _accounts(problem) / _SMALL)))


def _said(reached: FloatArray, tried: FloatArray) -> str:
    return (
        f"held-back anchors have a mean reciprocal rank of {reached.mean():.3f} by evidence alone, of "
        f"{tried.mean():.3f} with embeddings"
    )


@dataclass(frozen=True)
class _Trial:
    """The problem without some anchors, those, and what is heard without them; once it was asked, what the other
    anchors alone say, and what is near by the matches heard."""

    problem: Problem
    held: IntArray
    heard: Evidence
    anchors: Evidence | None = None
    near: Near | None = None


def _folds(problem: Problem, seed: int) -> Sequence[IntArray]:
    """Thirds of the anchors, of very many a part."""
    drawn = np.random.default_rng(seed).permutation(len(problem.anchors))
    return np.array_split(drawn[: _FOLDS * _HELD], _FOLDS)


def _accounts(problem: Problem) -> int:
    return problem.left.n + problem.right.n


def _is_large(problem: Problem) -> bool:
    """Whether a trial takes minutes, so that no more are made than it takes."""
    return _accounts(problem) > _SMALL


def _hold_back(problem: Problem, fold: IntArray, config: Config) -> _Trial:
    """Evidence alone without the anchors of the fold."""
    trial = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0))
    heard = FORMS[config.evidence.form](trial, config.evidence)
    return _Trial(trial, problem.anchors[fold], heard)


def _placed(trial: _Trial, config: Config, workshop: Workshop) -> _Trial:
    """With what is near by the matches heard: a search that costs more than all else, and is made once."""
    return replace(trial, near=trial.near or near_ones(trial.problem, trial.heard, config, workshop))


def _asked(trial: _Trial, config: Config) -> _Trial:
    """With what the anchors alone say, which a mixture weighs too."""
    return replace(trial, anchors=trial.anchors or hear_anchors(trial.problem, config))


def _with_prior(trial: _Trial, config: Config, workshop: Workshop) -> _Trial:
    near = trial.near or near_ones(trial.problem, trial.heard, config, workshop)
    return replace(trial, heard=hear_prior(trial.problem, trial.heard, near, config, workshop), near=None)


def _ranks(trials: Sequence[_Trial]) -> FloatArray:
    """1 / rank of each held anchor by evidence's own order."""
    return np.concatenate([reciprocal_ranks(ranking_scores(trial.heard), trial.held) for trial in trials])


def _choices(trial: _Trial) -> Choices:
    """What a mixture has to choose from."""
    assert trial.near is not None
    assert trial.anchors is not None
    known = known_of(trial.near.pairs, trial.near.log_ratio, trial.heard, trial.anchors)
    return Choices(trial.near.pairs, known, trial.held)


def _mixed_ranks(choices: Sequence[Choices], shape: tuple[int, int]) -> FloatArray:
    """1 / rank of each held anchor by a mixture that was learnt from the others: halves of the folds take turns.

    Nobody is assigned anew: that would cost more than all else here, and what evidence has assigned is known to the
    mixture.
    """
    halves = [replace(one, held=half) for one in choices for half in np.array_split(one.held, 2)]
    result = []
    for i, half in enumerate(halves):
        weights = fit_mixture(halves[:i] + halves[i + 1 :])
        order = unassigned_scores(mix(half.pairs, half.known, weights, shape))
        result.append(reciprocal_ranks(order, half.held))
    return np.concatenate(result)


def with_vectors(problem: Problem, config: Config) -> Config:
    """The kind of vectors settled: hyperedges of the user's own are of use to MGCN alone."""
    if config.pairing.vectors != "auto":
        return config
    kind = "mgcn" if any(own is not None for own in problem.hypergraphs) else "sketch"
    return with_pairing(config, vectors=kind)


def with_pairing(config: Config, **changes: object) -> Config:
    """The configuration with other settings of the prior."""
    return config.model_copy(update={"pairing": config.pairing.model_copy(update=changes)})
