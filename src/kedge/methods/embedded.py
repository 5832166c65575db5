"""Phase 2 and the pair network of every embedding method, in one place so that comparisons are fair.

Vectors of two networks become an alignment in three steps: the right ones are laid over the left ones by the anchors
(Eq. 11, or a method's own map); nearness and a pair network (section 2.6) learn from anchors that were held back from
the map; the nearest accounts become candidates, ordered as `pairing.score` says. What the network says of any pair
stays at hand for whoever asks for a yes or a no.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from kedge.alignment import Judge, VectorAlignment
from kedge.config import PairingConfig
from kedge.link.nearness import NearnessJudge, fit_nearness, surroundings
from kedge.link.pair_learning import learn
from kedge.link.rerank import free_candidates, prefer, rerank
from kedge.link.unseen import FOLDS, Unseen, project_folds
from kedge.reconcile import choose_ridge, lay_over
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["align_mapped", "align_shared", "align_vectors", "lay_vectors"]


def align_vectors(
    problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """The right vectors [n_2, d_2] moved into the space of the left ones [n_1, d_1] (Eq. 11), then the pair network.

    The ridge is chosen on anchors held back from the projection; `seed` says which.
    """
    ridge = choose_ridge(left, right, problem.anchors, np.random.default_rng(seed))
    laid = VectorAlignment(left, lay_over(left, right, problem.anchors, ridge))
    if len(problem.anchors) < FOLDS:
        return _ranked(problem, laid, config, _no_folds, seed)

    def folds() -> Iterator[Unseen]:
        return project_folds(left, right, problem.anchors, ridge, np.random.default_rng(seed))

    return _ranked(problem, laid, config, folds, seed)


def lay_vectors(problem: Problem, left: FloatArray, right: FloatArray, seed: int) -> VectorAlignment:
    """The cosines behind `align_vectors`, without candidates and without a pair network."""
    ridge = choose_ridge(left, right, problem.anchors, np.random.default_rng(seed))
    return VectorAlignment(left, lay_over(left, right, problem.anchors, ridge))


def align_mapped(
    problem: Problem, left: FloatArray, right: FloatArray, held: IntArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """Vectors [n_1, d] and [n_2, d] that a method's own map has brought into one space, then the pair network.

    It learns from the anchors in `held`, on which the map was not trained.
    """
    laid = VectorAlignment(left, right)
    halves = np.array_split(held, 2) if len(held) > 1 else []
    return _ranked(problem, laid, config, lambda: (Unseen(laid.left, laid.right, half) for half in halves), seed)


def align_shared(problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig) -> VectorAlignment:
    """Vectors that were learnt in one space, by cosine: there is no anchor that a pair network could learn from.

    The ends of an anchor share their vector, or (`regal`) a method asks for no anchors at all.
    """
    return _ranked(problem, VectorAlignment(left, right), config, _no_folds, 0)


def _no_folds() -> Iterator[Unseen]:
    return iter(())


def _ranked(
    problem: Problem, laid: VectorAlignment, config: PairingConfig, folds: Callable[[], Iterator[Unseen]], seed: int
) -> VectorAlignment:
    """The alignment whose candidates stand in the order that the settings, or held-back anchors, prefer."""
    near = free_candidates(problem, laid, config.nearest)
    trial = next(folds(), None)
    if config.score == "cosine" or trial is None:
        return replace(laid, head=rerank(problem, laid, near.pairs, None))
    judges: dict[str, Judge] = {}
    if config.score != "network":
        around = surroundings(near.cosines)
        # The first fold tells which order is better, so it teaches neither judge.
        nearness = fit_nearness(islice(folds(), 1, None), problem.anchors, around, np.random.default_rng(seed))
        if nearness is not None:
            judges["nearness"] = NearnessJudge(nearness, around)
    network = learn(folds(), config, np.random.default_rng(seed), seed)
    if network.trained:
        judges["network"] = network
    if config.score == "auto":
        chosen = prefer(trial, problem.anchors, judges.values(), config.nearest)
    else:
        chosen = judges.get(config.score)
    return replace(laid, head=rerank(problem, laid, near.pairs, chosen), judge=judges.get("network"))
