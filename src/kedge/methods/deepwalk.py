"""DeepWalk (Perozzi, Al-Rfou, Skiena; KDD 2014), each network by itself, then the shared phase 2.

Deviations: negative sampling (word2vec) in place of hierarchical softmax, as its successors do; walks, their length and
the window as in `baselines` (10, 40 and 5; the paper: 80, 40 and 10). Cost: walks · length · window · negatives · d for
each account, 6 s of CPU for the 2,270 accounts of arenas95; no n × n matrix.
"""

from __future__ import annotations

import numpy as np

from kedge.alignment import VectorAlignment
from kedge.config import Config
from kedge.methods.embedded import align_vectors
from kedge.methods.every_pair import need_anchors
from kedge.methods.skip_gram import walk_both
from kedge.types import Problem
from kedge.workshop import Workshop

__all__ = ["align"]


def align(problem: Problem, config: Config, seed: int, workshop: Workshop | None = None) -> VectorAlignment:
    """Both networks by walks and skip-gram, the right one moved into the left one's space (Eq. 11)."""
    need_anchors(problem, "deepwalk")
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(3)]
    left, right = walk_both(problem, config, seeds, workshop)
    return align_vectors(problem, left, right, config.pairing, seeds[2])
