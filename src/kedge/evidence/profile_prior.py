"""Profiles as a prior of evidence: log-odds of every pair, exact where they matter.

The candidates that profiles find have their log-odds; any other pair has the usual ones of two accounts that differ in
every field that both have, a small dot product. Pairs that evidence reaches are looked at exactly from then on, so a
common value, which no search lists, counts for the pairs that structure proposes.

How much profiles count beside structure is chosen on validation anchors, 0 among the choices: where profiles mislead,
the result is that of structure alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.evidence.model import DegreePrior
from kedge.linalg import entries_at, reorder, row_index, with_data
from kedge.profiles import compare, weigh
from kedge.types import FloatArray, IntArray, Problem

_LISTED: Final = 20  # candidates of each account by profiles alone (docs/decisions/0042)


@dataclass(frozen=True)
class ProfilePrior:
    """Log-odds of pairs by profiles: the usual ones, `left` [n_1, g] · `right` [n_2, g], and `beyond` them, n_1 × n_2,
    of the pairs looked at; `exact` gives the log-odds of any pairs [m, 2]."""

    beyond: csr_array
    left: FloatArray
    right: FloatArray
    exact: Callable[[IntArray], FloatArray]

    def usual(self, pairs: IntArray) -> FloatArray:
        """What pairs count that were not looked at, [m]."""
        return np.asarray(np.einsum("ij,ij->i", self.left[pairs[:, 0]], self.right[pairs[:, 1]]))

    def of(self, L: csr_array) -> FloatArray:
        """The log-odds of each entry of L, [m]."""
        pairs = pairs_of(L)
        found = entries_at(self.beyond, pairs)
        return np.where(np.isneginf(found), 0.0, found) + self.usual(pairs)

    def joined(self, degree: DegreePrior) -> DegreePrior:
        """The degree prior with the usual log-odds: both are dot products of accounts."""
        return DegreePrior(
            np.hstack([degree.left, self.left]),
            np.hstack([degree.right, self.right]),
            degree.left_term,
            degree.right_term,
        )

    def look_at(self, L: csr_array) -> tuple[csr_array, ProfilePrior]:
        """L with the exact log-odds of pairs that had the usual ones, and what is known from now on."""
        pairs = pairs_of(L)
        new = np.flatnonzero(np.isneginf(entries_at(self.beyond, pairs)))
        if len(new) == 0:
            return L, self
        found = self.exact(pairs[new]) - self.usual(pairs[new])
        data = L.data.copy()
        data[new] += found
        more = csr_array((found, tuple(pairs[new].T)), shape=L.shape)
        return with_data(L, data), replace(self, beyond=csr_array(self.beyond + more))

    def renumbered(self, left: IntArray, right: IntArray) -> ProfilePrior:
        """The same with account left[i] as number i, and right[j] as number j."""

        def exact(pairs: IntArray) -> FloatArray:
            return self.exact(np.column_stack([left[pairs[:, 0]], right[pairs[:, 1]]]))

        return ProfilePrior(reorder(self.beyond, left, right)[0], self.left[left], self.right[right], exact)


def all_priors(L: csr_array, prior: csr_array | None, profiles: ProfilePrior | None) -> csr_array | None:
    """What the entries of L owe to the prior and to profiles together; the prior itself without profiles."""
    if profiles is None:
        return prior
    found = np.zeros(L.nnz) if prior is None else entries_at(prior, pairs_of(L))
    return with_data(L, profiles.of(L) + np.where(np.isneginf(found), 0.0, found))


def pairs_of(matrix: csr_array) -> IntArray:
    """The stored entries, [m, 2]."""
    return np.column_stack([row_index(matrix), matrix.indices])


def profile_prior(problem: Problem, config: Config) -> ProfilePrior | None:
    """What the profiles of a problem say, by the weights of its anchors; None without profiles, or where they count
    nothing. A weight that is still to be chosen is 1."""
    scale = 1.0 if config.profiles.weight is None else config.profiles.weight
    compared = None if problem.profiles is None or scale == 0 else compare(*problem.profiles, config.profiles)
    if compared is None:
        return None
    weighed = weigh(compared, problem, config.seed)
    left, right = weighed.usual()
    prior = ProfilePrior(
        csr_array(weighed.compared.prepared.shape), scale * left, right, lambda pairs: scale * weighed.log_odds(pairs)
    )
    best = _best_of_each(weighed.prior(), _LISTED)
    pairs = pairs_of(best)
    return replace(prior, beyond=with_data(best, scale * best.data - prior.usual(pairs)))


def _best_of_each(matrix: csr_array, k: int) -> csr_array:
    """The entries that are among the k largest of their row or of their column; equal ones by their place."""
    chosen = np.zeros(matrix.nnz, bool)
    for group in (row_index(matrix), matrix.indices):
        order = np.lexsort((-matrix.data, group))
        first = np.searchsorted(group[order], group[order])
        chosen[order[np.arange(len(order)) - first < k]] = True
    return csr_array((matrix.data[chosen], tuple(pairs_of(matrix)[chosen].T)), shape=matrix.shape)
