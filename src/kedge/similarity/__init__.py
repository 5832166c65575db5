"""Vectors of two networks: candidates, log-odds of similarity, and the pair network."""

from kedge.similarity.align import align_mapped, align_shared, align_vectors, project_vectors
from kedge.similarity.candidates import each_once, free_candidates
from kedge.similarity.likelihood import FOLDS, fit_similarity, local_scales, log_distance, project_folds
from kedge.similarity.pair_network import PairNetwork

__all__ = [
    "FOLDS",
    "PairNetwork",
    "align_mapped",
    "align_shared",
    "align_vectors",
    "each_once",
    "fit_similarity",
    "free_candidates",
    "local_scales",
    "log_distance",
    "project_folds",
    "project_vectors",
]
