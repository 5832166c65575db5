"""Networks of GraphML files, read as a stream; a document that declares entities is refused, and none is expanded."""

from __future__ import annotations

from typing import Any, Final, NoReturn
from xml.parsers import expat

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest.columns import Columns
from kedge.ingest.graph_file import Graph
from kedge.ingest.sources import UserFile, inspect

_BLOCK: Final = 1 << 20
_DEEPEST: Final = 100  # elements inside each other
_LONGEST: Final = 1 << 20  # characters of one value


def is_graphml(file: UserFile) -> bool:
    """Whether a file is XML that begins as GraphML does."""
    sample = inspect(file).sample.lstrip()
    return sample.startswith("<") and "<graphml" in sample[: 1 << 14].replace("<ns0:", "<")


def read_graphml(file: UserFile, config: ReadConfig) -> Columns:
    """The edges and nodes of all graphs of a file."""
    source = inspect(file)
    parser = expat.ParserCreate("utf-8")  # the stream is UTF-8, whatever the first line states
    parser.buffer_text = True
    reading = _Reading(Graph(file, config.bad_rows == "skip"), parser)
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.EntityDeclHandler = reading.refuse
    try:
        with source.stream() as stream:
            while block := stream.read(_BLOCK):
                parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise KedgeError(
            f"is not valid XML ({expat.ErrorString(error.code)})",
            file=file.path,
            line=error.lineno,
            remedy="the file is damaged or cut short; write it again",
        ) from None
    return reading.graph.columns()


class _Reading:
    """What has been read so far; methods are the handlers of the parser."""

    def __init__(self, graph: Graph, parser: Any) -> None:
        self.graph = graph
        self._parser = parser
        self._keys: dict[str, tuple[str, str]] = {}  # of data: what it is of, and its name
        self._open: list[tuple[str, dict[str, str], int]] = []  # nodes and edges that have not ended
        self._values: list[dict[str, str]] = []
        self._key: str | None = None
        self._text: list[str] = []
        self._length = self._depth = 0

    def refuse(self, *_: Any) -> NoReturn:
        """Entities could make a small file a large one, or read other files."""
        raise KedgeError(
            "declares XML entities, which are not expanded",
            file=self.graph.file.path,
            line=self._parser.CurrentLineNumber,
            remedy="write it without a DOCTYPE",
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self._depth += 1
        if self._depth > _DEEPEST:
            raise KedgeError("is nested too deeply", file=self.graph.file.path, remedy="check the file")
        if tag == "key":
            self._keys[attributes.get("id", "")] = attributes.get("for", "all"), attributes.get("attr.name", "")
        elif tag == "graph":
            self.graph.directed |= attributes.get("edgedefault") == "directed"
        elif tag in ("node", "edge"):
            self.graph.directed |= attributes.get("directed") == "true"
            self._open.append((tag, attributes, self._parser.CurrentLineNumber))
            self._values.append({})
        elif tag == "hyperedge":
            self.graph.fault("a hyperedge, which is no edge of two nodes", self._parser.CurrentLineNumber)
        elif tag == "data" and self._open:
            self._key, self._text, self._length = attributes.get("key"), [], 0

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        self._depth -= 1
        if tag == "data" and self._key is not None:
            name = self._keys.get(self._key, ("all", self._key))[1] or self._key
            self._values[-1][name] = "".join(self._text).strip()
            self._key = None
        elif tag in ("node", "edge") and self._open:
            kind, attributes, line = self._open.pop()
            values = self._values.pop()
            if kind == "node":
                self.graph.add_node(attributes.get("id"), values, line)
            else:
                self.graph.add_edge(attributes.get("source"), attributes.get("target"), values, line)

    def text(self, data: str) -> None:
        if self._key is None:
            return
        self._length += len(data)
        if self._length > _LONGEST:
            raise KedgeError(
                f"a value of more than {_LONGEST >> 20} MB",
                file=self.graph.file.path,
                line=self._parser.CurrentLineNumber,
                remedy="check the file",
            )
        self._text.append(data)
