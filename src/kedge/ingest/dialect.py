"""How a text table is written: its delimiter, whether it has a header, which columns hold ids and weights."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.sources import SAMPLE_BYTES, Source

COMMENTS: Final = ("#", "%")
# Where Arrow ends a line. `str.splitlines` also ends it at U+2028, U+0085, a form feed and others.
_LINE_END: Final = re.compile("\r\n|\r|\n")
_NO_SPACE: Final = re.compile("[^ \t\n\r\v\f]+")  # what `bytes.split` takes for spaces; `str.split` has many more
_DELIMITERS: Final = ("\t", ",", ";", "|", " ")
_SAMPLE_ROWS: Final = 200
_FIRST: Final = frozenset(
    "source src from left start head node1 node_1 user user1 user_1 user_id id1 id_1 follower account account1 "
    "left_id source_id from_id from_node fromnodeid person1 network1 node_a".split()
)
_SECOND: Final = frozenset(
    "target dst dest destination to right end tail node2 node_2 friend user2 user_2 friend_id id2 id_2 followee "
    "account2 right_id target_id to_id to_node tonodeid person2 network2 node_b "
    "hyperedge".split()
)
_WEIGHT: Final = frozenset("weight w weights value strength count p".split())
# A third column of whole numbers this large counts seconds since 1970, not strength.
_TIMESTAMP: Final = 1e8


@dataclass(frozen=True)
class Dialect:
    """How to read a text table; `skip` counts the lines before the first row of data."""

    delimiter: str
    columns: int
    header: tuple[str, ...] | None
    first: int
    second: int
    weight: int | None
    skip: int
    single: bool  # whether to make runs of spaces one before parsing
    notes: tuple[str, ...] = ()


class _Row(NamedTuple):
    """A row of the sample: its line, from 0, and its fields."""

    line: int
    fields: list[str]


def sniff(source: Source, config: ReadConfig, weights_wanted: bool = True) -> Dialect:
    """Decide from the first rows; what the config states is taken as it is."""
    lines = _sample(source)
    texts = [text for _, text in lines]
    delimiter = _delimiter(texts, config.delimiter, source)
    rows = [_Row(line, _fields(text, delimiter)) for line, text in lines]
    width = _width(rows, delimiter, source)
    header = _header(rows, config.header, source)
    named = header is not None and len(header) == width
    first, second, weight = name_columns(header) if header is not None and named else (0, 1, None)
    notes: list[str] = []
    if not weights_wanted or config.weights == "no":
        weight = None
    elif weight is None:
        body = [row.fields for row in (rows if header is None else rows[1:])]
        weight, notes = _unnamed_weight(header, width, body, config.weights, {first, second})
    uneven = delimiter == " " and any(text != " ".join(split_words(text)) for text in texts)
    return Dialect(delimiter, width, header, first, second, weight, _skipped(rows, header), uneven, tuple(notes))


def _sample(source: Source) -> list[tuple[int, str]]:
    """The first rows with their line numbers, from 0: no comments, no blank lines, none that the sample cuts off."""
    lines = _LINE_END.split(source.sample)
    if not source.whole and len(lines) > 1:
        lines.pop()
    rows = [(i, line) for i, line in enumerate(lines) if line.strip() and not line.startswith(COMMENTS)]
    if not rows:
        where = "" if source.whole else f" in its first {SAMPLE_BYTES >> 10} kB"
        raise KedgeError(f"holds no rows{where}", file=source.path, remedy="give a file with one edge or pair per line")
    return rows[:_SAMPLE_ROWS]


def _width(rows: Sequence[_Row], delimiter: str, source: Source) -> int:
    """The number of columns. A header may be one short (the index of a data frame has no name), so most rows decide."""
    width = _most_common([len(row.fields) for row in rows])
    if width < 2:
        raise KedgeError(
            f"has one column where two are needed (delimiter {delimiter!r})",
            file=source.path,
            line=rows[0].line + 1,
            remedy="state the delimiter with --set read.delimiter=...",
        )
    return width


def _header(rows: Sequence[_Row], stated: str, source: Source) -> tuple[str, ...] | None:
    top, body = rows[0].fields, [row.fields for row in rows[1:]]
    if not (_is_header(top, body) if stated == "auto" else stated == "yes"):
        return None
    if not body and source.whole:
        raise KedgeError("holds a header and no rows", file=source.path, remedy="give at least one edge or pair")
    return tuple(field.strip() for field in top)


def _skipped(rows: Sequence[_Row], header: tuple[str, ...] | None) -> int:
    """The number of lines before the first row of data."""
    if header is None:
        return rows[0].line
    return rows[1].line if len(rows) > 1 else rows[0].line + 1


def split_words(line: str) -> list[str]:
    """The fields of a line that is separated by runs of spaces."""
    return _NO_SPACE.findall(line)


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return split_words(line)
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        return line.split(delimiter)


def _delimiter(lines: Sequence[str], stated: str, source: Source) -> str:
    if stated != "auto":
        delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(stated, stated)
        if len(delimiter) != 1 or delimiter in '\r\n"' or ord(delimiter) > 127:
            raise KedgeError(f"read.delimiter {stated!r} is not one character", remedy="write e.g. , or ; or \\t")
        return delimiter
    # The delimiter that cuts most rows into the same number of at least two columns; earlier ones win ties.
    best, best_share = None, 0.0
    for delimiter in _DELIMITERS:
        widths = [len(_fields(line, delimiter)) for line in lines]
        common = _most_common(widths)
        share = widths.count(common) / len(widths) if common >= 2 else 0.0
        if share > best_share:
            best, best_share = delimiter, share
    if best is None:
        raise KedgeError(
            "has one column where two are needed",
            file=source.path,
            remedy="separate the two ids by tab, comma, semicolon, | or space, or state --set read.delimiter=...",
        )
    return best


def _most_common(widths: Sequence[int]) -> int:
    """The width that most rows have; of two equally frequent ones the one seen first."""
    return max(widths, key=lambda width: (widths.count(width), -widths.index(width)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_header(top: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: by known names, or by words above a column of numbers."""
    names = [field.strip().lower() for field in top]
    if not _FIRST.isdisjoint(names) and not _SECOND.isdisjoint(names):
        # Accounts may be called "left" or "friend" too, but then they occur again.
        again = {field.strip().lower() for row in body for field in row}
        return again.isdisjoint((_FIRST | _SECOND).intersection(names))

    def is_numeric(column: int) -> bool:
        width = min(len(names), len(body[0])) if body else 0
        return column < width and all(len(row) > column and _is_number(row[column]) for row in body)

    above = [0, 1] if is_numeric(0) and is_numeric(1) else [2] if is_numeric(2) and names[2] else []
    return bool(above) and not any(_is_number(names[column]) for column in above)


def name_columns(header: Sequence[str]) -> tuple[int, int, int | None]:
    """Which columns hold the two ends and the weight, by their names; by default the first two."""
    names = [name.strip().lower() for name in header]
    first = [i for i, name in enumerate(names) if name in _FIRST]
    second = [i for i, name in enumerate(names) if name in _SECOND]
    ends = (first[0], second[0]) if len(first) == 1 and len(second) == 1 else (0, 1)
    weight = next((i for i, name in enumerate(names) if name in _WEIGHT and i not in ends), None)
    return *ends, weight


def _unnamed_weight(
    header: tuple[str, ...] | None, width: int, rows: Sequence[Sequence[str]], stated: str, taken: set[int]
) -> tuple[int | None, list[str]]:
    """The first other column if it holds weights, and a note if it does not."""
    third = next((c for c in range(width) if c not in taken), None)
    if third is None and stated == "yes":
        raise KedgeError("read.weights is yes, but there is no third column", remedy="set read.weights=no")
    if third is None or stated == "yes":
        return third, []
    if header is not None:
        name = repr(header[third]) if len(header) == width else "3"
        return None, [f"column {name} is not called a weight and is ignored"]
    values = [row[third] for row in rows if len(row) > third]
    if not values or not all(map(_is_number, values)):
        return None, ["the third column is not numeric and is ignored"]
    if all(float(value) >= _TIMESTAMP for value in values):
        return None, ["the third column looks like timestamps and is ignored (--set read.weights=yes to use it)"]
    return third, []
