"""Anchors that the rest of the evidence contradicts: lists of known pairs have errors.

Each anchor (u, v) is examined in the fold that holds it out. Some neighbours of u and of v have a known partner there:
anchors of the fold, and pairs of accounts that are each other's best candidate. A right anchor has such pairs (a, b)
around it as often as the networks share edges, a wrong one by chance only. With the rates s, t and the chance rates p,
q of evidence (evidence/propagate.py), and the belief w(a) in the pair of a neighbour, the ratio of the likelihoods of
"right" and "wrong" is

    left(u, v) = log mean over s of  product over a in N(u) of  1 - w(a) s                     b is no neighbour of v
                                                                1 - w(a) + w(a) s / q(v, b)    b is one
    L(u, v)    = (left + right) / 2

The mean over s: accounts differ in how much of their life is in both networks, by a Beta distribution about the common
rate; an account that misses ten neighbours is then less suspicious than ten accounts that miss one each. An account
without known neighbours has L = 0: no evidence either way. If a share π of the anchors is wrong,

    P(wrong | L) = π / (π + (1 - π) e^L),      w of an anchor = 1 - P(wrong | L),      π the likeliest

Rates are taken from the anchors too, and wrong ones share edges by chance only: if a share x of the anchors is wrong,
edges are in both networks (1 - x)² times as often among all anchors as among the right ones. The rates are corrected
for that. x, and the belief in best candidates, are those under which the anchors' edges are likeliest. (Rates from
anchors weighted by w were tried first: in a sparse network with many wrong anchors they led back to x = 0. Figures:
docs/decisions/0039.)

Errors of best candidates come together: where a method misaligns a region, a right anchor in it has only wrong ones
around it. So nothing is suspected unless wrong anchors explain the edges far better than misaligned regions do, in
which only the anchors of the fold are evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import expit, logsumexp
from scipy.stats import beta

from kedge.linalg import entries_at, pattern, row_index
from kedge.types import Alignment, BoolArray, FloatArray, IntArray, Network, Problem, Side, Suspects, pair_keys

_SHARES: Final = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)  # x, in turn until the likelihood falls
_ROUNDS: Final = 4  # in which the belief in anchors follows from their evidence; unmeasured
_MOST_RATE: Final = 0.98  # a single missing edge never rules an anchor out; unmeasured
_BELIEFS: Final = (0.9, 0.6, 0.3, 0.1)  # in accounts that are each other's best candidate
_ALIKE: Final = 4.0  # a + b of the Beta distribution of s; the likeliest of 1, 2, 4, 8 in most pairs (decision 39)
_NODES: Final = (np.arange(7) + 0.5) / 7  # quantiles of that distribution over which the mean is taken
_LIKELY: Final = 0.7  # P(wrong) of a suspect: about as many are right as are missed (decision 39)
_EVIDENT: Final = 4.0  # gain in log-likelihood, in units of log n, under which nothing is suspected (decision 39)
_ALIGNED: Final = (0.999, 0.97, 0.93, 0.87, 0.8, 0.7)  # shares of the anchors that are in no misaligned region
_FEWEST_EDGES: Final = 10  # among the anchors of either network, for rates that are not mostly assumed (decision 39)
_ENOUGH_EDGES: Final = 30  # and to find all anchors unrelated; unmeasured
_SIDES: Final[tuple[Side, Side]] = ("left", "right")
_BLOCK: Final = 1 << 16  # accounts whose best candidates are fetched at a time


class HeldOut(Protocol):
    """A problem without its validation anchors, the method's alignment of it, and these anchors."""

    @property
    def problem(self) -> Problem:
        """With fewer anchors."""
        ...

    @property
    def alignment(self) -> Alignment:
        """Of that problem."""
        ...

    @property
    def validation(self) -> IntArray:
        """The other anchors, [m, 2]."""
        ...


class _Seen(NamedTuple):
    """The neighbours of anchored accounts of one side that have a known partner, in the folds that hold these out.

    `of` is the anchor that is examined, `sender` the one that the neighbour is in (-1: each other's best candidate),
    `chance` the chance rate of an edge to the neighbour's partner, 0 where there is no such edge. All arrays [m].
    """

    of: IntArray
    sender: IntArray
    chance: FloatArray


class _Facts(NamedTuple):
    """What is seen from either side, the two rates s and t, which anchors were held out [n], and the best candidates of
    the two accounts of each, [n, 2]."""

    views: tuple[_Seen, _Seen]
    rates: tuple[float, float]
    examined: BoolArray
    top: IntArray


class _Fit(NamedTuple):
    """Log-likelihood of the anchors' edges, and by how much a share of wrong anchors raises it; π, P(wrong) of each."""

    likelihood: float
    gain: float
    share: float
    wrong: FloatArray


def find_suspects(problem: Problem, folds: Sequence[HeldOut]) -> Suspects:
    """The anchors of the problem that were held out in a fold and that the rest of the evidence contradicts."""
    left, right = _among(problem.left, problem.anchors[:, 0]), _among(problem.right, problem.anchors[:, 1])
    edges = min(left.nnz, right.nnz) // 2
    unrelated = edges >= _ENOUGH_EDGES and _are_unrelated(left, right)
    if unrelated or edges < _FEWEST_EDGES or not folds:
        return Suspects(unrelated=unrelated)
    if folds[0].problem.sides != problem.sides:
        return find_suspects(problem.mirrored(), folds).mirrored()
    facts = _gather(problem, folds)
    examined = int(facts.examined.sum())
    fitted = _likeliest(facts)
    least = _EVIDENT * np.log(max(examined, 2))
    # Where most seem wrong, nothing shows which ones.
    evident = fitted.share < 0.5 and fitted.gain >= least and fitted.likelihood - _misaligned(facts) >= least
    rows = np.flatnonzero(fitted.wrong >= _LIKELY) if evident else np.empty(0, np.int64)
    rows = rows[np.argsort(-fitted.wrong[rows], kind="stable")]
    pairs = problem.anchors[rows]
    better = np.where(facts.top[rows] == pairs[:, ::-1], -1, facts.top[rows])
    return Suspects(pairs, fitted.wrong[rows], better, fitted.share if evident else 0.0, examined)


def _gather(problem: Problem, folds: Sequence[HeldOut]) -> _Facts:
    width, n = problem.right.n, len(problem.anchors)
    keys = pair_keys(problem.anchors[:, 0], problem.anchors[:, 1], width)
    order = np.argsort(keys)

    def number(pairs: IntArray) -> IntArray:
        return order[np.searchsorted(keys, pair_keys(pairs[:, 0], pairs[:, 1], width), sorter=order)]

    views: tuple[list[_Seen], list[_Seen]] = ([], [])
    examined, top = np.zeros(n, bool), np.full((n, 2), -1)
    for fold in folds:
        networks = (fold.problem.left, fold.problem.right)
        anchors, held = fold.problem.anchors, fold.validation
        held = held[~examined[number(held)]]  # the same edges twice are no further evidence
        if len(held) == 0:
            continue
        of, sender = number(held), number(anchors)
        best = [_best(fold.alignment, networks[side].n, _SIDES[side]) for side in (0, 1)]
        examined[of] = True
        top[of] = np.column_stack([best[side][held[:, side]] for side in (0, 1)])
        for side in (0, 1):
            partner = _mutual(best[side], best[1 - side])
            who = np.full(len(partner), -1)
            partner[anchors[:, side]], who[anchors[:, side]] = anchors[:, 1 - side], sender
            views[side].append(_view(networks[side], networks[1 - side], held[:, [side, 1 - side]], partner, who, of))
    left, right = (_Seen(*(np.concatenate(part) for part in zip(*view, strict=True))) for view in views)
    return _Facts((left, right), _edge_rates(problem), examined, top)


def _are_unrelated(left: csr_array, right: csr_array) -> bool:
    """Whether the edges `_among` the anchors are in both networks no more often than by chance, given their degrees."""
    degree = right.sum(axis=0)
    by_chance = float((degree[row_index(left)] * degree[left.indices]).sum()) / right.nnz / 2
    # Matrices have each edge twice; three standard errors of a Poisson count.
    return bool(left.multiply(right).nnz / 2 <= by_chance + 3 * np.sqrt(by_chance))


def _among(network: Network, accounts: IntArray) -> csr_array:
    """1 where an edge joins two of the accounts, each edge in both directions."""
    return pattern(csr_array(network.adjacency[accounts][:, accounts]))


def _edge_rates(problem: Problem) -> tuple[float, float]:
    """(s, t) from the edges among the anchors, as evidence estimates them (that room loads compiled code)."""
    left, right = _among(problem.left, problem.anchors[:, 0]), _among(problem.right, problem.anchors[:, 1])
    common = left.multiply(right).nnz // 2
    return (common + 1) / (left.nnz // 2 + 2), (common + 1) / (right.nnz // 2 + 2)


def _best(alignment: Alignment, n: int, side: Side) -> IntArray:
    """The best candidate of each account of one side, [n]; -1 without any."""
    blocks = (np.arange(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
    return np.concatenate([np.empty(0, np.int64), *(alignment.top(block, 1, side)[0][:, 0] for block in blocks)])


def _mutual(mine: IntArray, other: IntArray) -> IntArray:
    """The best candidate of each account whose own best candidate it is; -1 elsewhere."""
    partner = mine.copy()
    partner[other[mine] != np.arange(len(mine))] = -1  # -1 asks the last account, which is no one's partner by that
    return np.asarray(np.where(mine >= 0, partner, -1))


def _view(mine: Network, other: Network, pairs: IntArray, partner: IntArray, who: IntArray, of: IntArray) -> _Seen:
    """What the neighbours of the first accounts of the pairs show; `partner` and `who` as in `_gather`."""
    rows = mine.adjacency[pairs[:, 0]]
    pair, neighbour = row_index(rows), rows.indices
    known = partner[neighbour] >= 0
    pair, neighbour = pair[known], neighbour[known]
    ends = pairs[pair, 1], partner[neighbour]
    edge = np.isfinite(entries_at(other.adjacency, np.column_stack(ends)))
    x = other.degrees[ends[0]] * other.degrees[ends[1]] / max(other.adjacency.nnz, 1)
    return _Seen(of[pair], who[neighbour], np.where(edge, x / (1 + x), 0.0))


def _likeliest(facts: _Facts) -> _Fit:
    """The fit with the likeliest of `_SHARES`."""
    best = _fit_with(facts, _SHARES[0])
    for x in _SHARES[1:]:
        other = _fit_with(facts, x)
        if other.likelihood <= best.likelihood:
            break
        best = other
    return best


def _fit_with(facts: _Facts, x: float) -> _Fit:
    """The fit with the likeliest of `_BELIEFS`."""
    return max((_fit(facts, x, mutual) for mutual in _BELIEFS), key=lambda fit: fit.likelihood)


def _fit(facts: _Facts, x: float, mutual: float) -> _Fit:
    """π and P(wrong) with rates as they are if a share x is wrong, and a belief in best candidates."""
    rates = [min(rate / (1 - x) ** 2, _MOST_RATE) for rate in facts.rates]
    belief = np.where(facts.examined, 1 - x, 1.0)
    for _ in range(_ROUNDS):
        left, right = (_log_ratio(seen, rate, belief, mutual) for seen, rate in zip(facts.views, rates, strict=True))
        L = (left + right) / 2
        share, likelihood = _share(L[facts.examined])
        wrong = np.where(facts.examined, expit(np.log(share) - np.log1p(-share) - L), 0.0)
        belief = 1 - wrong
    return _Fit(likelihood, likelihood - float(L.sum()), share, np.where(L < 0, wrong, 0.0))


def _misaligned(facts: _Facts) -> float:
    """The log-likelihood if no anchor is wrong, and around some the best candidates are all wrong, at its highest."""
    by_anchors = [seen.sender >= 0 for seen in facts.views]
    alone = [
        _Seen(seen.of[kept], seen.sender[kept], seen.chance[kept])
        for seen, kept in zip(facts.views, by_anchors, strict=True)
    ]
    right = np.ones(len(facts.examined))
    highest = -np.inf
    for x in _SHARES:
        rates = [min(rate / (1 - x) ** 2, _MOST_RATE) for rate in facts.rates]
        for mutual in _BELIEFS:
            whole, anchors = (
                sum(_log_ratio(seen, rate, right, mutual) for seen, rate in zip(views, rates, strict=True)) / 2
                for views in (facts.views, alone)
            )
            for aligned in _ALIGNED:
                each = np.logaddexp(np.log(aligned) + whole, np.log1p(-aligned) + anchors)
                highest = max(highest, float(each.sum()))
    return highest


def _log_ratio(seen: _Seen, rate: float, belief: FloatArray, mutual: float) -> FloatArray:
    """`left` or `right` of this module's docstring for each anchor, [n]."""
    believed = np.where(seen.sender >= 0, belief[seen.sender], mutual)
    hit = seen.chance > 0
    chance = np.where(hit, seen.chance, 1.0)
    rates = np.clip(beta.ppf(_NODES, _ALIKE * rate, _ALIKE * (1 - rate)), 1e-3, 1 - 1e-3)
    each = [
        np.bincount(seen.of, np.log1p(believed * np.where(hit, one / chance - 1, -one)), minlength=len(belief))
        for one in rates
    ]
    return np.asarray(logsumexp(each, axis=0) - np.log(len(rates)))


def _share(L: FloatArray) -> tuple[float, float]:
    """The likeliest π, and the log-likelihood there; a prior of Beta(1, 2) keeps it off 1."""

    def loss(share: float) -> float:
        return -float(np.logaddexp(np.log1p(-share) + L, np.log(share)).sum() + np.log1p(-share))

    share = float(minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), method="bounded").x)
    return share, -loss(share)
