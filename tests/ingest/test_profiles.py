"""Profiles from files and frames: one row for each account, and one line for what is wrong, without a value in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import ProfileReport, read_profiles
from kedge.types import Network, Profiles

NETWORK = Network.from_edges([(0, 1), (1, 2)], 3, ["a", "b", "c"])
SECRET = "Ada Lovelace"


def _read(tmp_path: Path, content: str | bytes, name: str = "p.csv") -> tuple[Profiles, ProfileReport]:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_profiles(path, NETWORK)


def test_rows_follow_the_accounts_and_missing_is_null(tmp_path: Path) -> None:
    found, report = _read(tmp_path, "id,name,city\nc,Cy, Rome \na,Ada,NA\nb,,\n")
    assert found.column("name").to_pylist() == ["Ada", None, "Cy"]
    assert found.column("city").to_pylist() == [None, None, "Rome"]
    assert report.notes("left", 3) == ()


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_delimiters_quotes_and_line_breaks_in_values(tmp_path: Path, delimiter: str) -> None:
    text = f'id{delimiter}bio\na{delimiter}"one\ntwo, ""three"""\n'
    assert _read(tmp_path, text)[0].column("bio").to_pylist()[0] == 'one\ntwo, "three"'


def test_html_and_formulas_are_text(tmp_path: Path) -> None:
    found, _ = _read(tmp_path, "id,bio\na,<script>alert(1)</script>\nb,=1+1\n")
    assert found.column("bio").to_pylist()[:2] == ["<script>alert(1)</script>", "=1+1"]


def test_unknown_and_repeated_accounts_are_counted_and_joined(tmp_path: Path) -> None:
    found, report = _read(tmp_path, "id,name,city\na,,Rome\nz,Zoe,Oslo\na,Ada,Bonn\nb,Bob,\n")
    assert found.column("name").to_pylist() == ["Ada", "Bob", None]
    assert found.column("city").to_pylist() == ["Rome", None, None]
    assert (report.rows, report.unknown, report.repeated, report.without) == (4, 1, 1, 1)
    assert len(report.notes("left", 3)) == 3


def test_frames_parquet_and_a_named_column_of_ids(tmp_path: Path) -> None:
    frame = pa.table({"age": [3, None, 1], "who": ["c", "b", "a"], "tags": [["x"], [], None]})
    pq.write_table(frame, tmp_path / "p.parquet")
    for source in (frame, tmp_path / "p.parquet", frame.to_pandas()):
        found, _ = read_profiles(source, NETWORK, ids="who")
        assert [x if x == x else None for x in found.column("age").to_pylist()] == [1, None, 3]
    assert found.names == ("age", "tags")


def test_latitude_and_longitude_are_one_place(tmp_path: Path) -> None:
    found, _ = _read(tmp_path, "id,Lat,lng\na,52.5,13.4\nb,1.0,\n")
    assert found.names == ("place",)
    assert found.column("place").to_pylist() == ["52.5,13.4", None, None]


def test_a_value_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    found, _ = _read(tmp_path, f"id,bio\na,{'x' * 10_000_000}\nb,short\n")
    assert [len(text or "") for text in found.column("bio").to_pylist()] == [10_000_000, 5, 0]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_of_unicode_are_read(tmp_path: Path, encoding: str) -> None:
    assert _read(tmp_path, "id,name\na,Łukasz\n".encode(encoding))[0].column("name")[0].as_py() == "Łukasz"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"id,name\na,Ada Lovelace\nb,K\xf6ln\n", "p.csv:3: is not valid UTF-8; save it as UTF-8"),
        (b"id,stra\xdfe\na,Ada Lovelace\n", "p.csv:1: is not valid UTF-8; save it as UTF-8"),
        ("id,name\na,Ada Lovelace,x\n", "p.csv:2: has 3 columns where the first line names 2"),
        ("id\na\n", "p.csv:1: has one column"),
        ("id,,x\na,b,c\n", "p.csv:1: a column without a name"),
        ("id,x,x\na,b,c\n", "p.csv:1: two columns of one name"),
        ("id,name\n,Ada Lovelace\n", "p.csv: row 1 has no id"),
        ("id,name\nq,Ada Lovelace\n", "p.csv: no row is of an account of this network"),
        ("id,name\n", "p.csv: holds no rows"),
        ("", "p.csv: is empty"),
        (b"PAR1 Ada Lovelace", "p.csv: cannot be read as Parquet"),
    ],
)
def test_bad_input_is_one_line_without_a_value(tmp_path: Path, content: str | bytes, line: str) -> None:
    with pytest.raises(KedgeError) as caught:
        _read(tmp_path, content)
    assert line in str(caught.value)
    assert SECRET not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_other_objects_and_other_names_are_refused() -> None:
    with pytest.raises(KedgeError, match="profiles cannot be read from list"):
        read_profiles([("a", "b")], NETWORK)
    with pytest.raises(KedgeError, match="no column 'uid'"):
        read_profiles(pa.table({"id": ["a"], "x": ["b"]}), NETWORK, ReadConfig(), ids="uid")
    nested = pa.table({"id": ["a"], "x": [{"y": 1}]})
    with pytest.raises(KedgeError, match="column 'x' holds struct"):
        read_profiles(nested, NETWORK)


def test_bytes_and_mixed_values_are_refused_without_showing_them() -> None:
    ends, text = (pa.py_buffer(content) for content in (np.array([0, 2], np.int32), b"\xff\xfe"))
    hostile = pa.Array.from_buffers(pa.string(), 1, [None, ends, text])
    for column in (pa.array([b"\xff\xfe"]), hostile):
        with pytest.raises(KedgeError, match="column 'x' cannot be read as text; make it UTF-8 text"):
            read_profiles(pa.table({"id": ["a"], "x": column}), NETWORK)
    mixed = pd.DataFrame({"id": ["a", "b"], "x": [SECRET, 3.5]})
    with pytest.raises(KedgeError) as caught:
        read_profiles(mixed, NETWORK)
    assert "values of several types" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_whole_numbers_among_texts_are_text() -> None:
    found, _ = read_profiles(pd.DataFrame({"id": ["a", 7], "x": ["ann", 3]}), NETWORK)
    assert found.column("x").to_pylist()[0] == "ann"


def test_nothing_is_known_of_a_forgotten_account(tmp_path: Path) -> None:
    found, _ = _read(tmp_path, "id,name\na,Ada\nb,Bob\n")
    assert found.without(np.array([0])).column("name").to_pylist() == [None, "Bob", None]
    assert found.without(np.empty(0, np.int64)) is found
