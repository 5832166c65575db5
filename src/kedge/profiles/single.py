"""What profiles say of single pairs: both values of each field, how similar they are, and what that was worth.

`FittedFields` is what a run saves beside the values: the weights that its anchors gave, and what each field is. It has
no value of a profile in it. Together with the values it explains any pair (`KnownFields`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from kedge.config import Config
from kedge.context import need_extra
from kedge.profiles.compare import Prepared, compare, weigh
from kedge.profiles.facts import FieldFacts, describe_fields
from kedge.profiles.fields import Field
from kedge.profiles.kinds import find_kind
from kedge.profiles.values import Values
from kedge.profiles.weights import FieldWeights, log_ratios
from kedge.types import Problem, Profiles

SHOWN: Final = 2_000  # characters of a value that a page shows


@dataclass(frozen=True)
class FittedField:
    """A compared field by the names of its columns and its kind, its weights, and what it is."""

    left: str
    right: str
    kind: str
    weights: FieldWeights
    facts: FieldFacts

    @property
    def field(self) -> Field:
        """The comparison."""
        return Field(self.left, self.left, self.right, find_kind(self.kind))

    @property
    def worth(self) -> tuple[float, float]:
        """The log-odds of two values that differ most, and of two equal ones that are as frequent as most."""
        ratio = self.weights.weight * (self.weights.same - self.weights.random)
        return float(ratio[0]), float(ratio[-1])


@dataclass(frozen=True)
class FittedFields:
    """The fields of a run; `scale` is what profiles count beside structure."""

    fields: tuple[FittedField, ...]
    scale: float

    def as_rows(self) -> list[dict[str, Any]]:
        """What each field is and is worth, as plain values."""
        return [
            asdict(one.facts)
            | {"different": self.scale * one.worth[0], "equal": self.scale * one.worth[1], "weight": one.weights.weight}
            for one in self.fields
        ]


@dataclass(frozen=True)
class FieldOfPair:
    """One field of two accounts: both values as text, None where missing; whether they are `equal`, and how similar,
    None where either is missing; `weight` is what it adds to the log-odds."""

    name: str
    kind: str
    left: str | None
    right: str | None
    equal: bool
    similarity: float | None
    weight: float


@dataclass(frozen=True)
class KnownFields:
    """The profiles of both networks, by the weights of a run."""

    left: Profiles
    right: Profiles
    fitted: FittedFields

    @cached_property
    def _prepared(self) -> Prepared:
        fields = tuple(one.field for one in self.fitted.fields)
        for field in fields:
            if field.kind.extra:
                need_extra(field.kind.extra, f"comparing the field {field.name!r} ({field.kind.name})")
        return Prepared(fields, tuple(field.prepare(self.left, self.right) for field in fields))

    def of(self, pair: tuple[int, int], counted: float | None = None) -> tuple[FieldOfPair, ...]:
        """Each field of a pair. `counted` is what profiles added to its log-odds, if that is known: a pair that was
        not looked at singly counted as most pairs do, different in every field that both have."""
        if not self.fitted.fields:
            return ()
        prepared, scale = self._prepared, self.fitted.scale
        weights = tuple(one.weights for one in self.fitted.fields)
        levels = prepared.levels_of(np.array([pair]))
        each = scale * log_ratios(weights, levels)[0] * np.array([one.weight for one in weights])
        usual = scale * np.where(levels.level[0] < 0, 0.0, [one.usual for one in weights])
        if counted is not None and abs(usual.sum() - counted) < abs(each.sum() - counted):
            each = usual
        return tuple(
            FieldOfPair(
                one.left if one.left == one.right else f"{one.left} ~ {one.right}",
                one.kind,
                as_text(self.left, one.left, pair[0]),
                as_text(self.right, one.right, pair[1]),
                bool(values[0].codes[pair[0]] == values[1].codes[pair[1]] >= 0),
                _similarity(field, values, pair),
                float(weight),
            )
            for one, field, values, weight in zip(
                self.fitted.fields, prepared.fields, prepared.values, each, strict=True
            )
        )


def as_text(profiles: Profiles, name: str, account: int) -> str | None:
    """One value for people, cut where it is too long for any page; None where it is missing."""
    value = profiles.table.column(name)[account].as_py()
    if value is None:
        return None
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _similarity(field: Field, values: tuple[Values, Values], pair: tuple[int, int]) -> float | None:
    one, other = int(values[0].codes[pair[0]]), int(values[1].codes[pair[1]])
    if one < 0 or other < 0:
        return None
    if one == other:
        return 1.0
    return float(np.clip(field.kind.similarity(*values, np.array([pair]))[0], 0.0, 1.0))


def fit_fields(problem: Problem, config: Config) -> FittedFields:
    """The weights of a problem's anchors, as matching by this configuration counts them."""
    scale = 1.0 if config.profiles.weight is None else config.profiles.weight
    compared = None if problem.profiles is None else compare(*problem.profiles, config.profiles)
    if problem.profiles is None or compared is None:
        return FittedFields((), scale)
    weighed = weigh(compared, problem, config.seed)
    facts = describe_fields(*problem.profiles, problem.anchors, config.profiles)
    found = zip(compared.prepared.fields, weighed.weights, facts, strict=True)
    return FittedFields(
        tuple(FittedField(field.left, field.right, field.kind.name, weights, fact) for field, weights, fact in found),
        scale,
    )


def compared_columns(fitted: FittedFields, profiles: tuple[Profiles, Profiles]) -> tuple[Profiles, Profiles]:
    """The profiles with their compared columns alone."""
    left = list(dict.fromkeys(one.left for one in fitted.fields))
    right = list(dict.fromkeys(one.right for one in fitted.fields))
    return Profiles(profiles[0].table.select(left)), Profiles(profiles[1].table.select(right))
