"""Vectors of two networks: candidates, log-odds of similarity, and the pair network."""

from kedge.similarity.align import FOLDS, align_mapped, align_shared, align_vectors, project_folds, project_vectors
from kedge.similarity.candidates import each_once, free_candidates
from kedge.similarity.likelihood import fit_logistic, fit_similarity, local_scales, log_distance
from kedge.similarity.pair_network import PairNetwork
