"""Evidence once more where some accounts have lost their edges, from what a run with them has found.

Calibration removes the partners of decoys (probability/folds.py). The anchors are the same in both runs, so nothing of
those that were held out is known here. Removed accounts are in no belief and in no prior. The last rounds, which mix
each belief with half of the one before, are enough to renew what depended on them (docs/decisions/0049).
"""

from __future__ import annotations

import numpy as np

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence.blocks import Where
from kedge.evidence.propagate import propagate
from kedge.evidence.ranking import rank_candidates
from kedge.linalg import SparseAlignment, without_entries
from kedge.types import Alignment, Problem


def realign(problem: Problem, config: Config, before: Alignment, context: RunContext) -> SparseAlignment | None:
    """The alignment of a problem whose accounts have lost edges; `before` is that of the whole one.

    None where beliefs and prior are not all that it rests on, and in the dense form: its beliefs sum to 1 on both
    sides, and from such a start decoys found too little room (docs/decisions/0049).
    """
    known = before.support
    if known is None or config.pairing.mixture or config.evidence.form == "dense" or problem.profiles is not None:
        return None
    gone = [np.flatnonzero(network.degrees == 0) for network in (problem.left, problem.right)]
    prior = None if known.prior is None else without_entries(known.prior.tocsr(), *gone)
    beliefs = without_entries(known.beliefs.tocsr(), *gone)
    where = Where.of(config.engine, context)
    return rank_candidates(problem, propagate(problem, config.evidence, prior, start=beliefs, where=where))
