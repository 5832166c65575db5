"""Rows that cannot be read: refused with their line, or skipped, counted and listed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs, read_profiles, resolve_pairs

SKIP = ReadConfig(bad_rows="skip")
TEXT = "source,target,weight\na,b,1\nb,c\nc,d,x\nc,d,2\n,e,1\nd,e,-1\nd,e,3\n# a comment\ne,\x01f,1\ne,f,inf\ne,f,4\n"


def edges(network: Any) -> set[frozenset[str]]:
    rows, columns = network.adjacency.nonzero()
    return {frozenset((network.name(u), network.name(v))) for u, v in zip(rows, columns, strict=True)}


WANTED = {frozenset(pair) for pair in ("ab", "cd", "de", "ef")}


def test_bad_rows_of_a_text_are_counted_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    with pytest.raises(KedgeError, match="a.csv:3: has 2 columns where the rows before have 3.*--skip-bad-rows"):
        read_network(path)
    network, report = read_network(path, SKIP)
    assert edges(network) == WANTED
    skipped = (
        "6 bad rows were skipped (lines 3, 4, 6, 7, 11, ...); the first: has 2 columns where the rows before have 3"
    )
    assert skipped in report.notes
    assert report.comments == 1


def test_errors_after_skipped_rows_still_name_the_right_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("left,right\na,x\nb\nb,y\na,z\n")
    network, _ = read_network([("a", "b"), ("x", "y"), ("y", "z")])
    columns = read_pairs(tmp_path / "a.csv", SKIP)
    assert [columns.line_of(row) for row in range(3)] == [2, 4, 5]
    assert resolve_pairs(columns, network, network).report.contradictory == 2


def test_bad_rows_of_tables_are_skipped(tmp_path: Path) -> None:
    table = pa.table(
        {"source": ["a", None, "c", "d", "e"], "target": ["b", "c", "d", "e", "f"], "weight": [1.0, 1, 2, None, -1]}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("CREATE TABLE edges (source, target, weight)")
    rows = [("a", "b", 1), (None, "c", 1), ("c", "d", "2"), ("d", "e", "heavy"), ("e", "f", -1)]
    database.executemany("INSERT INTO edges VALUES (?, ?, ?)", rows)
    database.commit()
    database.close()
    lines = [{"source": a, "target": b, "weight": w} for a, b, w in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n")
    sources: list[Any] = [tmp_path / "a.parquet", tmp_path / "a.db", tmp_path / "a.jsonl", table, table.to_pandas()]
    for source in sources:
        with pytest.raises(KedgeError):
            read_network(source)
        network, report = read_network(source, SKIP)
        assert edges(network) == {frozenset("ab"), frozenset("cd")}
        count = 4 if str(source).endswith("jsonl") else 3
        assert any(note.startswith(f"{count} bad rows were skipped (lines ") for note in report.notes), report.notes


def test_bad_rows_of_graphs_are_skipped(tmp_path: Path) -> None:
    nodes = "".join(f'node [ id {i} label "{name}" ]\n' for i, name in enumerate("abc"))
    bad = "edge [ source 0 ]\nedge [ source 0 target 9 ]\nedge [ source 1 target 2 weight x ]\n"
    (tmp_path / "a.gml").write_text(f"graph [\n{nodes}edge [ source 0 target 1 ]\n{bad}]\n")
    network, report = read_network(tmp_path / "a.gml", SKIP)
    assert edges(network) == {frozenset("ab")}
    assert "3 bad rows were skipped (lines 6, 7, 8); the first: an edge without a source or a target" in report.notes


def test_bad_rows_of_profiles_are_skipped(tmp_path: Path) -> None:
    network, _ = read_network([("a", "b"), ("b", "c")])
    (tmp_path / "a.csv").write_text('id,name\na,Ann\nb\nb,"Bo, b"\n,Cy\nc,Cyd\n')
    with pytest.raises(KedgeError):
        read_profiles(tmp_path / "a.csv", network)
    found, report = read_profiles(tmp_path / "a.csv", network, SKIP)
    assert found.column("name").to_pylist() == ["Ann", "Bo, b", "Cyd"]
    assert "left profiles: 2 bad rows were skipped (lines 3, ...)" in report.notes("left", 3)[0]
    frame = pandas.DataFrame({"id": ["a", None, "c"], "name": ["Ann", "Bob", "Cy"]})
    assert read_profiles(frame, network, SKIP)[0].column("name").to_pylist() == ["Ann", None, "Cy"]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.sampled_from(["a,b,1", "b,c,2", "c,d,3"]), min_size=5, max_size=20),
    bad=st.lists(
        st.tuples(
            st.integers(0, 20), st.sampled_from(["x", "x,y", "x,y,z,1", "x,y,heavy", ",y,1", "x,y,nan", 'x,"y,1'])
        ),
        max_size=5,
    ),
)
def test_what_is_left_is_what_the_good_rows_give(rows: list[str], bad: list[tuple[int, str]], tmp_path: Path) -> None:
    mixed = list(rows)
    for place, row in bad:
        mixed.insert(min(place + 3, len(mixed)), row)
    for name, lines in (("good.csv", rows), ("mixed.csv", mixed)):
        (tmp_path / name).write_text("source,target,weight\n" + "\n".join(lines) + "\n")
    good, _ = read_network(tmp_path / "good.csv")
    network, report = read_network(tmp_path / "mixed.csv", SKIP)
    assert network.is_same_as(good)
    assert sum(int(note.split()[0]) for note in report.notes if "skipped" in note) == len(bad)
