"""What kedge's own method does with embeddings, settled once for a problem before it runs.

Nearness is a prior of evidence wherever that can be afforded: it hardly ever loses, and to ask held-back anchors first
cost more than to use it (docs/decisions/0025). The dense form of evidence goes without: it hears every pair and needs
nobody to propose any. One thing is left to find out: where the networks have few edges in common, beliefs that rest on
beliefs go astray, so all that is known of a candidate is weighed anew if held-back anchors gain by it
(docs/decisions/0020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kedge.config import Config
from kedge.errors import KedgeError
from kedge.link.choice import FORMS, gains, ranking_scores, reciprocal_ranks, unassigned_scores
from kedge.link.evidence import common_edges
from kedge.link.mixture import Choices, fit_mixture, mix
from kedge.methods import evidence
from kedge.methods.together import hear_prior, vectors_of, what_is_known
from kedge.methods.turns import PLENTY, turns_at_most
from kedge.types import FloatArray, IntArray, Problem
from kedge.workshop import Workshop

__all__ = ["settle", "with_pairing", "with_vectors"]

_COMMON = 0.5  # of one network's edges: with more of them in the other one, evidence is not led astray
_TELLING = 30  # edges among the anchors of either network, from which such a share can be told
_FOLDS = 3
_CLEARLY = 2.0  # standard errors of a gain
_WORTH = 0.01  # in mean reciprocal rank: less is not worth another search, however many anchors are sure of it
_HELD = 600  # more at once tell little more, and the trial would have many fewer anchors than the run


def settle(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> Config:
    """The configuration with nothing left open, so that runs with fewer anchors need not choose again."""
    config = with_vectors(problem, evidence.settle(problem, config, seed))
    if config.pairing.use != "auto":
        return config
    workshop = workshop or Workshop()
    plain, count = with_pairing(config, use="no"), len(problem.anchors)
    # Fewer anchors cannot tell the six weights of a mixture apart.
    astray = count >= PLENTY and _few_common_edges(problem)
    dense = config.evidence.form == "dense"
    if dense and not astray:
        return plain
    turns = turns_at_most(problem.left, problem.right, count, config.pairing)
    if turns == 0:
        if 0 < count < PLENTY and config.pairing.accounts and config.pairing.vectors == "sketch":
            workshop.progress.note(
                f"{count} anchors are few for networks of this size: embeddings may find more, at more CPU, with "
                "--set pairing.use=yes"
            )
        return plain
    together = with_pairing(config, use="yes", turns=turns)
    if config.pairing.vectors == "mgcn":
        try:
            vectors_of(problem, together, workshop)
        except KedgeError as error:  # a network may be too odd to be trained, or memory too small
            workshop.progress.note(f"evidence alone is used: {error}")
            return plain
    if not astray:
        return together
    mixed = _with_mixture(problem, together, seed, workshop)
    return plain if dense and not mixed.pairing.mixture else mixed


def _few_common_edges(problem: Problem) -> bool:
    """Whether less than half of the edges among the anchors, in either network, are edges of the other one too."""
    common, *each = common_edges(problem)
    return min(each) >= _TELLING and all(common < _COMMON * edges for edges in each)


def _with_mixture(problem: Problem, together: Config, seed: int, workshop: Workshop) -> Config:
    """With the weights of a mixture, if held-back anchors gain by one: asked fold by fold, until they gain clearly or
    not at all."""
    choices: list[Choices] = []
    reached: FloatArray = np.zeros(0)
    for fold in _folds(problem, seed):
        one, ranks = _hold_back(problem, fold, together, workshop)
        choices.append(one)
        reached = np.append(reached, ranks)
        mixed = _mixed_ranks(choices, (problem.left.n, problem.right.n))
        worth_it = mixed.mean() >= reached.mean() + _WORTH
        if not worth_it or gains(mixed, reached, _CLEARLY):
            break
    better = worth_it and gains(mixed, reached, _CLEARLY)
    workshop.progress.note(
        "the networks have few edges in common: held-back anchors have a mean reciprocal rank of "
        f"{reached.mean():.3f} by evidence and embeddings, of {mixed.mean():.3f} where both are weighed anew; they are "
        f"{'weighed anew' if better else 'left as they are'}"
    )
    return with_pairing(together, mixture=fit_mixture(choices)) if better else together


def _folds(problem: Problem, seed: int) -> Sequence[IntArray]:
    """Thirds of the anchors, of very many a part."""
    drawn = np.random.default_rng(seed).permutation(len(problem.anchors))
    return np.array_split(drawn[: _FOLDS * _HELD], _FOLDS)


def _hold_back(problem: Problem, fold: IntArray, config: Config, workshop: Workshop) -> tuple[Choices, FloatArray]:
    """What a mixture has to choose from without the anchors of the fold, and 1 / rank of each by evidence's order."""
    trial, held = replace(problem, anchors=np.delete(problem.anchors, fold, axis=0)), problem.anchors[fold]
    heard = FORMS[config.evidence.form](trial, config.evidence)
    heard = hear_prior(trial, heard, config, workshop)
    near, known = what_is_known(trial, heard, config, workshop)
    return Choices(near.pairs, known, held), reciprocal_ranks(ranking_scores(heard), held)


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
