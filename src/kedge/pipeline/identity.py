"""What identifies the inputs of a run: the content of files, and of objects as they were read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from kedge.context import UserFile
from kedge.pipeline.inputs import Inputs
from kedge.store import hash_file, held_out_table
from kedge.types import Problem

OBJECT: Final = "object: "  # before the type of an input that is no file, where a file has its name


def hash_inputs(inputs: Inputs, problem: Problem) -> dict[str, dict[str, Any]]:
    """Name, size and checksum of every input that a run depends on."""
    given = {"left": inputs.left, "right": inputs.right, "anchors": inputs.anchors}
    given |= dict(zip(("left hypergraph", "right hypergraph"), inputs.hypergraphs, strict=True))
    given |= dict(zip(("left profiles", "right profiles"), inputs.profiles, strict=True))
    return {
        name: hash_file(source) if isinstance(source, str | Path | UserFile) else _hash_object(name, source, problem)
        for name, source in given.items()
        if source is not None
    }


def _hash_object(name: str, source: Any, problem: Problem) -> dict[str, Any]:
    """Of a frame, a graph or a list by what was read from it: the order of its rows does not matter."""
    sha, size = hashlib.sha256(), 0
    for block in _blocks(name, problem):
        sha.update(block)
        size += len(block)
    return {"name": f"{OBJECT}{type(source).__name__}", "bytes": size, "sha256": sha.hexdigest()}


def _blocks(name: str, problem: Problem) -> Iterator[bytes]:
    """The bytes of one input as the problem has it, accounts by their ids: their numbers depend on all inputs."""
    if name == "anchors":
        pairs = held_out_table(problem.anchors, problem)
        yield json.dumps(sorted(zip(pairs["left"].to_pylist(), pairs["right"].to_pylist(), strict=True))).encode()
        return
    side, _, what = name.partition(" ")
    place = ("left", "right").index(side)
    network = (problem.left, problem.right)[place]
    order = np.asarray(pc.sort_indices(network.ids)).astype(np.int64)
    yield json.dumps(network.ids.take(pa.array(order)).to_pylist()).encode()
    if what == "profiles":
        table = None if problem.profiles is None else problem.profiles[place].table.take(pa.array(order))
        yield json.dumps({} if table is None else table.to_pydict(), default=str).encode()
        return
    own = problem.hypergraphs[place]
    matrix = network.adjacency[order][:, order] if not what else None if own is None else own.H[order]
    if matrix is not None:
        matrix = csr_array(matrix)
        matrix.sort_indices()
        yield from (np.ascontiguousarray(part).tobytes() for part in (matrix.data, matrix.indices, matrix.indptr))
