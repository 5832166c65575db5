"""What two embeddings say of pairs, as a prior of evidence.

Few anchors lay two spaces over each other badly (Eq. 11), so the matches that evidence is certain of join them. How
much nearness then says is learnt from pairs that the projection has not seen (nearness.py). Only what speaks for a pair
is kept: accounts that are not near are 0 away from evidence, not against it.
"""

from __future__ import annotations

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
from kedge.types import FloatArray, IntArray, Problem

__all__ = ["certain_pairs", "embedded_prior"]


def certain_pairs(problem: Problem, evidence: Evidence, least: float) -> IntArray:
    """The anchors, and the assigned pairs that evidence believes in at least by `least`, [m, 2]."""
    beliefs = evidence.beliefs
    sure = (beliefs.data >= least) & evidence.assigned
    return np.concatenate([problem.anchors, np.column_stack([owners(beliefs)[sure], beliefs.indices[sure]])])


def embedded_prior(
    problem: Problem,
    left: FloatArray,
    right: FloatArray,
    known: IntArray,
    candidates: csr_array,
    config: PairingConfig,
    seed: int,
    progress: Progress | None = None,
) -> csr_array:
    """`config.weight` × log-ratio of the nearest pairs and of evidence's `candidates` where above 0, n_1 × n_2 sparse.

    `known` are the certain pairs, [m, 2]. `progress` is told what approximate search misses.
    """
    shape = (problem.left.n, problem.right.n)
    nothing = csr_array(shape, dtype=np.float64)
    if len(known) < FOLDS:
        return nothing
    ridge = choose_ridge(left, right, known, np.random.default_rng(seed))
    laid = VectorAlignment(left, lay_over(left, right, known, ridge))
    near = free_candidates(problem, laid, config.nearest)
    if progress is not None and not near.exact:
        progress.note(
            f"the nearest accounts are searched for approximately: {near.recall:.0%} of the true ones were found "
            "in a sample"
        )
    around = surroundings(near.cosines)
    rng = np.random.default_rng(seed)
    nearness = fit_nearness(project_folds(left, right, known, ridge, rng), problem.anchors, around, rng)
    if nearness is None:
        return nothing
    heard = np.column_stack([owners(candidates), candidates.indices])
    # An account without a vector stands nowhere, so nothing is near it.
    for side, vectors in enumerate((laid.left, laid.right)):
        heard = heard[vectors[heard[:, side]].any(axis=1)]
    pairs = each_once(np.concatenate([near.pairs, heard]))
    said = config.weight * nearness.log_ratio(laid, pairs, around)
    kept = said > 0
    return csr_array((said[kept], tuple(pairs[kept].T)), shape=shape)
