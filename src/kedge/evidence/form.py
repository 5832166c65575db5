"""Which form of evidence propagation suits a problem: tried on validation anchors."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from scipy.sparse import csr_array

from kedge.config import EvidenceConfig
from kedge.evidence.beliefs import matched, two_sided
from kedge.evidence.dense import propagate_dense
from kedge.evidence.propagate import Evidence, propagate
from kedge.linalg import gains, reciprocal_ranks, with_data
from kedge.types import FloatArray, Problem

Form = Literal["sparse", "dense"]
FORMS: Final = {"sparse": propagate, "dense": propagate_dense}

_FOLDS = 3
_LEAST_HELD = 20  # fewer do not separate two forms
_CLEARLY = 2.0  # standard errors of a difference, from which no further fold is tried
_RAISE = 3.0  # in log-belief: an assigned pair overtakes rivals up to twenty times as believable
_SLIGHT_RAISE = 0.3  # where the order is one-to-one already: an assignment decides close cases alone


def ranking_scores(evidence: Evidence) -> csr_array:
    """Log-beliefs, raised a little for assigned pairs.

    A belief weighs a pair against the rivals of both its accounts, so it ranks better than the log-odds alone. Among
    accounts that are equal in the networks the assignment chooses, consistently, where a tie would rank them
    all behind each other; the raise is too small to overrule clear evidence.
    """
    raised = _SLIGHT_RAISE if evidence.balanced else _RAISE
    return _ranked(evidence.beliefs, evidence.log_odds.data, raised * evidence.assigned)


def weighed_scores(weighed: csr_array) -> csr_array:
    """The same of the log-odds of a mixture (mixture.py), n_1 × n_2: with its own beliefs and assignment."""
    return _weighed(weighed, _SLIGHT_RAISE * matched(weighed))


def unassigned_scores(weighed: csr_array) -> csr_array:
    """The same without the assignment, which costs more than all else and moves few ranks."""
    return _weighed(weighed, np.zeros(weighed.nnz))


def _weighed(weighed: csr_array, raised: FloatArray) -> csr_array:
    beliefs = with_data(weighed, two_sided(weighed, 1.0))
    return _ranked(beliefs, weighed.data - weighed.data.max(initial=0.0), raised)


def _ranked(beliefs: csr_array, log_odds: FloatArray, raised: FloatArray) -> csr_array:
    # Beliefs may underflow; the log-odds still order what is left.
    data = np.log(np.maximum(beliefs.data, 1e-30)) + 1e-3 * np.clip(log_odds, -100, 100)
    return with_data(beliefs, data + raised)


def choose(problem: Problem, config: EvidenceConfig, seed: int) -> Form:
    """The form with the better mean reciprocal rank on validation anchors; sparse where that cannot be tried.

    The dense form is tried only where n_1 × n_2 is small and there are enough anchors. Each is a validation anchor
    once, unless one form is clearly better before; in a tie it is sparse, which assumes less. (Letting equal
    sizes decide close cases was tried: on planted pairs of one size that overlap by 60 to 95 % it cost up to 0.11 in
    mean reciprocal rank. So was sparse wherever that finds nine in ten: it cost up to 0.008 where networks
    overlap fully.)
    """
    count = len(problem.anchors)
    if problem.left.n * problem.right.n > config.dense_cells or count // _FOLDS < _LEAST_HELD:
        return "sparse"
    sparse, dense = np.zeros(0), np.zeros(0)
    for trial, held in problem.folds(_FOLDS, seed):
        sparse = np.append(sparse, reciprocal_ranks(ranking_scores(propagate(trial, config)), held))
        dense = np.append(dense, reciprocal_ranks(ranking_scores(propagate_dense(trial, config)), held))
        if gains(dense, sparse, _CLEARLY) or gains(sparse, dense, _CLEARLY):
            break
    return "dense" if dense.mean() > sparse.mean() else "sparse"
