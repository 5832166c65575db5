"""What readers of graph files have in common: accounts and edges as they come, to columns of ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa

from kedge.errors import KedgeError
from kedge.ingest.columns import BadRows, Columns
from kedge.ingest.named import is_weight
from kedge.ingest.sources import UserFile

_NUMBERED: Final = re.compile(r"[A-Za-z]{0,2}\d+")  # what programs call nodes whose names are in an attribute
_NAMES: Final = ("name", "label", "id")


@dataclass
class Graph:
    """Nodes with their attributes, and edges with their weight and line, while a file is read."""

    file: UserFile
    skip: bool
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    weights: list[float | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    bad: BadRows = field(default_factory=BadRows)
    directed: bool = False
    bytes: int = 0

    def add_node(self, node: str | None, attributes: Mapping[str, str], line: int) -> None:
        """One more node."""
        if node is None or node in self.nodes:
            self.fault("a node without an id" if node is None else f"two nodes with the id {node!r}", line)
            return
        self.nodes[node] = {name: value for name, value in attributes.items() if name.lower() in _NAMES}
        self._grow(len(node) + sum(map(len, self.nodes[node].values())))

    def add_edge(self, source: str | None, target: str | None, attributes: Mapping[str, str], line: int) -> None:
        """One more edge; its first attribute that is called a weight is its weight."""
        if source is None or target is None:
            self.fault("an edge without a source or a target", line)
            return
        text = next((value for name, value in attributes.items() if is_weight(name)), None)
        try:
            weight = None if text is None else float(text)
        except ValueError:
            self.fault(f"weight {text!r} is not a number", line)
            return
        self.edges.append((source, target))
        self.weights.append(weight)
        self.lines.append(line)
        self._grow(48)

    def _grow(self, more: int) -> None:
        self.bytes += more + 64
        self.file.refuse_beyond(self.bytes, "takes")

    def fault(self, problem: str, line: int) -> None:
        """Refuse what is at this line, or count it as skipped."""
        if not self.skip:
            raise KedgeError(
                problem, file=self.file.path, line=line, remedy="mend the file, or skip such rows: --skip-bad-rows"
            )
        self.bad.add(lambda: line, problem)

    def columns(self) -> Columns:
        """The edges as ids, and all nodes, also those without an edge."""
        known: list[int] = []
        for row, (source, target) in enumerate(self.edges):
            missing = next((node for node in (source, target) if node not in self.nodes), None)
            if missing is None:
                known.append(row)
            else:
                self.fault(f"an edge to {missing!r}, which is no node", self.lines[row])
        if not self.nodes:
            raise KedgeError("holds no nodes", file=self.file.path, remedy="give a graph with nodes and edges")
        names, notes = self._names()
        place = {node: i for i, node in enumerate(self.nodes)}
        ids = pa.array(names, pa.large_string())
        ends = [
            pa.chunked_array([ids.take(pa.array([place[self.edges[row][side]] for row in known], pa.int64()))])
            for side in (0, 1)
        ]
        weighted = any(self.weights[row] is not None for row in known)
        weight = [1.0 if self.weights[row] is None else self.weights[row] for row in known] if weighted else None
        lines = np.asarray(self.lines, np.int64)[known]
        return Columns(
            ends[0],
            ends[1],
            None if weight is None else pa.chunked_array([pa.array(weight, pa.float64())]),
            str(self.file.path),
            lambda row: int(lines[row]),
            notes,
            isolated=ids,
            directed=self.directed,
            bad=self.bad,
        )

    def _names(self) -> tuple[list[str], tuple[str, ...]]:
        """What the accounts are called: the nodes' ids, or an attribute with names where the ids are numbers only."""
        ids = list(self.nodes)
        if all(map(_NUMBERED.fullmatch, ids)):
            for wanted in _NAMES:
                names = [
                    next((value for key, value in attributes.items() if key.lower() == wanted), "").strip()
                    for attributes in self.nodes.values()
                ]
                if all(names) and len(set(names)) == len(names) and names != ids:
                    return names, (f"nodes are called by their {wanted} ({names[0]}), not by their number ({ids[0]})",)
        return ids, ()
