"""The one door for input: a path or an object in memory, to a Network, a Hypergraph or columns of pairs.

`FORMATS` is the registry of input formats: its rows are the table "What it reads" of the README.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from kedge.config import ReadConfig
from kedge.ingest import frames
from kedge.ingest.arrow_file import ARROW
from kedge.ingest.bad_rows import skip_bad_cells
from kedge.ingest.build import EdgeReport, accept_hypergraph, build_hypergraph, build_network
from kedge.ingest.columns import Columns
from kedge.ingest.delimited import read_columns
from kedge.ingest.dialect import sniff
from kedge.ingest.duckdb_file import DUCKDB
from kedge.ingest.foreign import refuse_foreign
from kedge.ingest.gml import is_gml, read_gml
from kedge.ingest.graphml import is_graphml, read_graphml
from kedge.ingest.json_lines import JSON_LINES
from kedge.ingest.named import are_dates, are_timestamps
from kedge.ingest.sources import UserFile, inspect, take_file
from kedge.ingest.sqlite import SQLITE
from kedge.types import Hypergraph, KedgeError, Network, Side


class InputFormat(NamedTuple):
    """One kind of input: its name and a line of help, as the README has them, how to recognise it, how to read it."""

    name: str
    help: str
    recognises: Callable[[Any], bool]
    read: Callable[..., Columns]


def _is_file(source: Any) -> bool:
    return isinstance(source, UserFile)


def _if_file(recognises: Callable[[UserFile], bool]) -> Callable[[Any], bool]:
    return lambda source: _is_file(source) and recognises(source)


def _is_frame(source: Any) -> bool:
    return isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__")


def _has_class_of(library: str) -> Callable[[Any], bool]:
    return lambda source: type(source).__module__.partition(".")[0] == library


def _is_array_of_ids(source: Any) -> bool:
    return isinstance(source, np.ndarray) and source.dtype.kind in "OU"


def _is_edge_index(source: Any) -> bool:
    return isinstance(source, np.ndarray) or hasattr(source, "edge_index") or _has_class_of("torch")(source)


_SAMPLE: Final = 200  # rows that are looked at for dates
_COLUMNS: Final = "--columns source,target"
_PAIR_COLUMNS: Final = "--anchor-columns left,right"
_PAIRS: Final = (list, tuple, set, zip)
_TEXTS: Final = (".csv", ".tsv", ".txt", ".tab", ".edges", ".edgelist")
_PACKED: Final = (".gz", ".zst")
_NAMED: Final = "columns by name, else the first two"
_NUMBERED: Final = "accounts are numbered from 0"
PARQUET: Final = InputFormat(
    "Parquet", f"known by its first bytes; {_NAMED}", _if_file(frames.is_parquet), frames.read_parquet
)
TEXT: Final = InputFormat(
    "text",
    "any other file: tab, comma, semicolon, pipe or space; header or none; UTF-8 or UTF-16; plain, gzip or zstd",
    _is_file,
    read_columns,
)
FRAME: Final = InputFormat("data frame", f"pandas, polars, duckdb, pyarrow: {_NAMED}", _is_frame, frames.read_frame)
_TABLE: Final = f"`FILE::TABLE`, or FILE if it has one table; {_NAMED}"
# Kinds of files that hold a table: by their first bytes, whatever the file is called.
TABLES: Final = {
    InputFormat(name, help_line, _if_file(reader.recognises), partial(frames.read_table_file, reader)): reader
    for name, help_line, reader in (
        ("Arrow IPC, Feather", _NAMED, ARROW),
        ("SQLite", _TABLE, SQLITE),
        ("DuckDB", f"{_TABLE}; needs the extra `duckdb`", DUCKDB),
        ("JSON", "one object or array per line (JSONL), a list of them, or an object with `links`", JSON_LINES),
    )
}
_DRAWN: Final = "nodes, edges and their weights; nodes by name where their ids are numbers"
# The first that recognises a source reads it; a path comes as the `UserFile` that it names.
FORMATS: Final = (
    PARQUET,
    *TABLES,
    InputFormat("GraphML", _DRAWN, _if_file(is_graphml), read_graphml),
    InputFormat("GML", _DRAWN, _if_file(is_gml), read_gml),
    TEXT,
    FRAME,
    InputFormat("NetworkX graph", "edge attribute `weight`", _has_class_of("networkx"), frames.read_networkx),
    InputFormat("igraph graph", "attributes `name` and `weight`", _has_class_of("igraph"), frames.read_igraph),
    InputFormat(
        "SciPy sparse matrix", f"[n, n]; {_NUMBERED}", lambda source: hasattr(source, "tocoo"), frames.read_sparse
    ),
    InputFormat("NumPy array of text", "one pair of ids per row", _is_array_of_ids, frames.read_pair_rows),
    InputFormat(
        "`edge_index`", f"NumPy, torch or PyG data, [2, m]; {_NUMBERED}", _is_edge_index, frames.read_edge_index
    ),
    InputFormat("mapping", "left id to right id", lambda source: isinstance(source, Mapping), frames.read_mapping),
    InputFormat(
        "list, tuple, set, zip", "pairs of ids", lambda source: isinstance(source, _PAIRS), frames.read_pair_rows
    ),
)


def _taken(source: Any, config: ReadConfig) -> Any:
    return take_file(source, config) if isinstance(source, str | Path) else source


def format_of(source: Any) -> InputFormat:
    """The format that reads this object or `UserFile`."""
    kind = next((kind for kind in FORMATS if kind.recognises(source)), None)
    if kind is None:
        raise KedgeError(
            f"cannot read a network or pairs from {type(source).__module__}.{type(source).__name__}",
            remedy="give a path, a data frame, a graph (NetworkX, igraph, PyG), a sparse matrix or pairs of ids",
        )
    if kind is TEXT:
        refuse_foreign(source)
    if _is_file(source) and source.table and kind not in TABLES:
        raise KedgeError(
            f"has no table {source.table!r}: it is {kind.name}", file=source.path, remedy="leave out the part after ::"
        )
    return kind


def _columns(source: Any, config: ReadConfig, weights_wanted: bool) -> Columns:
    source = _taken(source, config)
    kind = format_of(source)
    # Only tables leave open how they are to be read.
    if kind in (PARQUET, TEXT, FRAME) or kind in TABLES:
        read = kind.read(source, config, weights_wanted)
        return replace(read, notes=(*read.notes, *misnamed(source, kind)))
    read = kind.read(source, config) if _is_file(source) else kind.read(source)
    notes = (*read.notes, *misnamed(source, kind))
    return replace(read, notes=(*notes, f"no effect: columns of a {kind.name}") if config.columns else notes)


def misnamed(source: Any, kind: InputFormat) -> tuple[str, ...]:
    """A note where a file's name states another kind of content than it has."""
    if not _is_file(source) or kind is TEXT:
        return ()
    suffixes = [suffix.lower() for suffix in source.path.suffixes if suffix.lower() not in _PACKED]
    if not suffixes or suffixes[-1] not in _TEXTS:
        return ()
    return (f"{source.path.name} is {kind.name} by its content, and is read as that",)


def _ids(source: Any, config: ReadConfig, option: str, weights_wanted: bool) -> Columns:
    """Columns of two ids. Where the user has not chosen them, dates are refused and what looks like time is noted."""
    read = _columns(source, config, weights_wanted)
    if config.bad_rows == "skip":
        read = skip_bad_cells(read)
    if config.columns or read.ends is None:
        return read
    samples = [side.slice(0, _SAMPLE).to_pylist() for side in (read.first, read.second)]
    for name, cells in zip(read.ends, samples, strict=True):
        if are_dates(cells):
            raise KedgeError(
                f"column {name} holds dates, not accounts (the first is {cells[0]!r})",
                file=read.file,
                remedy=f"name the two columns of ids, or number them from 1, with {option}",
            )
    timed = [name for name, cells in zip(read.ends, samples, strict=True) if are_timestamps(cells)]
    notes = []
    if len(timed) == 1:  # both: ids of ten digits
        notes.append(f"column {timed[0]} is read as accounts and looks like timestamps; {option} names other columns")
    elif read.guessed:
        notes.append(f"columns {' and '.join(read.ends)} are read as ids; {option} names others")
    return replace(read, notes=(*read.notes, *notes))


def read_network(source: Any, config: ReadConfig | None = None, side: Side | None = None) -> tuple[Network, EdgeReport]:
    """A network from any of the `FORMATS`, and what was dropped on reading it; its columns are those of its side."""
    config = config or ReadConfig()
    own = {"left": config.left_columns, "right": config.right_columns, None: ()}[side]
    return build_network(read_edges(source, config.model_copy(update={"columns": own or config.columns})))


def read_edges(source: Any, config: ReadConfig) -> Columns:
    """The edges of a network as they are listed, from any of the `FORMATS`."""
    return _ids(source, config, _COLUMNS, weights_wanted=True)


def read_pairs(source: Any, config: ReadConfig | None = None) -> Columns:
    """Pairs of ids (anchors, test pairs) from any of the `FORMATS`."""
    config = config or ReadConfig()
    config = config.model_copy(update={"columns": config.anchor_columns})
    return _ids(source, config, _PAIR_COLUMNS, weights_wanted=False)


def read_hypergraph(source: Any, network: Network, config: ReadConfig | None = None, isolated: int = 0) -> Hypergraph:
    """A user's own hypergraph of this network: rows of account, hyperedge and p (a file, a frame or a list), or a
    matrix with a row for each account but the last `isolated`, which are known from anchors alone."""
    if isinstance(source, Hypergraph):
        return replace(accept_hypergraph(source.H, network, isolated), centres=source.centres)
    if hasattr(source, "tocsr") or isinstance(source, np.ndarray):
        return accept_hypergraph(source, network, isolated)
    config = (config or ReadConfig()).model_copy(update={"columns": ()})  # these are of networks
    source = _taken(source, config)
    if _is_file(source) and format_of(source) is TEXT:
        # A third column can only be p here, whatever it is called.
        wide = sniff(inspect(source), config).columns > 2
        config = config.model_copy(update={"weights": "yes" if wide else "no"})
    return build_hypergraph(_columns(source, config, weights_wanted=True), network)
