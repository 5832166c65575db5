"""What a probability is estimated from: how high a candidate scores, and how clearly it beats its rivals.

Each signal does not fall when the pair's own score rises (the others' scores fixed), so a model with weights ≥ 0 is
monotone in the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.link.shortlist import Shortlist
from kedge.types import FloatArray, IntArray

__all__ = ["SIGNALS", "Scale", "best_scores", "margins", "scale_of", "signals"]

SIGNALS = ("score", "lead over the left account's other candidates", "lead over the right account's", "mutual best")


@dataclass(frozen=True)
class Scale:
    """The unit of a method's scores: a middle, a spread, the floor that stands for an absent rival.

    `temperature`, in spreads, is how near a rival's score must be to count as a rival.
    """

    middle: float
    spread: float
    floor: float
    temperature: float = 0.25


def scale_of(score: FloatArray, best: FloatArray) -> Scale:
    """The scale from all candidates' scores and from the best score of each left account."""
    if len(score) == 0:
        return Scale(0.0, 1.0, 0.0)
    low, middle, high = np.quantile(best, [0.25, 0.5, 0.75])
    spread = float(high - low) or float(np.std(score)) or 1.0
    return Scale(float(middle), spread, float(np.quantile(score, 0.01)))


def best_scores(pairs: Shortlist) -> tuple[IntArray, FloatArray]:
    """The left accounts that have candidates, and the best score of each."""
    accounts = np.flatnonzero(np.diff(pairs.indptr))
    return accounts, pairs.score[pairs.indptr[accounts]].astype(np.float64)


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
    score = pairs.score.astype(np.float64)
    return (
        score - _best_other(pairs.left, pairs.n_left, score, floor),
        score - _best_other(pairs.right, pairs.n_right, score, floor),
    )


def signals(pairs: Shortlist, scale: Scale) -> FloatArray:
    """The signals of each candidate, [m, 4], in the order of `SIGNALS`.

    A lead is the score minus the soft maximum of the rivals, so ten near rivals count for more than one; leads and
    scores go through asinh, since methods differ in how far their scores run out.
    """
    score = pairs.score.astype(np.float64)
    unit = scale.temperature * scale.spread
    from_left = score / unit - _rivals(pairs.left, pairs.n_left, score, scale.floor, unit)
    from_right = score / unit - _rivals(pairs.right, pairs.n_right, score, scale.floor, unit)
    lead_left, lead_right = margins(pairs, -np.inf)
    return np.column_stack(
        [
            np.arcsinh((score - scale.middle) / scale.spread),
            np.arcsinh(from_left),
            np.arcsinh(from_right),
            (lead_left > 0) & (lead_right > 0),
        ]
    )
