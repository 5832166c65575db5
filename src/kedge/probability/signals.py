"""What a probability is estimated from: how high a candidate scores, and how clearly it beats its rivals.

A method may order candidates otherwise than by their strength: evidence's order knows the assignment, its log-odds do
not. How clearly a candidate leads in that order is then a signal too (docs/decisions/0023).

Each signal does not fall when the pair's own score or its place in that order rises (all else fixed), so a model with
weights ≥ 0 is monotone in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.probability.candidates import Shortlist
from kedge.types import FloatArray, IntArray

SIGNALS = (
    "score",
    "lead over the left account's other candidates",
    "lead over the right account's",
    "mutual best",
    "lead over the left account's others in the method's own order",
    "lead over the right account's in that order",
)


@dataclass(frozen=True)
class Scale:
    """The unit of a method's scores: a middle, a spread, the floor in place of an absent rival.

    `temperature`, in spreads, is how near a rival's score must be to count as a rival; `last` is the floor in the
    method's own order.
    """

    middle: float
    spread: float
    floor: float
    temperature: float = 0.25
    last: float = 0.0


def scale_of(lists: Sequence[Shortlist]) -> Scale:
    """The scale from all candidates' scores and from the best score of each left account."""
    score = np.concatenate([[], *(pairs.score for pairs in lists)])
    if len(score) == 0:
        return Scale(0.0, 1.0, 0.0)
    best = np.concatenate([_best_scores(pairs) for pairs in lists])
    low, middle, high = np.quantile(best, [0.25, 0.5, 0.75])
    spread = float(high - low) or float(np.std(score)) or 1.0
    own = np.concatenate([[], *(pairs.own_order for pairs in lists if pairs.own_order is not None)])
    last = _low(own) if len(own) else 0.0
    return Scale(float(middle), spread, _low(score), last=last)


def _low(values: FloatArray) -> float:
    """The score of an absent rival: lower than nearly all others, and no outlier."""
    return float(np.quantile(values, 0.01))


def _best_scores(pairs: Shortlist) -> FloatArray:
    """The best score of each left account that has candidates."""
    accounts = np.flatnonzero(np.diff(pairs.indptr))
    return pairs.score[pairs.indptr[accounts]].astype(np.float64)


def _rivals(group: IntArray, n: int, score: FloatArray, floor: float, unit: float) -> FloatArray:
    """log Σ exp(score / unit) over the other candidates of the same account, and the floor."""
    top = np.full(n, floor)
    np.maximum.at(top, group, score)
    shifted = np.exp((score - top[group]) / unit)
    total = np.bincount(group, shifted, minlength=n)[group]
    # The difference total - own loses its digits where one candidate dwarfs the rest: sum the rest about their own top.
    second = _best_other(group, n, score, floor)
    dwarfs = shifted > 0.5 * total
    rest = np.where(dwarfs, 0.0, total - shifted)
    about = np.where(dwarfs, second, top[group])
    owner = np.full(n, -1)
    owner[group[dwarfs]] = np.flatnonzero(dwarfs)  # at most one of a group can hold more than half
    small = np.flatnonzero(~dwarfs & (owner[group] >= 0))
    np.add.at(rest, owner[group[small]], np.exp((score[small] - about[owner[group[small]]]) / unit))
    result: FloatArray = about / unit + np.log(rest + np.exp((floor - about) / unit))
    return result


def _best_other(group: IntArray, n: int, score: FloatArray, floor: float) -> FloatArray:
    """The best score among an account's other candidates; the floor where there is none."""
    order = np.lexsort((-score, group))
    sorted_group = group[order]
    count = np.bincount(group, minlength=n)
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    place = np.arange(len(group)) - first[sorted_group]
    best, second = np.full(n, floor), np.full(n, floor)
    best[sorted_group[place == 0]] = score[order[place == 0]]
    second[sorted_group[place == 1]] = score[order[place == 1]]
    result = best[group]
    leaders = order[place == 0]
    result[leaders] = second[group[leaders]]
    at_least: FloatArray = np.maximum(result, floor)
    return at_least


def margins(pairs: Shortlist, floor: float) -> tuple[FloatArray, FloatArray]:
    """The score minus the best other candidate's, seen from the left and from the right account."""
    return _leads(pairs, pairs.score, floor)


def _leads(pairs: Shortlist, score: FloatArray, floor: float) -> tuple[FloatArray, FloatArray]:
    score = score.astype(np.float64)
    return (
        score - _best_other(pairs.left, pairs.n_left, score, floor),
        score - _best_other(pairs.right, pairs.n_right, score, floor),
    )


def signals(pairs: Shortlist, scale: Scale) -> FloatArray:
    """The signals of each candidate, [m, 6], in the order of `SIGNALS`; the last two are 0 where scores are the order.

    A lead is the score minus the soft maximum of the rivals, so ten near rivals count for more than one; leads and
    scores go through asinh, since methods differ in how far their scores run out.
    """
    score = pairs.score.astype(np.float64)
    unit = scale.temperature * scale.spread
    from_left = score / unit - _rivals(pairs.left, pairs.n_left, score, scale.floor, unit)
    from_right = score / unit - _rivals(pairs.right, pairs.n_right, score, scale.floor, unit)
    lead_left, lead_right = margins(pairs, -np.inf)
    nothing = np.zeros(len(pairs))
    own = (nothing, nothing) if pairs.own_order is None else _leads(pairs, pairs.own_order, scale.last)
    return np.column_stack(
        [
            np.arcsinh((score - scale.middle) / scale.spread),
            np.arcsinh(from_left),
            np.arcsinh(from_right),
            (lead_left > 0) & (lead_right > 0),
            np.arcsinh(own[0]),
            np.arcsinh(own[1]),
        ]
    )
