"""Results as tables of pairs: rows with the users' own ids, for pandas, polars, Arrow, plain Python and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import pyarrow as pa

from kedge.api.objects import one_id
from kedge.context import Shown, table_text
from kedge.errors import KedgeError, did_you_mean
from kedge.report import table_html

_SHOWN: Final = 10  # rows of a table that a notebook or a terminal shows
_CERTAIN: Final = 3  # of them at most that are known or confirmed, where there are others
_NEAR: Final = 100_000  # ids among which a similar one is searched for; more take too long


class MatchRow(NamedTuple):
    """A left account and its partner. `decision` is known, confirmed, match, review or no match; `probability` that the
    pair is right; `counterpart` that the left account has any; `margin` of the score to the next candidate."""

    left: str
    right: str | None
    decision: str
    probability: float | None
    counterpart: float | None
    margin: float | None
    source: str


class CandidateRow(NamedTuple):
    """One candidate of a left account; `rank` 1 is the most probable. `method_score` is the method's own score."""

    left: str
    right: str
    rank: int
    probability: float
    decision: str
    counterpart: float
    margin: float
    method_score: float


class SuspectRow(NamedTuple):
    """An anchor that the rest of the evidence contradicts: the probability that it is wrong, and better partners."""

    left: str
    right: str
    wrong: float
    better_right: str | None
    better_left: str | None


Row = TypeVar("Row", MatchRow, CandidateRow, SuspectRow)


class Table(Generic[Row]):
    """Rows of left and right ids, in their order.

    `table["alice"]` is the first row of a left id (of candidates: the best one), `find` has all of them, by the ids of
    either side. `left_name` and `right_name` are what the two sides are called.
    """

    def __init__(self, table: pa.Table, row: type[Row], title: str, names: tuple[str, str] = ("left", "right")) -> None:
        self._table, self._title = table, title
        self._row: type[Row] = row
        self.left_name, self.right_name = names
        self._places: dict[str, dict[str, list[int]]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        for batch in self._table.to_batches(max_chunksize=65536):
            yield from (self._row(*values) for values in zip(*(c.to_pylist() for c in batch.columns), strict=True))

    def __contains__(self, left: object) -> bool:
        return one_id(left) in self._index("left")

    def __getitem__(self, left: object) -> Row:
        found = self.find(left=left)
        if not found:
            raise self._unknown("left", one_id(left))
        return found[0]

    def find(self, left: object = None, right: object = None) -> list[Row]:
        """The rows with this left id, with this right id, or with both; none where there are none."""
        asked = {side: one_id(name) for side, name in (("left", left), ("right", right)) if name is not None}
        if not asked:
            raise KedgeError("nothing to find", remedy="give left=, right= or both")
        places = [set(self._index(side).get(name, ())) for side, name in asked.items()]
        rows = self._table.take(pa.array(sorted(set.intersection(*places)), pa.int64())).to_pylist()
        return [self._row(*row.values()) for row in rows]

    def _index(self, side: str) -> dict[str, list[int]]:
        if side not in self._places:
            places: dict[str, list[int]] = {}
            for place, name in enumerate(self._table[side].to_pylist()):
                places.setdefault(name, []).append(place)
            self._places[side] = places
        return self._places[side]

    def _unknown(self, side: str, name: str) -> KeyError:
        known = self._index(side)
        near = did_you_mean(name, known, "", 0.6) if len(known) <= _NEAR else ""
        other = "; it is a right id: use find(right=...)" if side == "left" and name in self._index("right") else ""
        hint = other or f"; {near or 'in [ ] stands a left id; list(...) has rows by their number'}"
        return MissingRowError(f"no {side} id {name!r} in {self._title.lower()}{hint}")

    def to_arrow(self) -> pa.Table:
        """As an Arrow table."""
        return self._table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """As a pandas data frame."""
        _need("pandas", "to_pandas()")
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """As a polars data frame."""
        _need("polars", "to_polars()")
        import polars

        return polars.from_arrow(self._table)

    def to_dicts(self) -> list[dict[str, Any]]:
        """As a list of one dictionary per row."""
        return cast(list[dict[str, Any]], self._table.to_pylist())

    def _shown(self) -> tuple[Shown, str]:
        """Some rows for people, and a line below them where there are more: of known pairs a few, then the others."""
        names = {"left": self._side("left", self.left_name), "right": self._side("right", self.right_name)}
        decisions: list[str] = self._table["decision"].to_pylist() if self._row is MatchRow else []
        counts = [f"{count:,} {word}" for word, count in Counter(decisions).items()]
        certain = sum(word in ("known", "confirmed") for word in decisions)
        first = min(certain, max(_CERTAIN, _SHOWN - (len(self) - certain)))
        parts = (self._table.slice(0, min(first, _SHOWN)), self._table.slice(certain, _SHOWN - first))
        rows = [tuple(map(_cell, row.values())) for part in parts for row in part.to_pylist()]
        title = f"{self._title}: {len(self):,}{' (' + ', '.join(counts) + ')' if counts else ''}"
        more = f"{len(rows)} of {len(self):,} rows are shown" if len(self) > len(rows) else ""
        return Shown(title, tuple(names.get(c, c) for c in self.columns), rows, 2), more

    @staticmethod
    def _side(side: str, name: str) -> str:
        return side if name in ("", side) else f"{side} ({name})"

    def __repr__(self) -> str:
        shown, more = self._shown()
        return table_text(shown).rstrip() + (f"\n{more}" if more else "")

    def _repr_html_(self) -> str:
        shown, more = self._shown()
        return table_html(shown, more).html


class MissingRowError(KedgeError, KeyError):
    """No row has this id."""

    def __str__(self) -> str:  # that of KeyError has quotes around it
        return str(self.args[0])


def _need(library: str, what: str) -> None:
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise KedgeError(f"{what} needs {library}", remedy=f"install with: pip install {library}")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
