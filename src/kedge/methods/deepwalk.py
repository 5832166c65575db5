"""DeepWalk (Perozzi, Al-Rfou, Skiena; KDD 2014), each network by itself, then the shared phase 2.

Deviations: negative sampling (word2vec) in place of hierarchical softmax, as its successors do; walks, their length and
the window as in `baselines` (10, 40 and 5; the paper: 80, 40 and 10). Cost: walks · length · window · negatives · d for
each account, 6 s of CPU for the 2,270 accounts of arenas95; no n × n matrix.
"""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext, spawn_seeds
from kedge.linalg import VectorAlignment
from kedge.methods.shared.skip_gram import walk_both
from kedge.similarity import align_vectors
from kedge.types import Problem


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks by walks and skip-gram, the right one projected into the left one's space (Eq. 11)."""
    left, right = walk_both(problem, config, context)
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])
