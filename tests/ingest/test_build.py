"""A user's own hypergraph: from files and frames, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from graphs import communities
from scipy.sparse import csr_array

import kedge
from kedge.errors import KedgeError
from kedge.ingest import read_hypergraph
from kedge.types import Network

NETWORK = Network.from_edges([(0, 1), (1, 2)], 3, ["ann", "bob", "cem"])


def write(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "hyper.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("account,hyperedge,p\ncem,club,0.5\nann,club,1\nann,team,0.25\n", [[1, 0.25], [0, 0], [0.5, 0]]),
        ("cem,club,0.5\nann,club,1\n", [[1], [0], [0.5]]),
        ("cem club\nann club\n", [[1], [0], [1]]),
        ("ann,club,0.2\nann,club,0.7\nann,club,0.1\nbob,club,0\n", [[0.7], [0], [0]]),  # the largest counts
        ("# made by hand\nann,ann,1\nbob,ann,0.5\n", [[1], [0.5], [0]]),  # a hyperedge may be called like an account
    ],
)
def test_rows_become_memberships(tmp_path: Path, text: str, expected: Any) -> None:
    H = read_hypergraph(write(tmp_path, text), NETWORK).H
    np.testing.assert_allclose(H.toarray(), expected, atol=1e-6)
    assert H.nnz == np.count_nonzero(expected)


def test_frames_and_parquet_are_read_too(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"account": ["ann", "bob"], "hyperedge": ["x", "x"], "p": [0.5, 1.0]})
    path = tmp_path / "hyper.parquet"
    frame.to_parquet(path)
    for source in (frame, path):
        assert read_hypergraph(source, NETWORK).H.toarray().ravel().tolist() == [0.5, 1, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("account,hyperedge,p\nann,x,1\nbob,x,1.5\n", r":3: p = 1\.5 is outside \[0, 1\]; scale"),
        ("ann,x,-0.1\n", r":1: p = -0\.1 is outside"),
        ("ann,x,1\nbob,x,nan\n", r":2: p = nan is outside"),
        ("account,hyperedge,p\nann,x,1\nbob,x,often\n", ":3: .*'often' is not a number"),
        ("ann,x,1\ndan,x,1\n", ":2: 'dan' is no account of the network .*check their order"),
        ("x,ann,1\n", ":1: 'x' is no account"),
        ("ann,,1\n", "an empty id"),
        ("", "is empty"),
    ],
)
def test_bad_rows_are_named_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(KedgeError, match=words):
        read_hypergraph(write(tmp_path, text), NETWORK)


def test_embedding_with_hyperedges_of_ones_own_from_python(tmp_path: Path) -> None:
    network = communities(120, 4, 0.3, 0.01, 0)
    rows = [(network.name(v), f"group {v % 4}", 1.0) for v in range(120)]
    frame = pandas.DataFrame(rows, columns=["account", "hyperedge", "p"])
    frame.to_csv(tmp_path / "mine.csv", index=False)
    matrix = csr_array((np.ones(120), (np.arange(120), np.arange(120) % 4)))
    settings = {"mgcn.dimensions": 8, "mgcn.steps": 20}
    fits = [
        kedge.embed(network, hypergraph=mine, settings=settings)
        for mine in (tmp_path / "mine.csv", frame, matrix, matrix.toarray(), None)
    ]
    assert all(np.array_equal(fit.vectors, fits[0].vectors) for fit in fits[1:4])
    assert not np.array_equal(fits[4].vectors, fits[0].vectors)
    drawn = fits[0].fit.hyperedges[0]
    assert (drawn["hyperedges"], drawn["largest"]) == (4, 30)
    assert fits[0].ids.to_pylist() == network.ids.to_pylist()
    with pytest.raises(KedgeError, match=r"p\(1, 0\) = 2 is outside"):
        kedge.embed(network, hypergraph=np.arange(120.0)[:, None] * 2)
