"""Networks and pairs in: any reasonable file or object, and a clear answer to any unreasonable one."""

from kedge.ingest.anchors import AnchorReport, build_problem, resolve_pairs, resolve_test
from kedge.ingest.edges import EdgeReport
from kedge.ingest.read import read_hypergraph, read_network, read_pairs

__all__ = [
    "AnchorReport",
    "EdgeReport",
    "build_problem",
    "read_hypergraph",
    "read_network",
    "read_pairs",
    "resolve_pairs",
    "resolve_test",
]
