"""What a level of similarity is worth: log P(level | the same person) / P(level | two random accounts).

The first probability is counted on the anchors and smoothed towards the shares that the kind assumes, as if
`_PSEUDO` anchors had shown them. The second is counted on random pairs; a level that hardly any random pair reaches is
counted among the candidates of anchored accounts, whose partners are known: all others are false. Equal values
count by their own frequency p in both networks together, log P(equal | the same person) / p: a rare one counts more.

Fields that repeat each other, such as a handle and a name, must not count twice:

    log-odds(u, v) = sum_f w_f r_f(u, v)

w is fitted by logistic regression on the anchors, each against its candidates and against random accounts that stand
for the rest, drawn towards 1. A field that is missing on either side has r_f = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kedge.profiles.values import Kind
from kedge.similarity import fit_logistic
from kedge.types import BoolArray, FloatArray, IntArray

_PSEUDO: Final = 4.0  # anchors that the assumed shares are worth; unmeasured
_COUNTED: Final = 20  # random pairs of a level from which their share is taken as it is; unmeasured
_STRENGTH: Final = 2.0  # of the pull of a weight to 1; unmeasured
_MOST: Final = 1.5  # weight of one field at most; unmeasured


@dataclass(frozen=True)
class Levels:
    """The level of each pair in each field, int8 [m, f], -1 where missing; `log_frequency` [m, f] of equal values, 0
    elsewhere."""

    level: IntArray
    log_frequency: FloatArray

    def rows(self, chosen: IntArray | BoolArray) -> Levels:
        """Some of the pairs."""
        return Levels(self.level[chosen], self.log_frequency[chosen])


@dataclass(frozen=True)
class FieldWeights:
    """log P(level | same) and log P(level | random) of one field, and its weight in the sum."""

    same: FloatArray
    random: FloatArray
    weight: float = 1.0

    def log_ratio(self, level: IntArray, log_frequency: FloatArray) -> FloatArray:
        """r of each pair, [m]; 0 where the field is missing."""
        top = len(self.same) - 1
        chance = np.where(level == top, np.maximum(log_frequency, _LEAST), self.random[level])
        return np.where(level < 0, 0.0, self.same[level] - chance)

    @property
    def usual(self) -> float:
        """The weighted log-ratio of most random pairs, at most 0: of pairs that no search has found."""
        common = int(np.argmax(self.random))
        return min(self.weight * float(self.same[common] - self.random[common]), 0.0)


_LEAST: Final = -25.0


def count_levels(levels: IntArray, count: int, each: FloatArray | None = None) -> FloatArray:
    """How many pairs have each level, [count]; each counts as one, or as much as `each` has."""
    filled = levels >= 0
    return np.bincount(levels[filled], None if each is None else each[filled], count).astype(np.float64)


def fit_field(
    kind: Kind,
    anchors: IntArray,
    random: IntArray,
    rivals: IntArray,
    rival_pairs: float,
    probability: FloatArray | None = None,
) -> FieldWeights:
    """From the levels of anchors, of random pairs, and of candidates that are known to be false.

    `rival_pairs`: how many pairs these candidates were chosen from. probability: where anchors and rivals are the same
    candidates, how likely each is an anchor.
    """
    count = len(kind.same)
    prior = np.asarray(kind.same) / sum(kind.same)
    seen = count_levels(anchors, count, probability)
    same = (seen + _PSEUDO * prior) / (seen.sum() + _PSEUDO)
    drawn, found = (
        count_levels(random, count),
        count_levels(rivals, count, None if probability is None else 1 - probability),
    )
    share = (drawn + 0.5) / (drawn.sum() + 0.5 * count)
    # The candidates hold nearly all pairs of the high levels, and only some of the low ones.
    rare = (found + 0.5) / max(rival_pairs, drawn.sum(), 1.0)
    chance = np.where(drawn >= _COUNTED, share, np.minimum(share, rare))
    ratio = np.log(same) - np.log(chance)
    ratio[:-1] = _rising(same[:-1], chance[:-1], (seen + drawn + found)[:-1] > 0)  # equal values have frequencies
    return FieldWeights(np.log(chance) + ratio, np.log(chance))


def _rising(same: FloatArray, chance: FloatArray, occurs: BoolArray) -> FloatArray:
    """The log-ratio of each level, never falling: more similar is never less evidence.

    Neighbouring levels that would fall are pooled, so that a level which hardly any pair has cannot outweigh those that
    most have. A level that no pair has is worth what the one below it is, or above where there is none.
    """
    blocks: list[tuple[float, float, list[int]]] = []
    for level in np.flatnonzero(occurs).tolist():
        blocks.append((float(same[level]), float(chance[level]), [level]))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] > blocks[-1][0] * blocks[-2][1]:
            (s, c, levels), (t, d, more) = blocks[-2:]
            blocks[-2:] = [(s + t, c + d, levels + more)]
    ratio = np.full(len(same), np.nan)
    for s, c, levels in blocks:
        ratio[levels] = np.log(s / c)
    known = np.flatnonzero(occurs)
    if len(known) == 0:
        return np.zeros(len(same))
    return np.asarray(ratio[known[np.maximum(np.searchsorted(known, np.arange(len(same)), "right") - 1, 0)]])


def log_ratios(fields: tuple[FieldWeights, ...], levels: Levels) -> FloatArray:
    """r_f of each pair, [m, f]."""
    columns = [one.log_ratio(levels.level[:, i], levels.log_frequency[:, i]) for i, one in enumerate(fields)]
    return np.column_stack(columns) if columns else np.zeros((len(levels.level), 0))


def fit_weights(true: FloatArray, false: FloatArray, stands_for: FloatArray, rivals: float) -> FloatArray:
    """w from the log-ratios of true and of false pairs, each of which stands for so many of an account's `rivals`."""
    columns = np.concatenate([true, false])
    is_true = np.arange(len(columns)) < len(true)
    weight = np.concatenate([np.ones(len(true)), stands_for])
    prior = np.ones(columns.shape[1] + 1)
    prior[0] = -np.log(max(rivals, 1.0))
    fitted = fit_logistic(np.column_stack([np.ones(len(columns)), columns]), is_true, weight, prior, strength=_STRENGTH)
    return np.clip(fitted[1:], 0.0, _MOST)
