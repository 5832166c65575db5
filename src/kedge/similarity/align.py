"""Phase 2 and the pair network of every embedding method, in one place so that comparisons are fair.

Vectors of two networks become an alignment in three steps: the right ones are projected into the space of the left ones
by the anchors (Eq. 11, or a method's own map); vector similarity and a pair network (section 2.6) are fitted on
validation anchors, which the map was not fitted on; the nearest accounts become candidates, ordered by `pairing.score`.
The network stays in the alignment: it gives the log-odds of any pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import PairingConfig
from kedge.reconcile import choose_ridge, project_onto
from kedge.similarity.candidates import free_candidates
from kedge.similarity.folds import FOLDS, ValidationFold, project_folds
from kedge.similarity.likelihood import fit_similarity, local_scales
from kedge.similarity.pair_training import train_pair_network
from kedge.similarity.rerank import LogOdds, choose_order, rerank
from kedge.types import FloatArray, IntArray, Problem


def align_vectors(
    problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """The right vectors [n_2, d_2] projected into the left ones' space [n_1, d_1] (Eq. 11), then the pair network.

    The ridge is chosen on validation anchors, which `seed` draws.
    """
    ridge = choose_ridge(left, right, problem.anchors, np.random.default_rng(seed))
    projected = VectorAlignment(left, project_onto(left, right, problem.anchors, ridge))

    def folds() -> Iterator[ValidationFold]:
        if len(problem.anchors) < FOLDS:
            return iter(())
        return project_folds(left, right, problem.anchors, ridge, np.random.default_rng(seed))

    return _ranked(problem, projected, config, folds, seed)


def project_vectors(problem: Problem, left: FloatArray, right: FloatArray, seed: int) -> VectorAlignment:
    """The cosines behind `align_vectors`, without candidates and without a pair network."""
    ridge = choose_ridge(left, right, problem.anchors, np.random.default_rng(seed))
    return VectorAlignment(left, project_onto(left, right, problem.anchors, ridge))


def align_mapped(
    problem: Problem, vectors: VectorAlignment, validation: IntArray, config: PairingConfig, seed: int
) -> VectorAlignment:
    """Vectors that a method's own map has brought into one space, then the pair network.

    It learns from the `validation` anchors, on which the map was not trained.
    """
    halves = np.array_split(validation, 2) if len(validation) > 1 else []

    def folds() -> Iterator[ValidationFold]:
        return (ValidationFold(vectors.left, vectors.right, half) for half in halves)

    return _ranked(problem, vectors, config, folds, seed)


def align_shared(problem: Problem, left: FloatArray, right: FloatArray, config: PairingConfig) -> VectorAlignment:
    """Vectors that were learnt in one space, by cosine: there is no anchor that a pair network could learn from.

    The ends of an anchor share their vector, or (`regal`) a method uses no anchors at all.
    """
    return _ranked(problem, VectorAlignment(left, right), config, lambda: iter(()), 0)


def _ranked(
    problem: Problem,
    vectors: VectorAlignment,
    config: PairingConfig,
    folds: Callable[[], Iterator[ValidationFold]],
    seed: int,
) -> VectorAlignment:
    """The alignment with its candidates in the order that the settings give, or that validation anchors choose."""
    near = free_candidates(problem, vectors, config.nearest)
    trial = next(folds(), None)
    if config.score == "cosine" or trial is None:
        return replace(vectors, head=rerank(problem, vectors, near.pairs, None))
    models: dict[str, LogOdds] = {}
    if config.score != "network":
        # The first fold chooses the order, so neither model is fitted on it.
        others, scales = islice(folds(), 1, None), local_scales(near.cosines)
        similarity = fit_similarity(others, problem.anchors, scales, np.random.default_rng(seed))
        if similarity is not None:
            models["similarity"] = similarity.log_odds
    network = train_pair_network(folds(), config, seed)
    if network.trained:
        models["network"] = network.log_odds
    if config.score == "auto":
        chosen = choose_order(trial, problem.anchors, models.values(), config.nearest)
    else:
        chosen = models.get(config.score)
    head = rerank(problem, vectors, near.pairs, chosen)
    return replace(vectors, head=head, network=network if network.trained else None)
