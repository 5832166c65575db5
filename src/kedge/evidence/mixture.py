"""The order of candidates where evidence alone misleads: all signals of a pair, weighed by validation anchors.

    P(v | u) ∝ exp(w · x(u, v)) over the candidates v of u, and likewise seen from the right

x(u, v) has, in the order of `COLUMNS`: the log of evidence's belief, its log-odds, whether the pair is assigned, its
vector similarity (similarity/likelihood.py), its degree prior (degree_prior.py), and the evidence of the anchors alone,
the log-odds after one round. Where networks share few edges, beliefs that depend on other beliefs mislead, and
similarity or the anchors alone rank better. w is the maximum-likelihood estimate for validation anchors whose partner
is one of their candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from kedge.evidence.propagate import Evidence
from kedge.linalg import entries_at, with_data
from kedge.types import BoolArray, FloatArray, IntArray

COLUMNS: Final = ("belief", "log-odds", "assigned", "similarity", "degree prior", "anchors alone")

_LEAST_LOG_BELIEF = -30.0
_UNREACHED = -10.0  # log-odds of a pair that evidence does not reach
_MOST_LOG_ODDS = 30.0  # more of them decide nothing any more
_ABOVE = 100.0  # added to every sum: see `mix`
_STRENGTH = 0.1  # of the pull of a weight to 0, in units of the column's spread


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
