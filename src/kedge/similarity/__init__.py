"""Vectors of two networks: candidates, log-odds of similarity, and the pair network.

`pair_network` is reached directly: it is trained for some methods only.
"""

from kedge.similarity.align import FOLDS, align_mapped, align_shared, align_vectors, project_by, project_folds
from kedge.similarity.candidates import each_once, free_candidates, nearest_pairs
from kedge.similarity.likelihood import fit_logistic, fit_similarity, local_scales, log_distance
from kedge.similarity.local_scaling import mutual_best, scale_locally
