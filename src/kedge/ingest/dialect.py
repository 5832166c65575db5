"""Find out how a text table is written: its delimiter, whether it has a header, which columns matter."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.sources import Source

__all__ = ["COMMENTS", "Dialect", "name_columns", "sniff"]

COMMENTS: Final = ("#", "%")
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
    cleaned: bool  # read through a filter that blanks comments and makes runs of spaces one
    notes: tuple[str, ...] = ()


def sniff(source: Source, config: ReadConfig, weights_wanted: bool = True) -> Dialect:
    """Decide from the first rows; what the config states is believed."""
    lines = source.sample.splitlines()
    if not source.whole and len(lines) > 1:
        lines = lines[:-1]
    numbered = [(i, line) for i, line in enumerate(lines) if line.strip() and not line.startswith(COMMENTS)]
    numbered = numbered[:_SAMPLE_ROWS]
    if not numbered:
        raise KedgeError("holds no rows", file=source.path, remedy="give a file with one edge or pair a line")
    texts = [line for _, line in numbered]
    delimiter = _delimiter(texts, config.delimiter, source)
    rows = [_fields(line, delimiter) for line in texts]
    # A header may be one short (the index of a data frame has no name), so most rows decide, not the first.
    width = _most_common([len(row) for row in rows])
    if width < 2:
        raise KedgeError(
            f"has one column where two are needed (delimiter {delimiter!r})",
            file=source.path,
            line=numbered[0][0] + 1,
            remedy="state the delimiter with --set read.delimiter=...",
        )
    header = tuple(field.strip() for field in rows[0]) if _has_header(rows, config.header) else None
    if header is not None and len(rows) == 1 and source.whole:
        raise KedgeError("holds a header and no rows", file=source.path, remedy="give at least one edge or pair")
    named = header is not None and len(header) == width
    first, second, named_weight = name_columns(header) if header is not None and named else (0, 1, None)
    data = rows[1:] if header is not None else rows
    weight, notes = named_weight, list[str]()
    if not weights_wanted or config.weights == "no":
        weight = None
    elif weight is None:
        weight, notes = _unnamed_weight(header, width, data, config.weights, {first, second})
    skip = numbered[1][0] if header is not None and len(numbered) > 1 else numbered[0][0]
    if header is not None and len(numbered) == 1:
        skip = numbered[0][0] + 1
    cleaned = delimiter == " " and any(line != " ".join(line.split()) for line in texts)
    return Dialect(delimiter, width, header, first, second, weight, skip, cleaned, tuple(notes))


def _fields(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
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


def _has_header(rows: Sequence[Sequence[str]], stated: str) -> bool:
    if stated != "auto":
        return stated == "yes"
    top = [field.strip().lower() for field in rows[0]]
    body = rows[1:]
    if any(a in _FIRST for a in top) and any(b in _SECOND for b in top):
        # Accounts may be called "left" or "friend" too, but then they come again.
        again = {field.strip().lower() for row in body for field in row}
        return not any(word in again for word in top if word in _FIRST | _SECOND)
    if not body:
        return False
    # Words above a column that is numbers all the way down.
    numeric = [all(len(row) > c and _is_number(row[c]) for row in body) for c in range(min(len(top), len(body[0])))]
    ends = numeric[:2]
    if len(ends) == 2 and all(ends):
        return not _is_number(top[0]) and not _is_number(top[1])
    return len(numeric) > 2 and numeric[2] and not _is_number(top[2]) and bool(top[2])


def name_columns(header: Sequence[str]) -> tuple[int, int, int | None]:
    """Which columns hold the two ends and the weight, by their names; the first two where names do not tell."""
    names = [name.strip().lower() for name in header]
    first = [i for i, name in enumerate(names) if name in _FIRST]
    second = [i for i, name in enumerate(names) if name in _SECOND]
    ends = (first[0], second[0]) if len(first) == 1 and len(second) == 1 else (0, 1)
    weight = next((i for i, name in enumerate(names) if name in _WEIGHT and i not in ends), None)
    return *ends, weight


def _unnamed_weight(
    header: tuple[str, ...] | None, width: int, rows: Sequence[Sequence[str]], stated: str, taken: set[int]
) -> tuple[int | None, list[str]]:
    third = next((c for c in range(width) if c not in taken), None)
    if third is None:
        if stated == "yes":
            raise KedgeError("read.weights is yes, but there is no third column", remedy="set read.weights=no")
        return None, []
    if stated == "yes":
        return third, []
    if header is not None:
        name = repr(header[third]) if len(header) == width else "3"
        return None, [f"column {name} is not called a weight and was left out"]
    values = [row[third] for row in rows if len(row) > third]
    if not values or not all(_is_number(value) for value in values):
        return None, ["the third column is not numeric and was left out"]
    if all(float(value) >= _TIMESTAMP for value in values):
        return None, ["the third column looks like timestamps and was left out (--set read.weights=yes to use it)"]
    return third, []
