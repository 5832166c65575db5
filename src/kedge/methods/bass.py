"""BASS (Cao, Yu; ECML-PKDD 2016): consistencies of accounts in one mixture, bootstrapped by expectation-maximisation.

A pair is a match or not, which is not observed. What is observed of it, its social ties and its profiles, is
independent given that, with other distributions for matches than for the rest:

    log-odds_i = log π / (1 - π) + log N(x_i; μ_1, σ) / N(x_i; μ_0, σ) + profiles_i
    x_i = √t_i,    t_i = Σ_j s_ij p_j over the candidates j whose accounts neighbour those of i on both sides

p_j is the probability that j is a match, so that matches found make those around them likelier. E-step: p from the
log-odds, shared out among rivals, p_i = o_i / (1 + the odds o of all candidates of either account); the anchors have 1.
M-step: π, μ_1 and μ_0 are the weighted share and means over all n_1 n_2 pairs, of which those that are no candidates
have x = 0 and p = 0, and σ^2 is the mean of both variances. After five such rounds the pairs with p of 0.5 or more, one
to one, are links, candidates are sought around all links, and the rounds begin again, ten times at most.

Written from the paper's abstract and from knowledge of the method: the paper's own densities were not at hand, and no
public implementation was found. Deviations: ties are Gaussian in √t with one deviation; s_ij as in `cosnet`; names
and contents are what kedge makes of the profiles, a log-odds that anchors have weighed; candidates are the 20 best of
each account by linked neighbours, and those of the profiles. The paper begins without anchors, by names; here anchors,
profiles or both begin. Pairs are ranked by the log-odds of p.

Cost: ten times the edges of the matching graph and five passes over them; no n × n matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence import ProfilePrior, profile_prior
from kedge.linalg import SparseAlignment, row_index, with_data
from kedge.linalg.assign import assign
from kedge.methods.netalign import squares
from kedge.methods.shared.pairs import anchors_above, count_marks
from kedge.types import BoolArray, FloatArray, IntArray, Problem

_CANDIDATES = 20  # of each account; unmeasured, as is all below
_BOOTSTRAPS, _ROUNDS = 10, 5
_LINKED = 0.5  # the probability from which a pair is a link
_LEAST_DEVIATION = 0.05
_MOST = 30.0  # log-odds


class Mixture(NamedTuple):
    """The share of matches among all pairs, the ties of matches and of the others, and how far ties deviate."""

    share: float
    match: float
    other: float
    deviation: float

    def log_odds(self, x: FloatArray) -> FloatArray:
        """Of a match by its ties alone, prior included, [m]."""
        ratio = ((x - self.other) ** 2 - (x - self.match) ** 2) / (2 * self.deviation**2)
        return np.asarray(np.log(self.share / (1 - self.share)) + ratio)


class Candidates(NamedTuple):
    """L [n_1, n_2] with the anchors, log-odds of the profiles [m], s [m, m], and which are anchors."""

    L: csr_array
    profiles: FloatArray
    S: csr_array
    anchored: BoolArray


def align(problem: Problem, config: Config, _context: RunContext) -> SparseAlignment:
    """The log-odds of each candidate. Not random; among equals at the border of the 20 candidates numbers decide."""
    profiles = profile_prior(problem, config)
    links, mixture = problem.anchors, _start(problem)
    before: csr_array | None = None
    for _ in range(_BOOTSTRAPS):
        found = _candidates(problem, links, profiles)
        p, mixture = bootstrap(found, _recalled(before, found, mixture), mixture)
        before = with_data(found.L, p)
        likely = before.copy()
        likely.data[p < _LINKED] = 0
        likely.eliminate_zeros()
        renewed = assign(likely, "greedy")
        if np.array_equal(renewed, links):
            break
        links = renewed
    sure = np.clip(p, 1e-12, 1 - 1e-12)
    return anchors_above(problem, with_data(found.L, np.log(sure / (1 - sure))))


def _candidates(problem: Problem, links: IntArray, profiles: ProfilePrior | None) -> Candidates:
    """The candidates around the links, those of the profiles, and the anchors."""
    near = count_marks(problem, links, _CANDIDATES)
    L = csr_array((np.ones(len(problem.anchors)), tuple(problem.anchors.T)), shape=near.shape)
    for more in (near, *([] if profiles is None else [profiles.beyond])):
        L = csr_array(L + with_data(more, np.ones(more.nnz)))
    L.sort_indices()
    partner, back = np.full(problem.left.n, -1), np.full(problem.right.n, -1)
    partner[problem.anchors[:, 0]], back[problem.anchors[:, 1]] = problem.anchors[:, 1], problem.anchors[:, 0]
    rows, columns = row_index(L), L.indices
    # Profiles may propose an anchored account to a third one.
    kept = (partner[rows] == columns) | ((partner[rows] < 0) & (back[columns] < 0))
    L = csr_array((L.data[kept], (rows[kept], columns[kept])), shape=L.shape)
    rows, columns = row_index(L), L.indices
    size = np.maximum(problem.left.degrees[rows].astype(float) * problem.right.degrees[columns], 1) ** -0.25
    S = squares(problem, L)
    S = with_data(S, size[row_index(S)] * size[S.indices])
    known = np.zeros(L.nnz) if profiles is None else np.clip(profiles.of(L), -_MOST, _MOST)
    return Candidates(L, known, S, partner[rows] == columns)


def _start(problem: Problem) -> Mixture:
    """Before anything is learnt: half of the smaller network has a match, with ties of 0.5; others have few."""
    return Mixture(0.5 / max(problem.left.n, problem.right.n, 1), 0.5, 0.1, 0.2)


def _recalled(before: csr_array | None, found: Candidates, mixture: Mixture) -> FloatArray:
    """The probabilities of the last bootstrap; the anchors' 1, and at the start what profiles say of the others."""
    if before is None:
        p = np.where(found.profiles == 0, 0.0, 1 / (1 + np.exp(-mixture.log_odds(np.zeros(1)) - found.profiles)))
    else:
        rows, columns = row_index(found.L), found.L.indices
        p = np.asarray(before[rows, columns]).ravel() if len(rows) else np.zeros(0)
    return np.where(found.anchored, 1.0, p)


def bootstrap(found: Candidates, p: FloatArray, mixture: Mixture) -> tuple[FloatArray, Mixture]:
    """Probabilities [m] and the mixture after `_ROUNDS` rounds of expectation-maximisation."""
    for _ in range(_ROUNDS):
        x = np.sqrt(found.S @ p)
        p = expect(found, mixture.log_odds(x) + found.profiles)
        mixture = maximise(x, p, int(np.prod(found.L.shape)), mixture)
    return p, mixture


def expect(found: Candidates, log_odds: FloatArray) -> FloatArray:
    """p = o / (1 + odds of all candidates of either account), the anchors 1."""
    odds = np.exp(np.clip(log_odds, -_MOST, _MOST))
    rows, columns = row_index(found.L), found.L.indices
    of_row = np.bincount(rows, odds, found.L.shape[0])[rows]
    of_column = np.bincount(columns, odds, found.L.shape[1])[columns]
    return np.where(found.anchored, 1.0, odds / (1 + of_row + of_column - odds))


def maximise(x: FloatArray, p: FloatArray, pairs: int, before: Mixture) -> Mixture:
    """Share, means and deviation among all pairs, those beyond the m with x = 0, p = 0; as before without matches."""
    match = float(p.sum())
    other = pairs - match
    if match < 1 or other < 1:
        return before
    means = float(p @ x) / match, float((1 - p) @ x) / other
    variances = float(p @ (x - means[0]) ** 2) / match, float((1 - p) @ x**2) / other - means[1] ** 2
    return Mixture(match / pairs, *means, max(sum(variances) / 2, _LEAST_DEVIATION**2) ** 0.5)
