"""The same seed gives the same bytes in any process, and ids and orders give nothing away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from kedge.synthetic import Planted, anchor_table, edge_table, planted, subnetworks
from kedge.types import Network

FINGERPRINT = """
import hashlib, sys
import numpy as np
from kedge.synthetic import anchor_table, edge_table, planted, subnetworks
digest = hashlib.sha256()
first = planted(800, 900, 600, 4000, 6000, 0.5, int(sys.argv[1]))
for pair in (first, subnetworks(first.right, 0.6, 0.5, int(sys.argv[1]))):
    for network in (pair.left, pair.right):
        for array in (network.adjacency.data, network.adjacency.indices, network.adjacency.indptr):
            digest.update(str(array.dtype).encode() + array.tobytes())
        digest.update("".join(network.ids.to_pylist()).encode())
        digest.update(str(edge_table(network, 3).to_pydict()).encode())
    digest.update(pair.anchors.tobytes())
    digest.update(str(anchor_table(pair.left, pair.right, pair.anchors).to_pydict()).encode())
    digest.update(repr((sorted(pair.realised.items()), pair.notes)).encode())
assert not {"torch", "numba", "networkit", "faiss"} & set(sys.modules)
print(digest.hexdigest())
"""


def fingerprint(seed: int, hash_seed: str, threads: str) -> str:
    source = Path(__file__).parents[2] / "src"
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads}
    return subprocess.run(
        [sys.executable, "-c", FINGERPRINT, str(seed)], env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_same_seed_same_bytes_whatever_the_process() -> None:
    assert fingerprint(5, "0", "1") == fingerprint(5, "4242", "2")
    assert fingerprint(5, "0", "1") != fingerprint(6, "0", "1")


def numbers(network: Network) -> np.ndarray:
    return np.array([int(name[1:]) for name in network.ids.to_pylist()])


def assert_unrelated(one: np.ndarray, other: np.ndarray) -> None:
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))


def assert_silent(pair: Planted) -> None:
    """Neither orders nor ids of the two sides, nor of accounts and their degrees, go together."""
    a, b = pair.anchors.T
    assert_unrelated(a, b)
    assert_unrelated(numbers(pair.left)[a], numbers(pair.right)[b])
    assert_unrelated(np.arange(len(a)), a)
    assert_unrelated(np.arange(len(b)), b)
    for network, prefix in ((pair.left, "a"), (pair.right, "b")):
        assert_unrelated(np.arange(network.n), numbers(network))
        assert_unrelated(np.log1p(network.degrees), numbers(network))
        assert_unrelated(np.log1p(network.degrees), np.arange(network.n))
        assert sorted(numbers(network)) == list(range(network.n))
        assert all(name[0] == prefix and len(name) == 7 for name in network.ids.to_pylist())
    # Friends do not stand next to each other either.
    rows, columns = pair.left.adjacency.tocoo().coords
    assert abs(np.abs(rows - columns).mean() / pair.left.n - 1 / 3) < 0.03


def test_ids_and_orders_carry_no_meaning() -> None:
    pair = planted(3000, 4000, 2500, 15_000, 25_000, 0.5, 11)
    assert_silent(pair)
    assert_silent(subnetworks(pair.right, 0.8, 0.8, 12))


def test_an_edge_table_holds_each_edge_once_in_random_order() -> None:
    network = planted(300, 300, 200, 1200, 1200, 0.5, 0).left
    table = edge_table(network, seed=1)
    assert table.column_names == ["source", "target"]
    assert table.num_rows == network.edges
    ends = np.column_stack([network.find(table["source"]), network.find(table["target"])])
    assert (Network.from_edges(ends, network.n).adjacency != network.adjacency).nnz == 0
    assert 0.4 < (ends[:, 0] < ends[:, 1]).mean() < 0.6
    assert_unrelated(ends.min(axis=1), np.arange(len(ends)))
    assert table.equals(edge_table(network, seed=1))
    assert not table.equals(edge_table(network, seed=2))


def test_weights_come_along_where_there_are_any() -> None:
    adjacency = Network.from_edges([(0, 1), (1, 2)], 3).adjacency * np.float32(2.5)
    table = edge_table(Network(adjacency, Network.from_edges([], 3).ids))
    assert table["weight"].to_pylist() == [2.5, 2.5]


def test_an_anchor_table_names_the_pairs() -> None:
    pair = planted(30, 30, 20, 60, 60, 0.5, 0)
    table = anchor_table(pair.left, pair.right, pair.anchors[:5])
    assert table.column_names == ["left", "right"]
    assert np.array_equal(pair.left.find(table["left"]), pair.anchors[:5, 0])
    assert np.array_equal(pair.right.find(table["right"]), pair.anchors[:5, 1])
