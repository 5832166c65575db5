"""node2vec (Grover, Leskovec; KDD 2016): biased random walks and skip-gram, then the shared phase 2.

A walk that came from t to v goes on to a neighbour x of v with a probability proportional to

    α(t, x) = 1/p if x = t,    1 if x neighbours t,    1/q otherwise

so that a large p seldom returns, q > 1 stays near t and q < 1 leads away. Skip-gram as in `deepwalk`.

Deviations: edges weigh alike, as in `deepwalk`; p and q are `baselines.walk_return` and `baselines.walk_outward`, the
same on every pair, where the paper chooses them on labels; steps are drawn by rejection in place of a table for each
edge, from the same probabilities; walks, their length and the window as in `baselines` (10, 40 and 5; the paper: 10, 80
and 10). Cost: that of `deepwalk`, and up to max(q, 1/q) draws per step; no n × n matrix.
"""

from __future__ import annotations

from kedge.config import Config
from kedge.context import RunContext, spawn_seeds
from kedge.linalg import VectorAlignment
from kedge.methods.shared.skip_gram import walk_both
from kedge.similarity import align_vectors
from kedge.types import Problem


def align(problem: Problem, config: Config, context: RunContext) -> VectorAlignment:
    """Both networks by biased walks and skip-gram, the right one projected into the left one's space (Eq. 11)."""
    left, right = walk_both(problem, config, context, biased=True)
    return align_vectors(problem, left, right, config.pairing, spawn_seeds(config.seed)[2])
