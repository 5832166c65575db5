"""Profiles compared: candidates and similarities once for a pair of networks, weights for each set of anchors.

What does not depend on anchors is computed once (`Compared`): the values of each field, candidate pairs with the level
of each field, and random pairs. `weigh` then fits the log-ratios to the anchors of a problem, so that a run
without validation anchors learns nothing from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from kedge.config import ProfileConfig
from kedge.context import need_extra
from kedge.profiles.fields import Field, choose_fields
from kedge.profiles.search import affordable, best_products, candidates_each, shared_features
from kedge.profiles.values import Kind, Values
from kedge.profiles.weights import FieldWeights, Levels, fit_field, fit_weights, log_ratios
from kedge.similarity import each_once, nearest_pairs
from kedge.types import FloatArray, IntArray, Problem, Profiles, is_among

T = TypeVar("T")

_RANDOM: Final = 100_000  # random pairs; unmeasured
_NEAREST: Final = 20  # candidates of each account by a field of vectors; unmeasured
_ENOUGH: Final = 500  # anchors that weights are fitted on
_RANDOM_EACH: Final = 20  # random rivals of each
_FEWEST: Final = 5  # anchors below which all weights stay 1; unmeasured


@dataclass(frozen=True)
class Prepared:
    """The compared fields of two networks, and both sides' values of each."""

    fields: tuple[Field, ...]
    values: tuple[tuple[Values, Values], ...]
    counted: tuple[tuple[Values, Values], ...] | None = None  # where frequencies are from, if elsewhere

    @property
    def shape(self) -> tuple[int, int]:
        """Accounts of the left and of the right network."""
        left, right = self.values[0]
        return len(left.codes), len(right.codes)

    def levels_of(self, pairs: IntArray) -> Levels:
        """The levels of any pairs."""
        found = [
            _level(field.kind, *values, pairs, counted)
            for field, values, counted in zip(self.fields, self.values, self.counted or self.values, strict=True)
        ]
        return Levels(np.column_stack([one for one, _ in found]), np.column_stack([one for _, one in found]))

    def within(self, side: int) -> Prepared:
        """One network beside itself, values as frequent as in both: no two of its accounts are the same person."""
        return Prepared(self.fields, tuple((both[side], both[side]) for both in self.values), self.values)


@dataclass(frozen=True)
class Compared:
    """Candidate pairs [m, 2] and random pairs, with the level of each in each field."""

    prepared: Prepared
    pairs: IntArray
    levels: Levels
    random: IntArray
    random_levels: Levels


def _level(
    kind: Kind, left: Values, right: Values, pairs: IntArray, counted: tuple[Values, Values]
) -> tuple[IntArray, FloatArray]:
    u, v = pairs.T
    one, other = left.codes[u], right.codes[v]
    both, top = (one >= 0) & (other >= 0), len(kind.edges) + 1
    equal = both & (one == other)
    level = np.where(both, 0, -1).astype(np.int8)
    rest = np.flatnonzero(both & ~equal)
    if kind.edges and len(rest):
        level[rest] = np.searchsorted(kind.edges, kind.similarity(left, right, pairs[rest]), "right")
    level[equal] = top
    width = int(max(side.codes.max(initial=-1) for side in counted)) + 1
    count = sum(np.bincount(side.codes[side.filled], minlength=width) for side in counted)
    filled = max(sum(int(side.filled.sum()) for side in counted), 1)
    # Without the pair itself, and one more account that was never seen.
    frequency = np.log(np.maximum(count - 2, 0) + 1.0) - np.log(filled)
    log_frequency = np.zeros(len(pairs), np.float32)
    log_frequency[equal] = frequency[one[equal]]
    return level, log_frequency


# What was made of profiles, as long as they last: each fold of a run compares the same ones.
_MADE: WeakKeyDictionary[Profiles, dict[tuple[Any, ...], tuple[Profiles, Any]]] = WeakKeyDictionary()


def _once(left: Profiles, right: Profiles, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    known = _MADE.setdefault(left, {})
    place = (id(right), *key)  # the entry holds `right`, so that its id stays its own
    if place not in known:
        known[place] = (right, make())
    made: T = known[place][1]
    return made


def prepare_fields(left: Profiles, right: Profiles, config: ProfileConfig) -> Prepared | None:
    """The fields and their values; None where no field can be compared."""

    def make() -> Prepared | None:
        fields = choose_fields(left, right, config)
        for field in fields:
            if field.kind.extra:
                need_extra(field.kind.extra, f"comparing the field {field.name!r} ({field.kind.name})")
        return Prepared(fields, tuple(field.prepare(left, right) for field in fields)) if fields else None

    return _once(left, right, ("fields", config.fields, config.compare), make)


def compare(left: Profiles, right: Profiles, config: ProfileConfig, seed: int = 0) -> Compared | None:
    """Both networks' profiles compared; None where no field can be."""
    prepared = prepare_fields(left, right, config)
    if prepared is None:
        return None

    def make() -> Compared:
        pairs = find_candidates(prepared)
        rng = np.random.default_rng([seed, left.n, right.n])
        random = np.column_stack([rng.integers(size, size=_RANDOM) for size in (left.n, right.n)])
        return Compared(prepared, pairs, prepared.levels_of(pairs), random, prepared.levels_of(random))

    return _once(left, right, ("compared", config.fields, config.compare, seed), make)


def find_candidates(prepared: Prepared) -> IntArray:
    """The pairs that have most in common, from either side; and the nearest ones in each field of vectors."""
    n_left, n_right = prepared.shape
    k = candidates_each(n_left, n_right)
    left, right = affordable(*shared_features(list(prepared.values)))
    found = [best_products(left, right, k), best_products(right, left, k)[:, ::-1]]
    found += [
        nearest_pairs(one.numbers, other.numbers, min(k, _NEAREST)).pairs
        for field, (one, other) in zip(prepared.fields, prepared.values, strict=True)
        if field.kind.near
    ]
    return each_once(np.concatenate(found))


@dataclass(frozen=True)
class Weighed:
    """What profiles say of pairs, with weights of its own for each field."""

    compared: Compared
    weights: tuple[FieldWeights, ...]
    listed: FloatArray

    def log_odds(self, pairs: IntArray) -> FloatArray:
        """The log-odds of any pairs, [m]."""
        return np.asarray(self.by_field(pairs).sum(axis=1))

    def by_field(self, pairs: IntArray) -> FloatArray:
        """What each field adds to the log-odds of each pair, [m, f]."""
        each = np.array([one.weight for one in self.weights])
        return np.asarray(log_ratios(self.weights, self.compared.prepared.levels_of(pairs)) * each)

    def prior(self) -> csr_array:
        """The log-odds of the candidates, n_1 × n_2."""
        return csr_array((self.listed, tuple(self.compared.pairs.T)), shape=self.compared.prepared.shape)

    def usual(self) -> tuple[FloatArray, FloatArray]:
        """[n_1, g] and [n_2, g] whose product is the usual log-odds of two accounts that are no candidates: different
        in every field that both have. Fields that the same accounts have are one column."""
        columns: dict[tuple[bytes, bytes], float] = {}
        filled: dict[tuple[bytes, bytes], tuple[FloatArray, FloatArray]] = {}
        for one, (left, right) in zip(self.weights, self.compared.prepared.values, strict=True):
            key = (left.filled.tobytes(), right.filled.tobytes())
            columns[key] = columns.get(key, 0.0) + one.usual
            filled[key] = (left.filled.astype(np.float64), right.filled.astype(np.float64))
        n_left, n_right = self.compared.prepared.shape
        lefts = [columns[key] * filled[key][0] for key in columns]
        rights = [filled[key][1] for key in columns]
        if not columns:
            return np.zeros((n_left, 0)), np.zeros((n_right, 0))
        return np.column_stack(lefts), np.column_stack(rights)


def weigh(compared: Compared, problem: Problem, seed: int = 0) -> Weighed:
    """The weights that the anchors of a problem give."""
    anchors = problem.anchors
    rng = np.random.default_rng([seed, len(anchors)])
    true = compared.prepared.levels_of(anchors)
    is_anchor = is_among(compared.pairs, anchors, problem.right.n)
    anchored = np.isin(compared.pairs[:, 0], anchors[:, 0]) | np.isin(compared.pairs[:, 1], anchors[:, 1])
    false = np.flatnonzero(anchored & ~is_anchor)
    if len(anchors) < _FEWEST:  # hardly any pair is known to be false: most candidates are
        false, known = np.flatnonzero(~is_anchor), float(problem.left.n * problem.right.n)
    else:
        known = float(len(anchors) * (problem.left.n + problem.right.n))
    weights = tuple(
        fit_field(
            field.kind,
            true.level[:, i],
            compared.random_levels.level[:, i],
            compared.levels.level[false, i],
            known,
        )
        for i, field in enumerate(compared.prepared.fields)
    )
    if len(anchors) >= _FEWEST:
        found = _joint(compared, problem, weights, true, rng)
        weights = tuple(replace(one, weight=float(w)) for one, w in zip(weights, found, strict=True))
    listed = log_ratios(weights, compared.levels) @ np.array([one.weight for one in weights])
    return Weighed(compared, weights, listed)


def _joint(
    compared: Compared, problem: Problem, weights: tuple[FieldWeights, ...], true: Levels, rng: np.random.Generator
) -> FloatArray:
    """The weight of each field beside the others."""
    chosen = rng.permutation(len(problem.anchors))[:_ENOUGH]
    anchors = problem.anchors[chosen]
    listed = np.isin(compared.pairs[:, 0], anchors[:, 0]) | np.isin(compared.pairs[:, 1], anchors[:, 1])
    rows = np.flatnonzero(listed & ~is_among(compared.pairs, anchors, problem.right.n))
    sizes = (problem.left.n, problem.right.n)
    drawn = [
        np.column_stack(
            [np.repeat(anchors[:, 0], _RANDOM_EACH), rng.integers(sizes[1], size=len(anchors) * _RANDOM_EACH)]
        ),
        np.column_stack(
            [rng.integers(sizes[0], size=len(anchors) * _RANDOM_EACH), np.repeat(anchors[:, 1], _RANDOM_EACH)]
        ),
    ]
    random = np.concatenate(drawn)
    random = random[~is_among(random, anchors, sizes[1])]
    false = np.concatenate(
        [log_ratios(weights, compared.levels.rows(rows)), log_ratios(weights, compared.prepared.levels_of(random))]
    )
    rivals = float(sum(sizes)) / 2
    each = max(2 * len(anchors) * rivals - len(rows), 1.0) / max(len(random), 1)
    stands_for = np.concatenate([np.ones(len(rows)), np.full(len(random), each)])
    # Each anchor is true from either of its sides.
    r = log_ratios(weights, true.rows(chosen))
    return fit_weights(np.concatenate([r, r]), false, stands_for, rivals)
