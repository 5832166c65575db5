"""Copies with pseudonyms from tables of any type."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import Copy, copy_pairs, copy_profiles, join_map, write_copy
from kedge.ingest.pseudonyms import pseudonyms

KEY = b"k" * 32
PHONE = {"phone": "phone"}


def _copy(path: Path, keep: tuple[str, ...] = (), **columns: object) -> Copy:
    pq.write_table(pa.table(columns), path)
    return copy_profiles(path, ReadConfig(), "", PHONE, keep, KEY)


def test_whole_numbers_of_parquet_hash_as_their_text(tmp_path: Path) -> None:
    copy = _copy(tmp_path / "p.parquet", id=[7, 8], phone=[301, None])
    rows = {row["id"]: row["phone"] for row in copy.table.to_pylist()}
    seven, eight = pseudonyms(["7", "8"], "id", KEY)
    assert rows == {seven: pseudonyms(["301"], "phone", KEY)[0], eight: None}


def test_cells_that_are_written_in_several_ways_are_refused(tmp_path: Path) -> None:
    for column in ([1.5], [[1, 2]]):
        with pytest.raises(KedgeError, match=r"column 'phone' holds .*; make it text"):
            _copy(tmp_path / "p.parquet", id=["a"], phone=column)


def test_kept_columns_have_their_type_and_the_first_row_of_an_account_comes_first(tmp_path: Path) -> None:
    many = {
        "id": [f"u{i % 40}" for i in range(80)],
        "phone": ["1"] * 80,
        "vector": [[float(i), 1.0] for i in range(80)],
    }
    copy = _copy(tmp_path / "p.parquet", ("vector",), **many)
    with (tmp_path / "out.parquet").open("wb") as file:
        write_copy(copy, file)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.field("vector").type == pa.list_(pa.float64())
    assert table.schema.field("id").type == pa.string()
    ids, first = table["id"].to_pylist(), [vector[0] for vector in table["vector"].to_pylist()]
    assert ids == sorted(ids)
    assert all(first[i] + 40 == first[i + 1] for i in range(0, 80, 2))


def test_anchors_and_networks_share_one_map(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_text("=a,b\nb,c\n")
    (tmp_path / "known.csv").write_text("'=a,x\nb,y\n")
    edges = copy_pairs(tmp_path / "left.csv", ReadConfig(), KEY, anchors=False)
    known = copy_pairs(tmp_path / "known.csv", ReadConfig(), KEY, anchors=True)
    table = join_map([edges, known])
    assert table["id"].to_pylist() == ["=a", "b", "c", "x", "y"]
    assert table["pseudonym"].to_pylist() == pseudonyms(["=a", "b", "c", "x", "y"], "id", KEY)


def test_ids_that_differ_in_an_apostrophe_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_text("=a,b\n'=a,c\n")
    with pytest.raises(KedgeError, match="differ in an apostrophe"):
        copy_pairs(tmp_path / "left.csv", ReadConfig(), KEY, anchors=False)
