"""Which columns are compared, and as what: by name, by `--compare`, by the look of their values."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from kedge.config import ProfileConfig
from kedge.errors import KedgeError, did_you_mean
from kedge.profiles.kinds import find_kind, recognise
from kedge.profiles.values import Kind, Values
from kedge.types import Profiles


@dataclass(frozen=True)
class Field:
    """A column of the left profiles compared with one of the right ones."""

    name: str
    left: str
    right: str
    kind: Kind

    def prepare(self, left: Profiles, right: Profiles) -> tuple[Values, Values]:
        """The values of both sides."""
        try:
            return self.kind.prepare(left.column(self.left), right.column(self.right))
        except KedgeError as error:
            raise KedgeError(f"the field {self.name!r}: {error}") from None
        except pa.ArrowException:  # its message may have a value in it
            raise KedgeError(
                f"the field {self.name!r} cannot be compared as {self.kind.name}",
                remedy=f'state another kind, e.g. --compare "{self.left}~{self.right}:category"',
            ) from None


def parse_comparison(text: str) -> tuple[str, str, str]:
    """`left~right:kind` as its three parts; the right name and the kind may be absent."""
    names, _, kind = text.rpartition(":") if ":" in text else (text, "", "")
    left, _, right = names.partition("~")
    left, right, kind = left.strip(), (right or left).strip(), kind.strip()
    if not left or not right:
        raise KedgeError(f"{text!r} is no comparison", remedy='write e.g. "handle~screen_name:handle"')
    return left, right, kind


def exchange_sides(config: ProfileConfig) -> ProfileConfig:
    """The same comparisons for a problem whose left network is the right one here."""
    found = [parse_comparison(text) for text in config.compare]
    compare = tuple(f"{right}~{left}" + (f":{kind}" if kind else "") for left, right, kind in found)
    return config.model_copy(update={"compare": compare})


def choose_fields(left: Profiles, right: Profiles, config: ProfileConfig) -> tuple[Field, ...]:
    """The fields that are compared: those stated, then all of the same name, or those of them in `config.fields`."""
    stated = [parse_comparison(text) for text in config.compare]
    for one, other, kind in stated:
        for side, name, profiles in (("left", one, left), ("right", other, right)):
            _refuse_unknown(name, profiles, f"the {side} profiles have no column")
        if kind:
            find_kind(kind)
    taken = {one for one, _, _ in stated} | {other for _, other, _ in stated}
    same = [(name, name, "") for name in left.names if name in right.names and name not in taken]
    for name in config.fields:
        if name not in taken and name not in [one for one, _, _ in same]:
            _refuse_unknown(name, left, "the left profiles have no column")
            _refuse_unknown(name, right, "the right profiles have no column")
    pairs = [*stated, *(one for one in same if not config.fields or one[0] in config.fields)]
    made = []
    for one, other, kind in pairs:
        columns = left.column(one), right.column(other)
        if any(len(column) == column.null_count for column in columns):
            continue  # nothing to compare
        made.append(Field(one, one, other, find_kind(kind) if kind else recognise(one, *columns)))
    return tuple(made)


def _refuse_unknown(name: str, profiles: Profiles, problem: str) -> None:
    if name not in profiles.names:
        raise KedgeError(f"{problem} {name!r}", remedy=did_you_mean(name, list(profiles.names), "check the name", 0.4))
