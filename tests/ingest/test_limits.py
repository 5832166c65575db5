"""What an input may take: unpacked text, Parquet that claims or becomes too much, weights beyond float32."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs
from kedge.ingest.columns import LEAST_WEIGHT
from kedge.types import narrow

SMALL = ReadConfig(max_memory_mb=1)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_packed_text_is_unpacked_up_to_the_limit(tmp_path: Path, codec: str) -> None:
    text = b"a,b\n" * 300_000
    packed = gzip.compress(text) if codec == "gzip" else pa.compress(text, codec="zstd", asbytes=True)
    path = tmp_path / "edges"
    path.write_bytes(packed)
    assert read_network(path)[1].rows == 300_000
    with pytest.raises(KedgeError, match=r"unpacks to more than 1 MB.*--max-input-memory"):
        read_network(path, SMALL)


def test_plain_text_counts_as_it_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "edges"
    path.write_bytes(b"a,b\n" * 150_000)  # 0.6 MB in the file; offsets make it more
    with pytest.raises(KedgeError, match="takes more than 1 MB"):
        read_network(path, SMALL)


def test_a_parquet_bomb_is_stopped_before_it_is_unpacked(tmp_path: Path) -> None:
    rows = 1 << 20
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 4000]))
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"source": same, "target": same}), path)
    assert path.stat().st_size < 1_000_000
    before = pa.total_allocated_bytes()
    with pytest.raises(KedgeError, match="unpacks to more than"):
        read_network(path)  # 8.4 GB
    assert pa.total_allocated_bytes() - before < 300 << 20


def test_parquet_within_its_limit_is_read_whole_whatever_its_batches(tmp_path: Path) -> None:
    ids = [str(i) for i in range(100_000)]
    table = pa.table({"source": ids, "target": pa.array(ids[1:] + ids[:1]).dictionary_encode()})
    path = tmp_path / "ring.parquet"
    pq.write_table(table, path, row_group_size=30_000)
    network, report = read_network(path)
    assert (network.n, network.edges, report.rows) == (100_000, 100_000, 100_000)
    with pytest.raises(KedgeError, match="more than 1 MB"):
        read_network(path, SMALL)


def test_text_and_large_text_are_read_together(tmp_path: Path) -> None:
    table = pa.table({"source": pa.array(["a", "b"]), "target": pa.array(["b", "c"], pa.large_string())})
    path = tmp_path / "mixed.parquet"
    pq.write_table(table, path)
    assert read_network(path)[0].edges == read_network(table)[0].edges == 2


@pytest.mark.parametrize("form", ["utf-8", "utf-16", "gzip", "parquet"])
def test_every_form_comes_through_a_pipe_without_loss(tmp_path: Path, form: str) -> None:
    rows = [(f"n{i}", f"m{i}") for i in range(5000)]
    text = "".join(f"{a},{b}\n" for a, b in rows)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"source": [a for a, _ in rows], "target": [b for _, b in rows]}), sink)
    content = {"parquet": sink.getvalue().to_pybytes(), "gzip": gzip.compress(text.encode())}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    whole = content.get(form) or text.encode(form)
    writer = threading.Thread(target=pipe.write_bytes, args=(whole,), daemon=True)
    writer.start()
    network, report = read_network(pipe)
    writer.join()
    assert (network.edges, report.rows) == (5000, 5000)


LINES = "a,b\n# {}\nb,c\nc,d\n"


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\f", "\v", "\x1c", '"', ',"', "'"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_comment_swallows_a_row(tmp_path: Path, sign: str, end: str) -> None:
    path = tmp_path / "edges.csv"
    for text in (LINES.format(sign), f"# {sign}x\n%{sign}\n" + LINES.format(f"x,{sign}y")):
        path.write_bytes(text.replace("\n", end).encode())
        network, report = read_network(path)
        assert (network.edges, report.rows) == (3, 3)
        assert report.comments == text.count("#") + text.count("%")


def test_quoted_ids_may_begin_as_comments_do(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text('"#a",b\n"%b",c\nd,#e\n# no,row\n')
    network, report = read_network(path)
    assert set(network.ids.to_pylist()) == {"#a", "b", "%b", "c", "d", "#e"}
    assert (report.rows, report.comments) == (3, 1)
    assert read_pairs(path).first.to_pylist() == ["#a", "%b", "d"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(LEAST_WEIGHT, 1 / LEAST_WEIGHT), min_size=3, max_size=3))
def test_weights_within_the_bounds_stay_finite_and_apart_from_0(weights: list[float]) -> None:
    rows, columns = np.array([0, 1, 2]), np.array([1, 2, 3])
    network, report = read_network(csr_array((weights, (rows, columns)), shape=(4, 4)))
    squares = network.adjacency @ network.adjacency
    assert network.edges == 3 == report.rows
    assert np.isfinite(squares.data).all()
    assert (squares.data > 0).all()


@pytest.mark.parametrize(
    ("weight", "words"), [("1e300", "above 1e[+]15"), ("1e-45", "below 1e-15 and not 0"), ("2e15", "above 1e[+]15")]
)
def test_a_weight_beyond_the_bounds_is_refused_with_its_line_and_the_bound(
    tmp_path: Path, weight: str, words: str
) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"a,b,1\nc,d,{weight}\nb,c,2\n")
    with pytest.raises(KedgeError, match=f"edges.csv:2: weight .* is {words}; .*scale the weights"):
        read_network(path)


def test_numbers_that_do_not_fit_are_refused_not_wrapped() -> None:
    assert narrow(np.array([0, 2**31 - 1])).dtype == np.int32
    with pytest.raises(KedgeError, match="2,147,483,648 is too large to count with"):
        narrow(np.array([2**31]))


def test_a_flipped_bit_in_the_metadata_of_parquet_does_not_end_the_process(tmp_path: Path) -> None:
    """Arrow aborts where it is asked for a column whose repetition levels are damaged (the schema at the beginning)."""
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"a": ["ann", "bob"] * 20, "b": ["bob", "cy"] * 20}), path)
    whole = path.read_bytes()
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for bit in range(8 * 48):
        damaged = bytearray(whole)
        damaged[start + bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            read_network(path)
        except KedgeError:
            refused += 1
    assert refused > 100
