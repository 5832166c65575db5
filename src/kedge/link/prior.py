"""What two embeddings say of pairs, as a prior of evidence.

Few anchors lay two spaces over each other badly (Eq. 11), so the matches that evidence is certain of join them. The
pair network then learns from pairs that its projection has not seen (pair_learning.py). Only what speaks for a pair is
kept: accounts that are not near are 0 away from evidence, not against it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from kedge.config import PairingConfig
from kedge.linalg import unit_rows
from kedge.link.beliefs import owners
from kedge.link.candidates import nearest_pairs
from kedge.link.evidence import Evidence
from kedge.link.pair_learning import FOLDS, learn, project_folds
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
    evidence: Evidence,
    config: PairingConfig,
    seed: int,
    progress: Progress | None = None,
) -> csr_array:
    """Log-odds of the nearest pairs and of evidence's candidates, from 0 to `config.most`, n_1 × n_2 sparse.

    `progress` is told what approximate search misses.
    """
    known = certain_pairs(problem, evidence, config.certain)
    shape = (problem.left.n, problem.right.n)
    if len(known) < FOLDS:
        return csr_array(shape, dtype=np.float64)
    ridge = choose_ridge(left, right, known, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    network = learn(project_folds(left, right, known, ridge, rng), config, rng, seed)
    moved = lay_over(left, right, known, ridge)
    free = [np.setdiff1d(np.arange(size), problem.anchors[:, side]) for side, size in enumerate(shape)]
    near = nearest_pairs(left, moved, config.nearest, free[0], free[1])
    if progress is not None and not near.exact:
        progress.note(
            f"the nearest accounts are searched for approximately: {near.recall:.0%} of the true ones were found "
            "in a sample"
        )
    heard = np.column_stack([owners(evidence.log_odds), evidence.log_odds.indices])
    pairs = np.unique(np.concatenate([near.pairs, heard]), axis=0)
    said = np.clip(network.log_odds(unit_rows(left), unit_rows(moved), pairs), 0.0, config.most)
    kept = said > 0
    return csr_array((said[kept].astype(np.float64), tuple(pairs[kept].T)), shape=shape)
