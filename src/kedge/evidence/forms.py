"""The two forms of evidence propagation, sparse and dense, and which suits a problem: tried on validation anchors.

The dense form takes all pairs of two small networks, with every account matched to somebody: the same log-odds as
`propagate.py`, but beliefs are a doubly stochastic matrix (Sinkhorn) without room for "no counterpart" beyond the
difference in size. Where networks overlap fully and edges are many and weak (a dense network against a sparse one) the
constraint that everybody has a partner is itself the strongest evidence; where they overlap in part it is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kedge.config import EvidenceConfig
from kedge.evidence.blocks import Where
from kedge.evidence.kernels import LEAST_RATIO
from kedge.evidence.model import Evidence, edge_rates, fit_degree_prior
from kedge.evidence.profile_prior import ProfilePrior, all_priors
from kedge.evidence.propagate import matched, propagate
from kedge.evidence.ranking import ranking_scores
from kedge.linalg import gains, pattern, reciprocal_ranks, row_index, with_data
from kedge.types import IntArray, Network, Problem

_ROUNDS = 12  # of the dense form; unmeasured
_LAST_TEMPERATURE = 1.5  # no slack to flee to: beliefs stay softer than in the sparse form; unmeasured
_SCALINGS = 8  # of rows and columns in turn (Sinkhorn); unmeasured
_FOLDS = 3  # of the trial; unmeasured
_LEAST_HELD = 20  # fewer do not separate two forms; unmeasured
_CLEARLY = 2.0  # standard errors of a difference, from which no further fold is tried; unmeasured

_Matrix = NDArray[np.float32]
_Sides = tuple[IntArray, IntArray]


def _hits(network: Network, hit: float) -> csr_array:
    """ratio(u, a) - miss on the edges: what a matched neighbour adds to the mean likelihood ratio."""
    A = pattern(network.adjacency, np.float32)
    degree = network.degrees.astype(np.float32)
    rows = degree[row_index(A)]
    ratio = np.maximum(hit * (1 + A.nnz / (rows * degree[A.indices])), LEAST_RATIO)
    return with_data(A, (ratio - (1 - hit)).astype(np.float32))


def _balanced(x: _Matrix) -> tuple[_Matrix, _Matrix]:
    """exp(x) scaled so that rows and columns sum to 1 (to at most 1 on the larger side), and its log."""
    n, m = x.shape
    x = x - x.max(axis=1, keepdims=True)
    E = np.exp(x)
    back = np.ascontiguousarray(E.T)
    column = np.ones(m, np.float32)
    # The larger side's surplus goes to one dummy of exactly that capacity.
    spare_column, spare_row = np.float32(n > m), np.float32(m > n)
    for _ in range(_SCALINGS):
        row = 1 / np.maximum(E @ column + spare_column, 1e-30)
        if n > m:
            spare_column = np.float32((n - m) / row.sum())
        column = 1 / np.maximum(back @ row + spare_row, 1e-30)
        if m > n:
            spare_row = np.float32((m - n) / column.sum())
    E *= row[:, None]
    E *= column
    x += np.log(row)[:, None]
    x += np.log(column)
    return np.minimum(E, 1), x


def _best(score: _Matrix, keep: int) -> NDArray[np.bool_]:
    """Which cells are among the `keep` best of their row or their column."""
    chosen = np.zeros(score.shape, np.bool_)
    for axis in (0, 1):
        size = score.shape[axis]
        if size <= keep:
            chosen[:] = True
            continue
        places = np.argpartition(-score, keep - 1, axis=axis)
        np.put_along_axis(chosen, np.take(places, np.arange(keep), axis=axis), True, axis=axis)
    return chosen


def _from_anchors(problem: Problem, rates: tuple[float, float], free: _Sides) -> _Matrix:
    """What anchored neighbours say of each pair of free accounts, the same in every round: [free left, free right]."""
    s, t = rates
    networks, known = (problem.left, problem.right), problem.anchors.T
    edges = [pattern(networks[i].adjacency, np.float32)[free[i]][:, known[i]] for i in (0, 1)]
    # Column k: the message of the k-th anchor, by its end on this side, to the neighbours of its other end.
    logs = [
        np.log(_hits(networks[i], hit)[free[i]][:, known[i]].toarray() + np.float32(1 - hit))
        for i, hit in ((0, t), (1, s))
    ]
    received = edges[0] @ np.ascontiguousarray(logs[1].T)
    received += (edges[1] @ np.ascontiguousarray(logs[0].T)).T
    return np.asarray(received * np.float32(0.5))


def propagate_dense(
    problem: Problem,
    config: EvidenceConfig,
    prior: csr_array | None = None,
    profiles: ProfilePrior | None = None,
    where: Where | None = None,  # noqa: ARG001 (small enough for one place)
) -> Evidence:
    """Anneal doubly stochastic beliefs; 12 rounds of four sparse-dense products each."""
    shape = (problem.left.n, problem.right.n)
    s, t = edge_rates(problem)
    degree_prior = fit_degree_prior(problem)
    left, right = problem.anchors.T
    outer = prior
    if profiles is not None:
        prior = profiles.beyond if prior is None else csr_array(prior + profiles.beyond)
    free_left = np.setdiff1d(np.arange(shape[0]), left)
    free_right = np.setdiff1d(np.arange(shape[1]), right)
    here = np.ix_(free_left, free_right)
    joint = degree_prior if profiles is None else profiles.joined(degree_prior)
    own = joint.of_accounts(free_left, free_right)
    base = (own.left @ own.right.T + own.left_term[:, None] + own.right_term).astype(np.float32)
    if prior is not None:
        base += prior.toarray()[here].astype(np.float32)
    if len(problem.rejected):
        ruled_out = np.zeros(shape, np.bool_)
        ruled_out[tuple(problem.rejected.T)] = True
        base[ruled_out[here]] = -1e4
    constant = base + _from_anchors(problem, (s, t), (free_left, free_right))
    sides = ((problem.left, free_left, t), (problem.right, free_right, s))
    edges = [pattern(network.adjacency, np.float32)[free][:, free] for network, free, _ in sides]
    hits = [_hits(network, hit)[free][:, free] for network, free, hit in sides]

    def log_odds(belief: _Matrix) -> _Matrix:
        back = np.ascontiguousarray(belief.T)
        of_right = hits[0] @ belief + (1 - t * np.minimum(back.sum(axis=1), 1)).astype(np.float32)
        of_left = hits[1] @ back + (1 - s * np.minimum(belief.sum(axis=1), 1)).astype(np.float32)
        received = edges[0] @ np.ascontiguousarray(np.log(of_left).T)
        received += (edges[1] @ np.ascontiguousarray(np.log(of_right).T)).T
        return np.asarray(received * np.float32(0.5) + constant)

    kept = np.zeros(base.shape, np.float32)
    trace: list[float] = []
    for place in range(_ROUNDS):
        heat = (config.first_temperature / _LAST_TEMPERATURE) ** max(1 - place / (_ROUNDS - 3), 0)
        belief, _ = _balanced(log_odds(kept) / np.float32(_LAST_TEMPERATURE * heat))
        # What is dropped here is too small to count; the support that remains can be shown.
        before, kept = kept, np.where(belief >= config.least_belief / 100, belief, np.float32(0))
        trace.append(float(np.abs(kept - before).sum() / max(sum(shape) / 2, 1)))
    L = log_odds(kept)
    belief, log_belief = _balanced(L / np.float32(_LAST_TEMPERATURE))
    row, column = np.nonzero(_best(log_belief, config.keep) & (base > -1e3))
    cells = (free_left[row], free_right[column])
    result = csr_array((L[row, column].astype(np.float64), cells), shape=shape)
    believed = csr_array((np.maximum(belief[row, column], 1e-30).astype(np.float64), cells), shape=shape)
    given = all_priors(result, outer, profiles)
    row, column = np.nonzero(kept)
    support = csr_array(
        (
            np.concatenate([kept[row, column].astype(np.float64), np.ones(len(left))]),
            (np.concatenate([free_left[row], left]), np.concatenate([free_right[column], right])),
        ),
        shape=shape,
    )
    return Evidence(
        result, support, believed, matched(result), degree_prior, s, t, _ROUNDS, tuple(trace), given, balanced=True
    )


Form = Literal["sparse", "dense"]


class Propagate(Protocol):
    """What both forms are: from a problem, with what else is known of its pairs, to evidence."""

    def __call__(
        self,
        problem: Problem,
        config: EvidenceConfig,
        prior: csr_array | None = None,
        profiles: ProfilePrior | None = None,
        *,
        where: Where | None = None,
    ) -> Evidence:
        """The evidence of all rounds."""
        ...


FORMS: Final[dict[str, Propagate]] = {"sparse": propagate, "dense": propagate_dense}


def choose(
    problem: Problem,
    config: EvidenceConfig,
    seed: int,
    profiles_of: Callable[[Problem], ProfilePrior | None] = lambda _problem: None,
) -> Form:
    """The form with the better mean reciprocal rank on validation anchors; sparse where that cannot be tried.

    The dense form is tried only where n_1 × n_2 is small and there are enough anchors. Each is a validation anchor
    once, unless one form is clearly better before; in a tie it is sparse, which assumes less. (Letting equal
    sizes decide close cases was tried: on planted pairs of one size that overlap by 60 to 95 % it cost up to 0.11 in
    mean reciprocal rank. So was sparse wherever that finds nine in ten: it cost up to 0.008 where networks
    overlap fully.) Both forms have what `profiles_of` gives a trial.
    """
    count = len(problem.anchors)
    if problem.left.n * problem.right.n > config.dense_cells or count // _FOLDS < _LEAST_HELD:
        return "sparse"
    sparse, dense = np.zeros(0), np.zeros(0)
    for trial, held in problem.folds(_FOLDS, seed):
        known = profiles_of(trial)
        found = [form(trial, config, profiles=known) for form in (propagate, propagate_dense)]
        of_sparse, of_dense = (reciprocal_ranks(ranking_scores(one), held) for one in found)
        sparse, dense = np.append(sparse, of_sparse), np.append(dense, of_dense)
        if gains(dense, sparse, _CLEARLY) or gains(sparse, dense, _CLEARLY):
            break
    return "dense" if dense.mean() > sparse.mean() else "sparse"
