"""Networks of GML files (`graph [ node [ id 1 label "a" ] edge [ source 1 target 2 ] ]`), read line by line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.columns import Columns
from kedge.ingest.delimited import whole_lines
from kedge.ingest.graph_file import Graph
from kedge.ingest.sources import Source, UserFile, inspect

_GRAPH: Final = re.compile(r'(?:\s*(?:#[^\n]*\n|(?:Creator|Version|comment)\s+(?:"[^"]*"|\S+)))*\s*graph\s*\[', re.I)
_TOKEN: Final = re.compile(r'\s*(?:#.*|("[^"]*")|([\[\]])|([^\s"\[\]]+))')
_LONGEST: Final = 1 << 20  # characters of a text that goes on over lines
_DEEPEST: Final = 100  # lists inside each other


class _Token(NamedTuple):
    text: str
    line: int
    quoted: bool


def is_gml(file: UserFile) -> bool:
    """Whether a file begins as GML does."""
    return _GRAPH.match(inspect(file).sample) is not None


def read_gml(file: UserFile, config: ReadConfig) -> Columns:
    """The edges and nodes of the file's graph; values of other lists than nodes and edges are passed over."""
    graph = Graph(file, config.bad_rows == "skip")
    path: list[tuple[str, dict[str, str], int]] = []  # the lists that have not ended
    key: _Token | None = None
    for token in _tokens(inspect(file)):
        if token.text == "]" and not token.quoted:
            if not path or key is not None:
                raise _fault(file, token.line, "a ] that ends no list")
            name, values, line = path.pop()
            _take(graph, name, values, line, len(path))
        elif key is None:
            if token.quoted or token.text == "[":
                raise _fault(file, token.line, f"{token.text[:40]!r} where a key was expected")
            key = token
        elif token.text == "[" and not token.quoted:
            path.append((key.text.lower(), {}, key.line))
            if len(path) > _DEEPEST:
                raise _fault(file, token.line, "is nested too deeply")
            key = None
        else:
            if path:
                path[-1][1].setdefault(key.text.lower(), html.unescape(token.text) if token.quoted else token.text)
            if len(path) == 1 and key.text.lower() == "directed":
                graph.directed = token.text == "1"
            key = None
    if path or key is not None:
        raise _fault(file, path[-1][2] if path else None, "ends inside a list")
    return graph.columns()


def _take(graph: Graph, name: str, values: dict[str, str], line: int, depth: int) -> None:
    if depth != 1:
        return
    if name == "node":
        graph.add_node(values.get("id"), values, line)
    elif name == "edge":
        graph.add_edge(values.get("source"), values.get("target"), values, line)


def _tokens(source: Source) -> Iterator[_Token]:
    rest, first = "", 0
    with source.stream() as stream:
        lines = (line for block in whole_lines(stream) for line in block.splitlines(keepends=True))
        for number, raw in enumerate(lines, 1):
            try:
                text = rest + raw.decode()
            except UnicodeDecodeError:
                raise _fault(source.file, number, "is not valid UTF-8") from None
            begin = first or number
            if text.count('"') % 2 and not text.lstrip().startswith("#"):  # a text that goes on in the next line
                rest, first = text, begin
                if len(text) > _LONGEST:
                    raise _fault(source.file, begin, "a text that does not end")
                continue
            rest, first = "", 0
            for found in _TOKEN.finditer(text):
                if found[1] is not None:
                    yield _Token(found[1][1:-1], begin, quoted=True)
                elif found[2] or found[3]:
                    yield _Token(found[2] or found[3], begin, quoted=False)
    if rest:
        raise _fault(source.file, first, "a text that does not end")


def _fault(file: UserFile, line: int | None, problem: str) -> KedgeError:
    return KedgeError(problem, file=file.path, line=line, remedy="the file is damaged or cut short; write it again")
