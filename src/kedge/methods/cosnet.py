"""COSNET (Zhang, Tang, Yang, Pei, Yu; KDD 2015): an energy over candidate pairs, with local and global consistency.

Candidate pairs i have a label y_i in {0, 1}. The matching graph joins two candidates whose accounts are neighbours in
both networks. The labels are to minimise

    E(y) = Σ_i y_i (w · x_i) + Σ_(i, j) s_ij w_e(y_i + y_j),    w_e(0) = 0

x_i the features of a pair by itself (local matching), w_e its consistency with the pairs around it. The paper's third
term forbids a = b and b = c without a = c among three networks: two networks have no such triple, so it is empty here.

The labels are found by dual decomposition: each edge of the matching graph has copies of both its labels and shares t
of their local energies, solves its own four cases, and the shares move by subgradients, t += (copy - mean of the
copies) / (copies √round). The score of a candidate is by how much label 1 lowers the energy, summed over its edges.

The weights are learnt by a maximal margin: w minimises |w|^2 / (2 c) + max_y (Δ(y, y*) - E(y) + E(y*)) by subgradient
steps, y found as above with the number of wrong labels, Δ, inside the energy.

Written from knowledge of the paper; no public implementation was found. Deviations: candidates are not given by names:
they are the 20 best of each account by common anchored neighbours, and by profiles where there are any. Features: a
constant, common anchored neighbours, likeness of degrees, log-odds of the profiles (kedge's comparison stands in for
the paper's of names and contents). s_ij = (d_u d_v d_a d_b)^-1/4 for the pairs (u, v) and (a, b): without it hubs,
which have most edges, come first. y* is known for the candidates of a fifth of the anchors, held out for learning, of
which as many false as true ones are drawn; with fewer than ten anchors the weights stay at their start. w_e(1) is kept
above half of w_e(2), so that the dual is exact. Without profiles an account that neighbours no anchor has no candidate.

Cost: `baselines.rounds` passes over the edges of the matching graph, and as many for each of 60 steps of learning over
its part with known labels; no n × n matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, triu

from kedge.config import Config
from kedge.context import RunContext
from kedge.evidence import profile_prior
from kedge.linalg import SparseAlignment, entries_at, row_index, with_data
from kedge.methods import common_neighbours
from kedge.methods.netalign import squares
from kedge.methods.shared.pairs import anchors_above
from kedge.types import BoolArray, FloatArray, IntArray, Problem

_CANDIDATES = 20  # of each account; unmeasured, as is all below
_STEPS, _RATE, _MARGIN = 60, 0.5, 10.0
_FEWEST = 10  # anchors to learn from
_SURE = 100.0  # how far the energy of an anchor is below all others


class Weights(NamedTuple):
    """w [features], and w_e(1), w_e(2)."""

    local: FloatArray
    one: float
    both: float


# Every feature lowers the energy of a pair, and so does a neighbour with the same label.
START = Weights(np.array([1.0, -1.0, -1.0, -1.0]), 0.0, -1.0)


class Edges(NamedTuple):
    """The matching graph: two candidates and s of each edge."""

    first: IntArray
    second: IntArray
    strength: FloatArray

    def among(self, kept: BoolArray) -> Edges:
        """Those with both ends among the kept candidates."""
        here = kept[self.first] & kept[self.second]
        return Edges(self.first[here], self.second[here], self.strength[here])


class Candidates(NamedTuple):
    """The candidates L [n_1, n_2] with the anchors, their features [m, 4], and the matching graph."""

    L: csr_array
    features: FloatArray
    edges: Edges


def align(problem: Problem, config: Config, context: RunContext) -> SparseAlignment:
    """How much label 1 of each candidate lowers the energy; `seed` draws the anchors that weights are learnt from."""
    weights = _learn(problem, config, context)
    found = _candidates(problem, config, context)
    local = np.where(_is_anchor(found.L, problem.anchors), -_SURE, found.features @ weights.local)
    return anchors_above(problem, with_data(found.L, -minimise(local, found.edges, weights, config.baselines.rounds)))


def _candidates(problem: Problem, config: Config, context: RunContext) -> Candidates:
    near = common_neighbours.align(problem, config.model_copy(update={"candidates": _CANDIDATES}), context).scores
    profiles = profile_prior(problem, config)
    L = csr_array((np.ones(len(problem.anchors)), tuple(problem.anchors.T)), shape=near.shape)
    for more in (near, *([] if profiles is None else [profiles.beyond])):
        L = csr_array(L + with_data(more, np.ones(more.nnz)))
    L.sort_indices()
    rows, columns = row_index(L), L.indices
    degrees = problem.left.degrees[rows].astype(float), problem.right.degrees[columns].astype(float)
    common = np.maximum(entries_at(near, np.column_stack([rows, columns])), 0)  # -inf: no common neighbour
    common = common / max(float(near.data.max(initial=0.0)), 1e-30)
    alike = np.minimum(*degrees) / np.maximum(np.maximum(*degrees), 1)
    by_profiles = np.zeros(L.nnz) if profiles is None else profiles.of(L) / 10
    features = np.column_stack([np.ones(L.nnz), np.sqrt(common), alike, by_profiles])
    first, second = triu(squares(problem, L), 1).tocoo().coords
    size = np.maximum(degrees[0] * degrees[1], 1) ** -0.25
    return Candidates(L, features, Edges(first, second, size[first] * size[second]))


def _is_anchor(L: csr_array, anchors: IntArray) -> BoolArray:
    """Which entries of L are among these pairs."""
    partner = np.full(L.shape[0], -1)
    partner[anchors[:, 0]] = anchors[:, 1]
    return np.asarray(partner[row_index(L)] == L.indices)


def minimise(local: FloatArray, edges: Edges, weights: Weights, rounds: int) -> FloatArray:
    """By how much the energy with label 1 is above that with label 0, [m], after rounds of dual decomposition."""
    i, j, m = edges.first, edges.second, len(local)
    one, both = weights.one * edges.strength, weights.both * edges.strength
    copies = np.maximum(np.bincount(i, minlength=m) + np.bincount(j, minlength=m), 1)
    first, second = (local / copies)[i], (local / copies)[j]
    for round_ in range(1, rounds + 1):
        cases = np.stack([np.zeros(len(i)), first + one, second + one, first + second + both]).argmin(axis=0)
        mine, other = cases % 2, cases // 2
        mean = (np.bincount(i, mine, m) + np.bincount(j, other, m)) / copies
        first += (mine - mean[i]) / (copies[i] * np.sqrt(round_))
        second += (other - mean[j]) / (copies[j] * np.sqrt(round_))

    def above(other: FloatArray) -> FloatArray:
        """The least energy of an edge with label 1 here, less that with label 0."""
        return np.asarray(np.minimum(one, other + both) - np.minimum(0.0, other + one))

    return np.asarray(local + np.bincount(i, above(second), m) + np.bincount(j, above(first), m))


class Labelled(NamedTuple):
    """Candidates with known labels: features [m, 4], edges among them, and which are true, false, anchors."""

    features: FloatArray
    edges: Edges
    true: BoolArray
    false: BoolArray
    anchored: BoolArray


def _learn(problem: Problem, config: Config, context: RunContext) -> Weights:
    """Weights by which the pairs of held-out anchors and as many drawn false candidates are apart; or the start."""
    count, rng = len(problem.anchors), np.random.default_rng(config.seed)
    if count < _FEWEST:
        return START
    trial, held = problem.hold_out(rng.permutation(count)[: count // 5])
    found = _candidates(trial, config, context)
    true, anchored = (_is_anchor(found.L, pairs) for pairs in (held, trial.anchors))
    rivals = (np.isin(row_index(found.L), held[:, 0]) | np.isin(found.L.indices, held[:, 1])) & ~true
    false = np.zeros(len(true), bool)
    false[rng.permutation(np.flatnonzero(rivals))[: int(true.sum())]] = True
    if not true.any() or not false.any():
        return START
    edges = found.edges.among(true | false | anchored)
    return fit(Labelled(found.features, edges, true, false, anchored), config.baselines.rounds)


def fit(known: Labelled, rounds: int) -> Weights:
    """The mean of the weights of the second half of the steps."""
    weights, steps = START, []
    for step in range(1, _STEPS + 1):
        # The margin: a wrong label is cheaper by 1.
        local = known.features @ weights.local + known.true - 1.0 * known.false
        above = minimise(np.where(known.anchored, -_SURE, local), known.edges, weights, rounds)
        labels = (above < 0) & (known.true | known.false) | known.anchored
        values = np.array([*weights.local, weights.one, weights.both])
        slope = (_slopes(known, known.true | known.anchored) - _slopes(known, labels)) / known.true.sum()
        values -= _RATE / np.sqrt(step) * (values / _MARGIN + slope)
        values[4] = max(values[4], values[5] / 2)
        weights = Weights(values[:4], float(values[4]), float(values[5]))
        steps.append(values)
    mean = np.mean(steps[_STEPS // 2 :], axis=0)
    return Weights(mean[:4], float(mean[4]), float(mean[5]))


def _slopes(known: Labelled, labels: BoolArray) -> FloatArray:
    """∂E/∂w [4 + 2]: features of the labels 1 that are not given, strength of edges with one and with two of them."""
    ends = labels[known.edges.first].astype(int) + labels[known.edges.second]
    strengths = [known.edges.strength[ends == number].sum() for number in (1, 2)]
    return np.array([*known.features[labels & ~known.anchored].sum(axis=0), *strengths])
