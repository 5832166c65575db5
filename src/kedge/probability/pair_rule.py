"""Yes or no for any pair, for the paper's protocol: true pairs against random ones, half and half.

A logistic rule on whether the pair was scored at all, its score, its rank seen from either side, its strength, the
log-odds of the pair network of a method with vectors (section 2.6, the paper's own classifier), the distance of the
vectors that evidence has for a prior, the two degrees and, on request, its reach; fitted on validation anchors and
random partners of the same left accounts, weighted 1:1. The cut is the one with the best Macro-F1 there.

Reach is how alike the positions of two accounts among all anchors are, near and far. Evidence exists only for pairs
with matched neighbours. Where the networks share few edges most true pairs have none, yet both accounts are among the
same anchors:

    X_0[a] = Y_0[b] = r_i for each anchor i = (a, b), 0 elsewhere;      X_k = D^-1/2 A D^-1/2 X_{k-1}, likewise Y_k
    reach_k(u, v) = cos(X_k[u], Y_k[v])

With r_i the unit vectors this is the cosine of how often walks of k steps from u and from v end at each anchor. More
than `_WIDTH` anchors are sketched: r_i are random signs then, which keep every inner product within about
1 / sqrt(width) (Johnson and Lindenstrauss). Cost: edges × width × hops; memory: two n × width matrices per side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kedge.linalg import symmetric_walk, unit_rows
from kedge.similarity import fit_logistic, log_distance
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Problem, as_pairs

_WIDTH: Final = 512  # of a sketch; unmeasured
_CELLS: Final = 1 << 25  # entries of one matrix at most (128 MB): larger networks get narrower sketches
_LEAST_WIDTH: Final = 32  # unmeasured
_OTHERS: Final = 1000  # accounts that a pair is compared with; unmeasured
_BLOCK: Final = 4096  # pairs compared at once
_EQUAL: Final = 1e-5  # cosines this close are equal: two ways to add up the same product differ by rounding
_NEGATIVES = 5  # random partners of each validation account: more than one, for a steadier fit; unmeasured
_PRIOR = np.array([0.0, 1.0, 0.5, -0.5, -0.5])  # offset, scored, score, log ranks from left and from right
_STRONG = 5.0  # log-odds from which more of them count less; unmeasured


def _marks(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """r_i, [anchors, width]."""
    count = len(problem.anchors)
    most = max(problem.left.n, problem.right.n, 1)
    width = int(np.clip(_CELLS // most, _LEAST_WIDTH, _WIDTH))
    if count <= width:
        return np.eye(count, dtype=np.float32)
    return (rng.integers(0, 2, (count, width)) * 2 - 1).astype(np.float32)


def _compare(X: FloatArray, Y: FloatArray, pairs: IntArray, rivals: Sequence[IntArray]) -> FloatArray:
    """For each pair its cosine, and the shares of rivals on the right, then on the left, that come closer, [m, 3].

    Block by block: the vectors of a large network's test pairs would need more memory than the network.
    """
    near_left, near_right = unit_rows(X[rivals[0]]), unit_rows(Y[rivals[1]])
    result = np.empty((len(pairs), 3))
    for start in range(0, len(pairs), _BLOCK):
        part = pairs[start : start + _BLOCK]
        u, v = unit_rows(X[part[:, 0]]), unit_rows(Y[part[:, 1]])
        score = np.einsum("ij,ij->i", u, v)
        closer = [
            (mine @ others.T > score[:, None] + _EQUAL).mean(axis=1)
            for mine, others in ((u, near_right), (v, near_left))
        ]
        result[start : start + _BLOCK] = np.column_stack([score, *closer])
    return result


def reach(problem: Problem, pairs: IntArray, hops: int) -> FloatArray:
    """For each pair [m, 3 · hops]: reach_1, ..., and for each of them the log share of 1,000 random accounts on the
    right (then on the left) that come closer."""
    pairs = as_pairs(pairs)
    # Any fixed draw will do: the same marks on both sides, the same rivals for all pairs.
    rng = np.random.default_rng(0)
    marks = _marks(problem, rng)
    sides, rivals = [], []
    for side, network in enumerate((problem.left, problem.right)):
        X = np.zeros((network.n, marks.shape[1]), np.float32)
        X[problem.anchors[:, side]] = marks
        sides.append((symmetric_walk(network), X))
        rivals.append(rng.integers(max(network.n, 1), size=_OTHERS if network.n else 0))
    found: list[FloatArray] = []
    for _ in range(hops):
        sides = [(walk, walk @ X) for walk, X in sides]
        found.append(_compare(sides[0][1], sides[1][1], pairs, rivals))
    if not found:
        return np.empty((len(pairs), 0))
    return np.column_stack([hop[:, 0] for hop in found] + [np.log(hop[:, 1:] + 1 / _OTHERS) for hop in found])


@dataclass(frozen=True)
class PairRule:
    """A pair is a link where weights · (1, scored, score, log ranks from left and right, further columns) > cut.

    `centre` and `scale` bring the further columns (`_further`) to mean 0 and spread 1; `hops` of 0 leaves reach out.
    """

    weights: FloatArray
    cut: float
    middle: float
    spread: float
    centre: FloatArray = field(default_factory=lambda: np.empty(0))
    scale: FloatArray = field(default_factory=lambda: np.empty(0))
    hops: int = 0

    def predicts_link(self, problem: Problem, alignment: Alignment, pairs: IntArray) -> BoolArray:
        """Yes or no for each pair. An anchor is a yes, any other pair of an anchored account a no."""
        pairs = as_pairs(pairs)
        partner = np.full(problem.left.n, -1)
        partner[problem.anchors[:, 0]] = problem.anchors[:, 1]
        owner = np.full(problem.right.n, -1)
        owner[problem.anchors[:, 1]] = problem.anchors[:, 0]
        columns = _columns(alignment, pairs, self.middle, self.spread)
        if len(self.centre):
            further = (_further(problem, alignment, pairs, self.hops) - self.centre) / self.scale
            columns = np.column_stack([columns, further])
        likely = columns @ self.weights > self.cut
        anchored = (partner[pairs[:, 0]] >= 0) | (owner[pairs[:, 1]] >= 0)
        return np.asarray(np.where(anchored, partner[pairs[:, 0]] == pairs[:, 1], likely))


def _columns(alignment: Alignment, pairs: IntArray, middle: float, spread: float) -> FloatArray:
    score = np.asarray(alignment.score(pairs), np.float64)
    scored = np.isfinite(score)
    columns = [np.ones(len(pairs)), scored, np.arcsinh((np.where(scored, score, middle) - middle) / spread)]
    for side in ("left", "right"):
        above, equal = alignment.count_above(pairs, side)
        columns.append(np.log1p(above + equal / 2))
    return np.column_stack(columns)


def _further(problem: Problem, alignment: Alignment, pairs: IntArray, hops: int) -> FloatArray:
    """Strength, the pair network's log-odds, the vectors' log-distance (0 without either), the smaller log degree, the
    difference of the two, and reach."""
    strength = np.asarray(alignment.strength(pairs), np.float64)
    known = np.where(np.isfinite(strength), strength, -_STRONG)
    degrees = [np.log1p(n.degrees[pairs[:, side]]) for side, n in enumerate((problem.left, problem.right))]
    cosine = alignment.cosine(pairs)
    columns = [np.arcsinh(x / _STRONG) for x in (known, alignment.log_odds(pairs).astype(np.float64))]
    columns.append(np.zeros(len(pairs)) if cosine is None else log_distance(cosine))
    columns += [np.minimum(*degrees), np.abs(degrees[0] - degrees[1])]
    return np.column_stack([*columns, reach(problem, pairs, hops)])


def _random_partners(true: IntArray, n_right: int, rng: np.random.Generator) -> IntArray:
    """`_NEGATIVES` random right accounts for each left one, never its own partner."""
    if n_right < 2:
        return as_pairs([])
    lefts = np.repeat(true[:, 0], _NEGATIVES)
    partner = np.repeat(true[:, 1], _NEGATIVES)
    drawn = rng.integers(n_right - 1, size=len(lefts))
    return np.column_stack([lefts, drawn + (drawn >= partner)])  # step over the partner


def fit_pair_rule(
    folds: Sequence[tuple[Problem, Alignment, IntArray]], rng: np.random.Generator, hops: int = 0
) -> PairRule:
    """The rule from (problem without the validation anchors, its alignment, these anchors), pooled."""
    drawn = []
    for problem, alignment, validation in folds:
        true = as_pairs(validation)
        false = _random_partners(true, problem.right.n, rng)
        drawn.append((problem, alignment, np.concatenate([true, false]), len(true)))
    scores = np.concatenate([[], *(np.asarray(a.score(p[:t]), np.float64) for _, a, p, t in drawn)])
    scores = scores[np.isfinite(scores)]
    middle, spread = (float(np.median(scores)), float(np.std(scores)) or 1.0) if len(scores) else (0.0, 1.0)
    if not drawn or not any(t for *_, t in drawn):
        return PairRule(_PRIOR, 0.0, middle, spread)
    columns = np.concatenate([_columns(a, p, middle, spread) for _, a, p, _ in drawn])
    is_true = np.concatenate([np.arange(len(p)) < t for _, _, p, t in drawn])
    further = np.concatenate([_further(q, a, p, hops) for q, a, p, _ in drawn])
    centre, scale = further.mean(axis=0), np.maximum(further.std(axis=0), 1e-6)
    columns = np.column_stack([columns, (further - centre) / scale])
    prior = np.append(_PRIOR, np.zeros(len(centre)))
    weight = np.where(is_true, 1.0, is_true.sum() / max((~is_true).sum(), 1))
    fitted = fit_logistic(columns, is_true, weight, prior)
    return PairRule(fitted, _best_cut(columns @ fitted, is_true, weight), middle, spread, centre, scale, hops)


def _best_cut(z: FloatArray, is_true: BoolArray, weight: FloatArray) -> float:
    """The cut with the largest Macro-F1, midway between two values; of equally good ones the highest."""
    order = np.argsort(-z, kind="stable")
    values = z[order]
    # Between equal values no cut can fall: keep the last place of each, and the place before all (nothing is a link).
    last = np.append(-1, np.flatnonzero(np.append(np.diff(values) != 0, True)))
    tp = np.append(0.0, np.cumsum(np.where(is_true, weight, 0)[order]))[last + 1]
    fp = np.append(0.0, np.cumsum(np.where(is_true, 0, weight)[order]))[last + 1]
    fn, tn = tp[-1] - tp, fp[-1] - fp
    f1 = (tp / np.maximum(2 * tp + fp + fn, 1e-12)) + (tn / np.maximum(2 * tn + fp + fn, 1e-12))
    upper = np.append(values[0] + 1, values[last[1:]])
    lower = np.append(values[last[:-1] + 1], values[-1] - 1)
    best = int(np.flatnonzero(f1 >= f1.max() - 1e-12)[0])
    return float(upper[best] + lower[best]) / 2


def predicts_link(rule: PairRule, problem: Problem, alignment: Alignment, pairs: IntArray, mirrored: bool) -> BoolArray:
    """Yes or no for any pairs, by a rule whose left accounts are those of the right network if it is mirrored."""
    if mirrored:
        return rule.predicts_link(problem.mirrored(), alignment.mirrored(), as_pairs(pairs)[:, ::-1])
    return rule.predicts_link(problem, alignment, pairs)
