"""The order of candidates where evidence alone misleads: all that is known of a pair, weighed as held-back anchors ask.

    P(v | u) ∝ exp(w · x(u, v)) over the candidates v of u, and likewise seen from the right

x(u, v) has, in the order of `COLUMNS`: the log of evidence's belief, its log-odds, whether the pair is assigned, how
near it is in the shared space (nearness.py), how alike the accounts look (profile.py), and what the anchors alone say,
the log-odds after one round. Where networks share few edges, beliefs that rest on beliefs go astray, and nearness or
the anchors' own word are the better guide; how much, w tells: the likeliest for held-back anchors that have to pick
their partners from among their candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from kedge.alignment import SparseAlignment
from kedge.link.evidence import Evidence
from kedge.types import BoolArray, FloatArray, IntArray

__all__ = ["COLUMNS", "Choices", "fit_mixture", "known_of", "mix"]

COLUMNS: Final = ("belief", "log-odds", "assigned", "nearness", "profile", "anchors")

_LEAST_LOG_BELIEF = -30.0
_UNHEARD = -10.0  # log-odds of a pair that evidence does not reach
_MOST_LOG_ODDS = 30.0  # more of them decide nothing any more
_ABOVE = 100.0  # added to every sum: see `mix`
_STRENGTH = 0.1  # of the belief that a column says nothing, in units of its spread


@dataclass(frozen=True)
class Choices:
    """Candidates [m, 2], what is known of each [m, 6], and the pairs [k, 2] that were held back while it was learnt."""

    pairs: IntArray
    known: FloatArray
    held: IntArray


def known_of(pairs: IntArray, nearness: FloatArray, evidence: Evidence, anchors_alone: Evidence) -> FloatArray:
    """The columns x of each pair, [m, 6]."""
    beliefs = evidence.beliefs
    log_belief = _entries(beliefs, np.log(np.maximum(beliefs.data, np.exp(_LEAST_LOG_BELIEF))), pairs)
    assigned = _entries(beliefs, evidence.assigned.astype(np.float64), pairs)
    looks = evidence.profile
    alike = np.einsum("ij,ij->i", looks.left[pairs[:, 0]], looks.right[pairs[:, 1]])
    return np.column_stack(
        [
            np.maximum(log_belief, _LEAST_LOG_BELIEF),
            _log_odds(evidence, pairs),
            np.maximum(assigned, 0.0),
            nearness,
            alike + looks.left_term[pairs[:, 0]] + looks.right_term[pairs[:, 1]],
            _log_odds(anchors_alone, pairs),
        ]
    )


def _entries(pattern: csr_array, values: FloatArray, pairs: IntArray) -> FloatArray:
    """The value at each pair; -inf where the pattern has none."""
    return SparseAlignment(csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)).score(pairs)


def _log_odds(evidence: Evidence, pairs: IntArray) -> FloatArray:
    found = _entries(evidence.log_odds, evidence.log_odds.data, pairs)
    return np.clip(np.where(np.isneginf(found), _UNHEARD, found), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)


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
