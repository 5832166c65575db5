"""Answers of people who worked through a sample elsewhere: a table with the columns left, right and answer."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from kedge.config import ReadConfig
from kedge.errors import KedgeError, did_you_mean
from kedge.ingest.formulas import unguard
from kedge.ingest.sources import inspect, take_file

WORDS: Final = ("yes", "no", "unsure")
_COLUMNS: Final = ("left", "right", "answer")
_SHORT: Final = {"y": "yes", "n": "no", "u": "unsure", "?": "unsure"}


class Answer(NamedTuple):
    """One answer, and the line that it is from."""

    line: int
    left: str
    right: str
    word: str


def read_answers(path: Path, pairs: Sequence[tuple[str, str]]) -> list[Answer]:
    """The answers in a file about these pairs; rows without answer are passed over, a fault is named with its line."""
    found: dict[tuple[str, str], Answer] = {}
    known, accounts = set(pairs), [{pair[side] for pair in pairs} for side in (0, 1)]
    for line, left, right, word in _rows(path):
        pair = _exact(left, accounts[0]), _exact(right, accounts[1])
        if pair not in known:
            problem = f"the pair ({left}, {right}) is not in the sample of this audit"
            raise KedgeError(
                problem, file=path, line=line, remedy="answer the rows that `kedge audit` wrote, unchanged"
            )
        if not word:
            continue
        verdict = _SHORT.get(word.lower(), word.lower())
        if verdict not in WORDS:
            remedy = did_you_mean(verdict, WORDS, "write yes, no or unsure, or nothing")
            raise KedgeError(f"no answer {word!r}", file=path, line=line, remedy=remedy)
        earlier = found.setdefault(pair, Answer(line, *pair, verdict))
        if earlier.word != verdict:
            problem = f"the pair ({left}, {right}) is answered {verdict} here and {earlier.word} in line {earlier.line}"
            raise KedgeError(problem, file=path, line=line, remedy="keep one of the two rows")
    return list(found.values())


def _exact(name: str, accounts: set[str]) -> str:
    """The id as the run has it: without the apostrophe that keeps a spreadsheet from running it, and without spaces."""
    plain = str(unguard(pa.scalar(name)).as_py())
    return next((one for one in (name, plain, name.strip(), plain.strip()) if one in accounts), name)


def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Line, left, right and answer of each row; the delimiter is the header's."""
    with io.TextIOWrapper(
        io.BufferedReader(inspect(take_file(path, ReadConfig())).stream()), "utf-8", newline=""
    ) as file:
        try:
            header = file.readline()
            delimiter = max(",;\t", key=header.count)
            names = [name.strip().lower() for name in next(csv.reader([header], delimiter=delimiter), [])]
            absent = [name for name in _COLUMNS if name not in names]
            if absent:
                problem = f"no column {absent[0]!r}"
                raise KedgeError(problem, file=path, line=1, remedy="keep the header that `kedge audit` wrote")
            places = [names.index(name) for name in _COLUMNS]
            reader = csv.reader(file, delimiter=delimiter)
            for row in reader:
                if any(cell.strip() for cell in row):
                    left, right, word = (row[place] if place < len(row) else "" for place in places)
                    yield reader.line_num + 1, left, right, word.strip()
        except (UnicodeError, csv.Error) as error:
            raise KedgeError(f"cannot be read ({error})", file=path, remedy="save it as CSV in UTF-8") from None
