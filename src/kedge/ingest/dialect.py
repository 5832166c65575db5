"""How a text table is written: its delimiter, whether it has a header, which columns hold ids and weights."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.named import choose_columns, is_directed, is_heading, is_number
from kedge.ingest.sources import SAMPLE_BYTES, Source

COMMENTS: Final = ("#", "%")
# Where Arrow ends a line. `str.splitlines` also ends it at U+2028, U+0085, a form feed and others.
_LINE_END: Final = re.compile("\r\n|\r|\n")
_NO_SPACE: Final = re.compile("[^ \t\n\r\v\f]+")  # what `bytes.split` takes for spaces; `str.split` has many more
_DELIMITERS: Final = ("\t", ",", ";", "|", " ")
_SAMPLE_ROWS: Final = 200
# A third column of whole numbers this large counts seconds since 1970, not strength.
_TIMESTAMP: Final = 1e8


@dataclass(frozen=True)
class Dialect:
    """How to read a text table; `header` names all columns, `skip` counts the lines before the first row of data."""

    delimiter: str
    columns: int
    header: tuple[str, ...] | None
    first: int
    second: int
    weight: int | None
    skip: int
    single: bool  # whether to make runs of spaces one before parsing
    notes: tuple[str, ...] = ()
    doubtful: bool = False  # whether the first row, read as data, might be a header all the same
    guessed: bool = False  # whether its names leave open which columns hold ids
    directed: bool = False  # whether its names are of two ends that differ

    @property
    def ends(self) -> tuple[str, str]:
        """What a message calls the two columns of ids."""
        names = [str(i + 1) for i in range(self.columns)] if self.header is None else list(map(repr, self.header))
        return names[self.first], names[self.second]


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
    header, notes = _header(rows, width, config, source)
    first, second, weight, known = choose_columns(header, width, config.columns, str(source.path))
    if not weights_wanted or config.weights == "no":
        weight = None
    elif weight is None and (config.weights == "yes" or not config.columns):
        body = [row.fields for row in (rows if header is None else rows[1:])]
        weight, more = _unnamed_weight(header, width, body, config.weights, {first, second})
        notes += more
    uneven = delimiter == " " and any(text != " ".join(split_words(text)) for text in texts)
    doubtful = (
        header is None
        and config.header == "auto"
        and not any(is_number(rows[0].fields[end]) for end in (first, second) if end < len(rows[0].fields))
    )
    guessed = header is not None and not known and width > 2
    skip = _skipped(rows, header)
    directed = header is not None and is_directed(header[first], header[second])
    return Dialect(
        delimiter, width, header, first, second, weight, skip, uneven, tuple(notes), doubtful, guessed, directed
    )


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


def _header(
    rows: Sequence[_Row], width: int, config: ReadConfig, source: Source
) -> tuple[tuple[str, ...] | None, list[str]]:
    """The names of the columns if the first row has them, and a note where that was concluded from other rows."""
    top, body = rows[0].fields, [row.fields for row in rows[1:]]
    notes = []
    if config.header == "auto":
        by_name = any(not name.isdecimal() for name in config.columns)
        reason = "names" if by_name else is_heading(*_ends_first(top, body, config.columns))
        if reason == "kind":
            shown = ", ".join(top[:3]) + (", ..." if len(top) > 3 else "")
            notes.append(f"1 row, the first ({shown}), is taken as a header; --set read.header=no reads it as data")
    else:
        reason = "names" if config.header == "yes" else None
    if reason is None:
        return None, notes
    if not body and source.whole:
        raise KedgeError("holds a header and no rows", file=source.path, remedy="give at least one edge or pair")
    header = [field.strip() for field in top]
    # The index of a data frame has no name, and it comes first; a delimiter after the last field adds an empty one.
    if len(header) == width - 1 and any(len(row) == width and row[-1].strip() for row in body):
        header.insert(0, "")
    return (*header, *[""] * (width - len(header)))[:width], notes


def _ends_first(
    top: list[str], body: list[list[str]], stated: Sequence[str]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The rows with the columns first that the user gave by their numbers."""
    places = [int(number) - 1 for number in stated]
    if not places:
        return top, body

    def moved(row: list[str]) -> list[str]:
        chosen = [row[place] for place in places if place < len(row)]
        return chosen + [cell for place, cell in enumerate(row) if place not in places]

    return moved(top), list(map(moved, body))


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
        return None, [f"column {header[third]!r} is not called a weight and is ignored"]
    values = [row[third] for row in rows if len(row) > third]
    if not values or not all(map(is_number, values)):
        return None, ["the third column is not numeric and is ignored"]
    if all(float(value) >= _TIMESTAMP for value in values):
        return None, ["the third column looks like timestamps and is ignored (--set read.weights=yes to use it)"]
    return third, []
