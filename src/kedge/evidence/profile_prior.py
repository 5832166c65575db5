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

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.evidence.model import DegreePrior
from kedge.linalg import entries_at, reorder, row_index, with_data
from kedge.profiles import compare, weigh
from kedge.types import FloatArray, IntArray, Problem


@dataclass(frozen=True)
class ProfilePrior:
    """Log-odds of pairs by profiles: `known` n_1 × n_2 of those looked at, `left` [n_1, g] · `right` [n_2, g] of all
    others, and `exact`, the log-odds of any pairs [m, 2]."""

    known: csr_array
    left: FloatArray
    right: FloatArray
    exact: Callable[[IntArray], FloatArray]

    def usual(self, pairs: IntArray) -> FloatArray:
        """What pairs count that were not looked at, [m]."""
        return np.asarray(np.einsum("ij,ij->i", self.left[pairs[:, 0]], self.right[pairs[:, 1]]))

    def beyond_usual(self) -> csr_array:
        """What the known pairs have beyond the usual, n_1 × n_2."""
        return with_data(self.known, self.known.data - self.usual(pairs_of(self.known)))

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
        new = np.flatnonzero(np.isneginf(entries_at(self.known, pairs)))
        if len(new) == 0:
            return L, self
        found = self.exact(pairs[new])
        data = L.data.copy()
        data[new] += found - self.usual(pairs[new])
        more = csr_array((found, tuple(pairs[new].T)), shape=L.shape)
        return with_data(L, data), replace(self, known=csr_array(self.known + more))

    def renumbered(self, left: IntArray, right: IntArray) -> ProfilePrior:
        """The same with account left[i] as number i, and right[j] as number j."""

        def exact(pairs: IntArray) -> FloatArray:
            return self.exact(np.column_stack([left[pairs[:, 0]], right[pairs[:, 1]]]))

        return ProfilePrior(reorder(self.known, left, right)[0], self.left[left], self.right[right], exact)


def pairs_of(matrix: csr_array) -> IntArray:
    """The stored entries, [m, 2]."""
    return np.column_stack([row_index(matrix), matrix.indices])


def profile_prior(problem: Problem, config: Config) -> ProfilePrior | None:
    """What the profiles of a problem say, by the weights of its anchors; None without profiles, or where they count
    nothing. A weight that is still to be chosen is 1."""
    scale = 1.0 if config.profiles.weight == "auto" else config.profiles.weight
    compared = None if problem.profiles is None or scale == 0 else compare(*problem.profiles, config.profiles)
    if compared is None:
        return None
    weighed = weigh(compared, problem, config.seed)
    left, right = weighed.usual()
    known = weighed.prior()
    known = with_data(known, scale * known.data)
    return ProfilePrior(known, scale * left, right, lambda pairs: scale * weighed.log_odds(pairs))
