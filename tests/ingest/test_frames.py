"""Frames, graphs, matrices and pairs in: the same network from every form, exact ids, clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from scipy import sparse

from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs

ROWS = [("01", "1"), ("1", "x"), ("x", "01"), ("x", "y")]
EDGES = {frozenset(row) for row in ROWS}


def edges_of(network: Any) -> set[frozenset[str]]:
    rows, columns = network.adjacency.nonzero()
    return {frozenset((network.name(u), network.name(v))) for u, v in zip(rows, columns, strict=True)}


def table() -> dict[str, list[str]]:
    return {"source": [a for a, _ in ROWS], "target": [b for _, b in ROWS]}


def duckdb_relation() -> Any:
    import duckdb

    return duckdb.sql("select * from (values ('01','1'),('1','x'),('x','01'),('x','y')) t(source, target)")


@pytest.mark.parametrize(
    "make",
    [
        lambda: pandas.DataFrame(table()),
        lambda: pandas.DataFrame(table()).astype("category"),
        lambda: polars.DataFrame(table()),
        lambda: pa.table(table()),
        duckdb_relation,
        lambda: networkx.Graph(ROWS),
        lambda: networkx.DiGraph(ROWS),
        lambda: networkx.MultiDiGraph(ROWS * 2),
        lambda: igraph.Graph.TupleList(ROWS),
        lambda: ROWS,
        lambda: np.array(ROWS),
        lambda: np.array(ROWS, dtype=object),
    ],
    ids="pandas category polars pyarrow duckdb graph digraph multigraph igraph list array objects".split(),
)
def test_the_same_network_from_every_form(make: Any) -> None:
    network, _ = read_network(make())
    assert edges_of(network) == EDGES


def test_parquet_by_its_first_bytes_and_by_column_names(tmp_path: Path) -> None:
    path = tmp_path / "edges.data"
    pq.write_table(pa.table({"weight": [2.0, 1.0, 1.0, 3.0], **table()}), path)
    network, report = read_network(path)
    assert edges_of(network) == EDGES
    assert report.weighted
    a, b = network.find(["x", "y"])
    assert network.adjacency[a, b] == 3


def test_whole_numbers_become_their_digits_beyond_doubles() -> None:
    network, _ = read_network(pandas.DataFrame({"source": [2**53 + 1, 7], "target": [2**53, 7]}))
    assert set(network.ids.to_pylist()) == {str(2**53 + 1), str(2**53), "7"}


def test_matrices_and_edge_index_number_accounts_from_zero() -> None:
    dense = np.zeros((4, 4))
    dense[0, 1] = dense[2, 1] = 1
    for source in (
        sparse.csr_array(dense),
        sparse.coo_matrix(dense),
        torch.tensor([[0, 2], [1, 1]]),
        np.array([[0, 1], [2, 1]]),
    ):
        network, _ = read_network(source)
        assert edges_of(network) == {frozenset("01"), frozenset("21")}
    assert read_network(sparse.csr_array(dense))[0].n == 4, "isolated accounts stay"


def test_pyg_data_with_its_number_of_nodes() -> None:
    class Data:
        edge_index = torch.tensor([[0, 1], [1, 2]])
        num_nodes = 5

    network, _ = read_network(Data())
    assert (network.n, network.edges) == (5, 2)


def test_isolated_nodes_of_a_graph_object_stay() -> None:
    graph = networkx.Graph(ROWS)
    graph.add_node("alone")
    network, _ = read_network(graph)
    assert network.degrees[network.find(["alone"])[0]] == 0


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (pandas.DataFrame({"source": [1.0, None], "target": ["a", "b"]}), "decimal|no id"),
        (pandas.DataFrame({"source": ["a", None], "target": ["a", "b"]}), "row 1 .* no id"),
        (pandas.DataFrame({"source": [1.5], "target": [2.5]}), "decimal"),
        (pandas.DataFrame({"source": ["a"]}), "two columns"),
        (pandas.DataFrame({"source": ["a"], "target": ["b"], "weight": ["heavy"]}), "not numbers"),
        (pandas.DataFrame({"source": ["a"], "target": ["b"], "weight": [np.nan]}), "weight"),
        (sparse.csr_array((2, 3)), "square"),
        (torch.zeros((3, 3), dtype=torch.int64), "edge_index"),
        (torch.tensor([[-1], [0]]), "negative"),
        (networkx.Graph([(1, "1")]), "two accounts are called '1'"),
        ([("a", "b"), "ab"], "row 1 is not a pair"),
        ([(1.0, 2.0)], "decimal"),
        (object(), "cannot read"),
        (42, "cannot read"),
    ],
)
def test_unreasonable_objects_are_refused_by_name(source: Any, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        read_network(source)


def test_hostile_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table(table()), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(40):
        broken = bytearray(whole)
        for place in rng.integers(4, len(whole), size=3):
            broken[place] = rng.integers(256)
        path.write_bytes(bytes(broken))
        said = None
        try:
            read_network(path)
        except KedgeError as error:
            said = str(error)
        assert said is None or (str(path) in said and "\n" not in said)


def test_pairs_from_a_dict() -> None:
    columns = read_pairs({"a": "b", "c": "d"})
    assert columns.first.to_pylist() == ["a", "c"]
    assert columns.second.to_pylist() == ["b", "d"]
