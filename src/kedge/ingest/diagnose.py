"""When the fast reader refuses a file: walk it line by line until the fault, and name it."""

from __future__ import annotations

import math
from typing import Final

from kedge.errors import KedgeError
from kedge.ingest.dialect import COMMENTS, Dialect
from kedge.ingest.sources import Source

__all__ = ["LONGEST_LINE", "first_fault"]

LONGEST_LINE: Final = 1 << 20


def first_fault(source: Source, dialect: Dialect, reason: str) -> KedgeError:
    """The first line that cannot be read, with its remedy; `reason` is what the fast reader said."""
    number = 0
    with source.stream() as stream:
        rest = b""
        while block := stream.read(1 << 20):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                number += 1
                if number > dialect.skip and (error := _judge(line, number, source, dialect)):
                    return error
            if len(rest) > LONGEST_LINE:
                return _judge(rest, number + 1, source, dialect) or _unknown(source, reason)
    if rest and (error := _judge(rest, number + 1, source, dialect)):
        return error
    return _unknown(source, reason)


def _unknown(source: Source, reason: str) -> KedgeError:
    first = reason.splitlines()[0] if reason else "unreadable"
    return KedgeError(f"cannot be read as a table ({first})", file=source.path, remedy="write one edge or pair a line")


def _judge(raw: bytes, number: int, source: Source, dialect: Dialect) -> KedgeError | None:
    def error(problem: str, remedy: str) -> KedgeError:
        return KedgeError(problem, file=source.path, line=number, remedy=remedy)

    if len(raw) > LONGEST_LINE:
        return error(f"a line of more than {LONGEST_LINE >> 20} MB", "write one edge or pair a line")
    try:
        line = raw.decode().rstrip("\r")
    except UnicodeDecodeError:
        return error("is not valid UTF-8", "save the file as UTF-8")
    if not line or line.startswith(COMMENTS):
        return None
    if dialect.delimiter != " " and line.count('"') % 2:
        return error("a quoted field does not end on its line", "remove the line break or the stray quote")
    fields = line.split() if dialect.delimiter == " " else _split(line, dialect.delimiter)
    if len(fields) != dialect.columns:
        return error(
            f"has {len(fields)} columns where the rows before have {dialect.columns}",
            "give every row the same columns, or state the delimiter with --set read.delimiter=...",
        )
    if dialect.weight is not None:
        text = fields[dialect.weight]
        try:
            weight = float(text)
        except ValueError:
            return error(f"weight {text!r} is not a number", "mend it, or ignore weights with --set read.weights=no")
        if not math.isfinite(weight):
            return error(f"weight {text!r} is not finite", "mend it, or ignore weights with --set read.weights=no")
    return None


def _split(line: str, delimiter: str) -> list[str]:
    """Fields of a line in which a field may be quoted."""
    if '"' not in line:
        return line.split(delimiter)
    fields, field, quoted = [], "", False
    for character in line:
        if character == '"':
            quoted = not quoted
        elif character == delimiter and not quoted:
            fields.append(field)
            field = ""
        else:
            field += character
    return [*fields, field]
