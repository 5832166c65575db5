"""What two embeddings say of pairs, as a prior of evidence.

Few anchors lay two spaces over each other badly (Eq. 11), so the matches that evidence is certain of join them. How
much nearness then says is learnt from pairs that the projection has not seen (nearness.py). Of that only what speaks
for a pair is a prior: accounts that are not near are 0 away from evidence, not against it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from kedge.alignment import VectorAlignment
from kedge.config import PairingConfig
from kedge.link.beliefs import owners
from kedge.link.candidates import each_once
from kedge.link.evidence import Evidence
from kedge.link.nearness import fit_nearness, surroundings
from kedge.link.rerank import free_candidates
from kedge.link.unseen import FOLDS, project_folds
from kedge.progress import Progress
from kedge.reconcile import choose_ridge, lay_over
from kedge.types import BoolArray, FloatArray, IntArray, Problem

__all__ = ["Near", "certain_pairs", "near_pairs", "prior_of"]

_EXACT_UP_TO = 20_000  # accounts on a side: a prior is asked for turn by turn, and can miss one


def certain_pairs(problem: Problem, evidence: Evidence, least: float) -> IntArray:
    """The anchors, and the assigned pairs that evidence believes in at least by `least`, [m, 2]."""
    beliefs = evidence.beliefs
    sure = (beliefs.data >= least) & evidence.assigned
    return np.concatenate([problem.anchors, np.column_stack([owners(beliefs)[sure], beliefs.indices[sure]])])


@dataclass(frozen=True)
class Near:
    """Pairs [m, 2] that are near or that evidence reaches, how strongly nearness speaks for each, [m], and the vectors
    laid over each other."""

    pairs: IntArray
    log_ratio: FloatArray
    laid: VectorAlignment | None = None


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

    Where nothing lays the spaces over each other, or an account has no vector, nothing is said: a log-ratio of 0.

    `known` are the certain pairs, [m, 2]. `progress` is told what approximate search misses.
    """
    heard = np.column_stack([owners(candidates), candidates.indices])
    nothing = Near(heard, np.zeros(len(heard)))
    if len(known) < FOLDS:
        return nothing
    ridge = choose_ridge(left, right, known, np.random.default_rng(seed))
    laid = VectorAlignment(left, lay_over(left, right, known, ridge))
    near = free_candidates(problem, laid, config.nearest, _EXACT_UP_TO)
    if progress is not None and not near.exact:
        progress.note(
            # In steps, so that the many searches of a run are one line.
            f"the nearest accounts are searched for approximately: at least {min(int(10 * near.recall), 9) * 10}% of "
            "the true ones were found in a sample"
        )
    around = surroundings(near.cosines)
    rng = np.random.default_rng(seed)
    nearness = fit_nearness(project_folds(left, right, known, ridge, rng), problem.anchors, around, rng)
    if nearness is None:
        return nothing
    pairs = each_once(np.concatenate([near.pairs, heard]))
    pairs = pairs[~problem.is_rejected(pairs)]
    log_ratio = nearness.log_ratio(laid, pairs, around)
    for side, vectors in enumerate((laid.left, laid.right)):
        has_vector: BoolArray = np.any(vectors, axis=1)
        log_ratio = np.where(has_vector[pairs[:, side]], log_ratio, 0.0)
    return Near(pairs, log_ratio, laid)


def prior_of(near: Near, shape: tuple[int, int]) -> csr_array:
    """The log-ratios above 0, n_1 × n_2 sparse."""
    kept = near.log_ratio > 0
    return csr_array((near.log_ratio[kept], tuple(near.pairs[kept].T)), shape=shape)
