"""The vector similarity of two networks as a prior of evidence, refined while that makes more matches certain.

Few anchors align two spaces badly (Eq. 11), so the matches that evidence is certain of join them. The likelihood ratio
of similarity is learnt from pairs that were held out of the projection (similarity/likelihood.py). Only evidence for a
pair is a prior: for accounts that are not similar it is 0, not negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import VectorAlignment
from kedge.config import Config, PairingConfig
from kedge.context import Progress, RunContext
from kedge.embedding.sketch import sketch_both
from kedge.evidence.forms import FORMS
from kedge.evidence.model import Evidence
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import known_of
from kedge.linalg import row_index
from kedge.reconcile import choose_ridge, project_onto
from kedge.similarity import FOLDS, each_once, fit_similarity, free_candidates, local_scales, project_folds
from kedge.types import BoolArray, FloatArray, IntArray, Problem

_EXACT_UP_TO = 20_000  # accounts per network: a prior is made in each refinement, and can miss a pair


def certain_pairs(problem: Problem, evidence: Evidence, least: float) -> IntArray:
    """The anchors, and the assigned pairs that evidence believes in at least by `least`, [m, 2]."""
    beliefs = evidence.beliefs
    sure = (beliefs.data >= least) & evidence.assigned
    return np.concatenate([problem.anchors, np.column_stack([row_index(beliefs)[sure], beliefs.indices[sure]])])


@dataclass(frozen=True)
class Near:
    """Pairs [m, 2] that are similar or that evidence reaches, the log-likelihood ratio of each, [m], and the aligned
    vectors."""

    pairs: IntArray
    log_ratio: FloatArray
    vectors: VectorAlignment | None = None


def near_pairs(
    problem: Problem,
    left: FloatArray,
    right: FloatArray,
    known: IntArray,
    candidates: csr_array,
    config: PairingConfig,
    seed: int,
    progress: Progress | None = None,
) -> Near:
    """The nearest pairs and evidence's `candidates`, without rejected ones.

    Where the spaces cannot be aligned, or an account has no vector, the log-ratio is 0.

    `known` are the certain pairs, [m, 2]. `progress` gets a note where the search is approximate.
    """
    reached = np.column_stack([row_index(candidates), candidates.indices])
    nothing = Near(reached, np.zeros(len(reached)))
    if len(known) < FOLDS:
        return nothing
    ridge = choose_ridge(left, right, known, np.random.default_rng(seed))
    aligned = VectorAlignment(left, project_onto(left, right, known, ridge))
    near = free_candidates(problem, aligned, config.nearest, _EXACT_UP_TO)
    if progress is not None and not near.exact:
        progress.note(
            # In steps, so that the many searches of a run are one line.
            f"the nearest accounts are searched for approximately: at least {min(int(10 * near.recall), 9) * 10}% of "
            "the true ones were found in a sample"
        )
    rng, scales = np.random.default_rng(seed), local_scales(near.cosines)
    similarity = fit_similarity(project_folds(left, right, known, ridge, rng), problem.anchors, scales, rng)
    if similarity is None:
        return nothing
    pairs = each_once(np.concatenate([near.pairs, reached]))
    pairs = pairs[~problem.is_rejected(pairs)]
    log_ratio = similarity.log_ratio(aligned, pairs)
    for side, vectors in enumerate((aligned.left, aligned.right)):
        has_vector: BoolArray = np.any(vectors, axis=1)
        log_ratio = np.where(has_vector[pairs[:, side]], log_ratio, 0.0)
    return Near(pairs, log_ratio, aligned)


def prior_of(near: Near, shape: tuple[int, int]) -> csr_array:
    """The log-ratios above 0, n_1 × n_2 sparse."""
    kept = near.log_ratio > 0
    return csr_array((near.log_ratio[kept], tuple(near.pairs[kept].T)), shape=shape)


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
    from kedge.embedding.network import embed_both  # training is loaded where something is trained

    return tuple(made.vectors for made in embed_both(problem, config, config.seed, context))
