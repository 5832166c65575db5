"""What each neighbour of the two accounts adds to a pair's log-odds: every neighbour is named once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.evidence.kernels import LEAST_RATIO
from kedge.evidence.model import Evidence
from kedge.types import FloatArray, IntArray, Network, Problem

_LEAST_BELIEF: Final = 0.05  # two neighbours that are less likely the same person are not named together; unmeasured


@dataclass(frozen=True)
class Term:
    """What neighbours add to L(u, v): `a` and `b` together, or one of them where the other is -1; both -1: the prior.

    `belief`: that a and b are the same person. Of a neighbour alone: that its match is among the other account's
    neighbours where the weight is not negative, that it is somebody else where it is.
    """

    a: int
    b: int
    belief: float
    weight: float


def terms(problem: Problem, evidence: Evidence, u: int, v: int) -> list[Term]:
    """The terms that add up to L(u, v) without an outer prior, largest first; each neighbour is in one of them at most.

    A neighbour's part of the log-odds rests on all of its possible matches. It is named with the likeliest of them that
    no likelier pair of neighbours has taken. Works for any pair, also one that is no candidate.
    """
    left, right = _neighbours(problem.left, u), _neighbours(problem.right, v)
    P = evidence.support
    rows = P[left]
    block = rows[:, right].tocoo()
    i, j = block.coords
    known = np.bincount(P.indices, P.data, minlength=P.shape[1])[right]  # of any match, for right neighbours
    rho = [np.minimum(np.asarray(rows.sum(axis=1)).ravel(), 1.0), np.minimum(known, 1.0)]
    inside = [np.bincount(k, block.data, minlength=len(side)) for k, side in ((i, left), (j, right))]
    totals = [
        _totals(rho[0], block.data, evidence.s, problem.right, v, right[j], i),
        _totals(rho[1], block.data, evidence.t, problem.left, u, left[i], j),
    ]
    joined = _one_to_one(i, j, block.data)
    found = [Term(int(left[k]), int(right[m]), p, float(totals[0][k] + totals[1][m])) for k, m, p in joined]
    for side, accounts in enumerate((left, right)):
        alone = np.setdiff1d(np.flatnonzero(rho[side] > 0), [pair[side] for pair in joined])
        for k in alone.tolist():
            weight = float(totals[side][k])
            belief = float(inside[side][k] if weight >= 0 else max(rho[side][k] - inside[side][k], 0.0))
            a, b = (int(accounts[k]), -1) if side == 0 else (-1, int(accounts[k]))
            found.append(Term(a, b, belief, weight))
    found.append(Term(-1, -1, 1.0, evidence.degree_prior.ratio(u, v)))
    return sorted(found, key=lambda term: (-term.weight, term.a, term.b))


def _totals(
    rho: FloatArray, belief: FloatArray, hit: float, far: Network, there: int, partner: IntArray, place: IntArray
) -> FloatArray:
    """Half the log-odds from each neighbour on one side, by its possible matches among the other account's."""
    rarity = float(far.adjacency.nnz) / (float(far.degrees[there]) * far.degrees[partner].astype(np.float64))
    ratio = np.maximum(hit * (1 + rarity), LEAST_RATIO)
    received = np.bincount(place, belief * (ratio - (1 - hit)), minlength=len(rho))
    return np.asarray(0.5 * np.log(1 - rho * hit + received))


def _one_to_one(i: IntArray, j: IntArray, belief: FloatArray) -> list[tuple[int, int, float]]:
    """Neighbours as pairs, the likeliest first, no neighbour twice."""
    order = np.lexsort((j, i, -belief))
    order = order[belief[order] >= _LEAST_BELIEF]
    taken: tuple[set[int], set[int]] = (set(), set())
    found = []
    for k, m, p in zip(i[order].tolist(), j[order].tolist(), belief[order].tolist(), strict=True):
        if k not in taken[0] and m not in taken[1]:
            taken[0].add(k)
            taken[1].add(m)
            found.append((k, m, p))
    return found


def _neighbours(network: Network, account: int) -> IntArray:
    adjacency: csr_array = network.adjacency
    return np.asarray(adjacency.indices[adjacency.indptr[account] : adjacency.indptr[account + 1]])
