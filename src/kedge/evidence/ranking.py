"""Evidence as an alignment: the order of candidates, by belief, or by a mixture where evidence alone misleads.

A mixture weighs all signals of a pair by validation anchors:

    P(v | u) ∝ exp(w · x(u, v)) over the candidates v of u, and likewise seen from the right

x(u, v) has, in the order of `COLUMNS`: the log of evidence's belief, its log-odds, whether the pair is assigned, its
vector similarity (similarity/likelihood.py), its degree prior (model.py), and the evidence of the anchors alone, the
log-odds after one round. Where networks share few edges, beliefs that depend on other beliefs mislead, and similarity
or the anchors alone rank better. w is the maximum-likelihood estimate for validation anchors whose partner is one of
their candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from kedge.evidence.beliefs import two_sided
from kedge.evidence.model import Evidence
from kedge.evidence.propagate import matched
from kedge.linalg import SparseAlignment, entries_at, with_data
from kedge.types import BoolArray, FloatArray, IntArray, Problem, Support

COLUMNS: Final = ("belief", "log-odds", "assigned", "similarity", "degree prior", "anchors alone")
_LEAST_LOG_BELIEF = -30.0  # lower ones are equally unlikely; unmeasured
_UNREACHED = -10.0  # log-odds of a pair that evidence does not reach; unmeasured
_MOST_LOG_ODDS = 30.0  # more of them decide nothing any more; unmeasured
_ABOVE = 100.0  # added to every sum: see `mix`
_STRENGTH = 0.1  # of the pull of a weight to 0, in units of the column's spread; unmeasured
_RAISE = 3.0  # in log-belief: rivals up to twenty times as believable are overtaken (benchmarks/evidence_choice.py)
_SLIGHT_RAISE = 0.3  # where the order is one-to-one already: close cases alone (docs/decisions/0022)


@dataclass(frozen=True)
class Choices:
    """Candidates [m, 2], the signals of each [m, 6], and the validation pairs [k, 2]."""

    pairs: IntArray
    known: FloatArray
    held: IntArray


def known_of(pairs: IntArray, similarity: FloatArray, evidence: Evidence, anchors_alone: Evidence) -> FloatArray:
    """The columns x of each pair, [m, 6]."""
    beliefs = evidence.beliefs
    log_belief = entries_at(with_data(beliefs, np.log(np.maximum(beliefs.data, np.exp(_LEAST_LOG_BELIEF)))), pairs)
    assigned = entries_at(with_data(beliefs, evidence.assigned.astype(np.float64)), pairs)
    own = evidence.degree_prior.of_accounts(pairs[:, 0], pairs[:, 1])
    alike = np.einsum("ij,ij->i", own.left, own.right)
    return np.column_stack(
        [
            np.maximum(log_belief, _LEAST_LOG_BELIEF),
            _log_odds(evidence, pairs),
            np.maximum(assigned, 0.0),
            similarity,
            alike + own.left_term + own.right_term,
            _log_odds(anchors_alone, pairs),
        ]
    )


def _log_odds(evidence: Evidence, pairs: IntArray) -> FloatArray:
    found = entries_at(evidence.log_odds, pairs)
    return np.clip(np.where(np.isneginf(found), _UNREACHED, found), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)


def mix(pairs: IntArray, known: FloatArray, weights: Sequence[float], shape: tuple[int, int]) -> csr_array:
    """w · x of each candidate and a constant, n_1 × n_2 sparse.

    A choice has no zero of its own; the constant keeps all candidates well above 0, where staying alone stands.
    """
    return csr_array((known @ np.asarray(weights, np.float64) + _ABOVE, tuple(pairs.T)), shape=shape)


def fit_mixture(choices: Sequence[Choices]) -> tuple[float, ...]:
    """w from all choices together: the likeliest, drawn to 0 by `_STRENGTH`."""
    asked = [_asked(one, side) for one in choices for side in (0, 1)]
    columns, true, counts = (np.concatenate(part) for part in zip(*asked, strict=True))
    if len(counts) == 0:
        return (0.0,) * len(COLUMNS)
    spread = np.maximum(columns.std(axis=0), 1e-6)
    x = (columns - columns.mean(axis=0)) / spread
    first = np.cumsum(counts) - counts
    choice = np.repeat(np.arange(len(counts)), counts)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        z = x @ w
        z -= np.maximum.reduceat(z, first)[choice]
        weight = np.exp(z)
        total = np.add.reduceat(weight, first)
        value = np.log(total).sum() - z[true].sum() + _STRENGTH * (w @ w) / 2
        return float(value), x.T @ (weight / total[choice] - true) + _STRENGTH * w

    found = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    return tuple((found / spread).tolist())


def _asked(choices: Choices, side: int) -> tuple[FloatArray, BoolArray, IntArray]:
    """What the held accounts on `side` choose from, one after the other: columns, which is right, how many of each.

    An account whose partner is no candidate has nothing to choose.
    """
    mine, other = choices.pairs[:, side], choices.pairs[:, 1 - side]
    partner = np.full(max(mine.max(initial=-1), choices.held[:, side].max(initial=-1)) + 1, -1)
    partner[choices.held[:, side]] = choices.held[:, 1 - side]
    true = partner[mine] == other
    able = np.zeros(len(partner), np.bool_)
    able[mine[true]] = True
    rows = np.flatnonzero(able[mine])
    rows = rows[np.argsort(mine[rows], kind="stable")]
    return choices.known[rows], true[rows], np.unique(mine[rows], return_counts=True)[1]


def ranking_scores(evidence: Evidence) -> csr_array:
    """Log-beliefs, raised a little for assigned pairs.

    A belief weighs a pair against the rivals of both its accounts, so it ranks better than the log-odds alone. Among
    accounts that are equal in the networks the assignment chooses, consistently, where a tie would rank them
    all behind each other; the raise is too small to overrule clear evidence.
    """
    raised = _SLIGHT_RAISE if evidence.balanced else _RAISE
    return _ranked(evidence.beliefs, evidence.log_odds.data, raised * evidence.assigned)


def weighed_scores(weighed: csr_array, assigned: bool = True) -> csr_array:
    """The same of the log-odds of a mixture (`mix`), n_1 × n_2: with its own beliefs and assignment.

    A trial goes without the assignment, which costs more than all else and moves few ranks.
    """
    raised = _SLIGHT_RAISE * matched(weighed) if assigned else np.zeros(weighed.nnz)
    beliefs = with_data(weighed, two_sided(weighed, 1.0))
    return _ranked(beliefs, weighed.data - weighed.data.max(initial=0.0), raised)


def _ranked(beliefs: csr_array, log_odds: FloatArray, raised: FloatArray) -> csr_array:
    # Beliefs may underflow; the log-odds still order what is left.
    data = np.log(np.maximum(beliefs.data, 1e-30)) + 1e-3 * np.clip(log_odds, -100, 100)
    return with_data(beliefs, data + raised)


def rank_candidates(problem: Problem, evidence: Evidence) -> SparseAlignment:
    """Candidates ranked by belief, anchors above them, with the log-odds, or what takes their place, as strength.

    Log-odds are the evidence for a pair alone, its rank compares it with its rivals: probabilities use both.
    """
    mixed = evidence.mixed
    ranked = ranking_scores(evidence) if mixed is None else weighed_scores(mixed)
    left, right = problem.anchors.T
    top = max(float(ranked.data.max()), 0.0) + 1.0 if ranked.nnz else 1.0
    anchors = csr_array((np.full(len(left), top), (left, right)), shape=ranked.shape)
    strengths = evidence.log_odds if mixed is None else mixed
    support = Support(evidence.support, evidence.prior)
    return SparseAlignment(csr_array(ranked + anchors), strengths, evidence.vectors, support)
