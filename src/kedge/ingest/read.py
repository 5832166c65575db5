"""The one door for input: a path or an object in memory, to a Network or to columns of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kedge.config import ReadConfig
from kedge.ingest.columns import Columns
from kedge.ingest.delimited import read_columns
from kedge.ingest.dialect import sniff
from kedge.ingest.edges import EdgeReport, build_network
from kedge.ingest.frames import columns_of, is_parquet, read_parquet
from kedge.ingest.memberships import resolve_memberships
from kedge.ingest.sources import inspect
from kedge.types import Hypergraph, Network

__all__ = ["read_hypergraph", "read_network", "read_pairs"]


def _columns(source: Any, config: ReadConfig, weights_wanted: bool) -> Columns:
    if not isinstance(source, str | Path):
        return columns_of(source)
    path = Path(source)
    return read_parquet(path) if is_parquet(path) else read_columns(path, config, weights_wanted)


def read_network(source: Any, config: ReadConfig | None = None) -> tuple[Network, EdgeReport]:
    """A network from a file (text, packed text, Parquet), a frame, a graph object or a sparse matrix."""
    return build_network(_columns(source, config or ReadConfig(), weights_wanted=True))


def read_pairs(source: Any, config: ReadConfig | None = None) -> Columns:
    """Pairs of ids (anchors, test pairs) from a file, a frame, a dict or a list of pairs."""
    return _columns(source, config or ReadConfig(), weights_wanted=False)


def read_hypergraph(source: Any, network: Network, config: ReadConfig | None = None) -> Hypergraph:
    """A user's own hypergraph of this network from rows of account, hyperedge and p: a file, a frame or a list."""
    config = config or ReadConfig()
    if isinstance(source, str | Path) and not is_parquet(Path(source)):
        # A third column can only be p here, whatever it is called.
        wide = sniff(inspect(source), config).columns > 2
        config = config.model_copy(update={"weights": "yes" if wide else "no"})
    return resolve_memberships(_columns(source, config, weights_wanted=True), network)
