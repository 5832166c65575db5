"""Kinds of files: the same network from each, known by content and not by name; hostile ones are one line."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import networkx
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.config import ReadConfig
from kedge.context import extras
from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs, read_profiles
from kedge.ingest.foreign import _MARKS

ROWS = [("01", "1"), ("1", "x"), ("x", "01"), ("x", "y é")]
WEIGHTS = [1.0, 2.0, 0.5, 3.0]
EDGES = {frozenset(row): weight for row, weight in zip(ROWS, WEIGHTS, strict=True)}
SKIP = ReadConfig(bad_rows="skip")
_ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=8
).filter(str.strip)
_few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def edges_of(network: Any) -> dict[frozenset[str], float]:
    rows, columns = network.adjacency.nonzero()
    return {
        frozenset((network.name(u), network.name(v))): float(network.adjacency[u, v])
        for u, v in zip(rows, columns, strict=True)
    }


def frame() -> pa.Table:
    ends = {"source": [a for a, _ in ROWS], "target": [b for _, b in ROWS]}
    return pa.table({"day": ["mon"] * len(ROWS), **ends, "weight": WEIGHTS})


def objects() -> list[dict[str, Any]]:
    return [{"target": b, "source": a, "weight": w} for (a, b), w in zip(ROWS, WEIGHTS, strict=True)]


def write_sqlite(path: Path, *tables: str) -> None:
    database = sqlite3.connect(path)
    for table in tables or ("edges",):
        table = table.replace('"', '""')
        database.execute(f'CREATE TABLE "{table}" (day TEXT, source, target, weight)')
        database.executemany(
            f'INSERT INTO "{table}" VALUES (?, ?, ?, ?)',
            [("mon", a, b, w) for (a, b), w in zip(ROWS, WEIGHTS, strict=True)],
        )
    database.commit()
    database.close()


def write_duckdb(path: Path) -> None:
    edges = frame()
    with duckdb.connect(str(path)) as database:
        database.register("edges_given", edges)
        database.execute("CREATE TABLE edges AS SELECT * FROM edges_given")


def graph(kind: type[networkx.Graph] = networkx.Graph) -> networkx.Graph:
    made = kind()
    made.add_weighted_edges_from((a, b, w) for (a, b), w in zip(ROWS, WEIGHTS, strict=True))
    return made


def write_stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, frame().schema) as writer:
        writer.write_table(frame())


def write_text(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text, "utf-8")


WRITERS: dict[str, Callable[[Path], Any]] = {
    "parquet": lambda path: pq.write_table(frame(), path),
    "feather": lambda path: feather.write_feather(frame(), path),
    "feather, plain": lambda path: feather.write_feather(frame(), path, compression="uncompressed"),
    "arrow stream": write_stream,
    "sqlite": write_sqlite,
    "duckdb": write_duckdb,
    "jsonl": write_text("\n".join(map(json.dumps, objects()))),
    "jsonl, blank lines": write_text("\n\n" + "\n\n".join(map(json.dumps, objects())) + "\n\n"),
    "jsonl, arrays": write_text("\n".join(json.dumps([a, b, w]) for (a, b), w in zip(ROWS, WEIGHTS, strict=True))),
    "jsonl, packed": lambda path: path.write_bytes(gzip.compress("\n".join(map(json.dumps, objects())).encode())),
    "jsonl, utf-16": lambda path: path.write_bytes("\n".join(map(json.dumps, objects())).encode("utf-16")),
    "json": write_text(json.dumps(objects())),
    "json, indented": write_text(json.dumps(objects(), indent=2)),
    "json, links": write_text(json.dumps({"directed": False, "nodes": [{"id": "x"}], "links": objects()}, indent=1)),
    "graphml": lambda path: networkx.write_graphml_xml(graph(), path),
    "graphml, packed": lambda path: path.write_bytes(
        gzip.compress("\n".join(networkx.generate_graphml(graph())).encode())
    ),
    "gml": lambda path: networkx.write_gml(graph(), path),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", ["network", "network.csv"])
def test_the_same_network_from_every_kind_of_file(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[kind](path)
    network, report = read_network(path)
    assert edges_of(network) == EDGES
    assert report.weighted
    stated = [note for note in report.notes if "by its content" in note]
    assert len(stated) == (name == "network.csv"), report.notes


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "duckdb"])
def test_every_kind_comes_through_a_pipe_too(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kedge.context import user_files

    path = tmp_path / "network"
    WRITERS[kind](path)
    monkeypatch.setattr(user_files, "_drain_stdin", lambda _: path.read_bytes())
    assert edges_of(read_network("-")[0]) == EDGES


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if "graph" not in kind and "gml" not in kind])
def test_profiles_are_read_from_every_kind_of_table(kind: str, tmp_path: Path) -> None:
    WRITERS[kind](tmp_path / "people")
    network, _ = read_network(frame())
    config = ReadConfig()
    ids = "1" if "arrays" in kind else "source"
    profiles, report = read_profiles(tmp_path / "people", network, config, ids)
    weights = profiles.table.column("weight").to_pylist()
    assert {network.name(i): float(w) for i, w in enumerate(weights) if w is not None} == {"01": 1, "1": 2, "x": 0.5}
    assert (report.rows, report.repeated) == (4, 1)


def test_a_graph_file_is_no_table_of_profiles(tmp_path: Path) -> None:
    WRITERS["gml"](tmp_path / "people.gml")
    with pytest.raises(KedgeError, match="is GML, which has no table of profiles"):
        read_profiles(tmp_path / "people.gml", read_network(frame())[0])


def test_a_table_of_a_database_is_named_after_two_colons(tmp_path: Path) -> None:
    write_sqlite(tmp_path / "a b'?#%.db", "edges", 'odd "name"; DROP')
    for table in ("edges", 'odd "name"; DROP'):
        assert edges_of(read_network(f"{tmp_path}/a b'?#%.db::{table}")[0]) == EDGES
    with pytest.raises(KedgeError, match=r"is a database with 2 tables \(edges, odd .*\); name one: .*::edges"):
        read_network(tmp_path / "a b'?#%.db")
    with pytest.raises(KedgeError, match="no table 'edge'; did you mean 'edges'"):
        read_network(f"{tmp_path}/a b'?#%.db::edge")
    (tmp_path / "x.csv").write_text("a,b\nb,c\n")
    with pytest.raises(KedgeError, match="has no table 'edges': it is text"):
        read_network(f"{tmp_path}/x.csv::edges")
    (tmp_path / "y::z.csv").write_text("a,b\nb,c\n")
    assert read_network(tmp_path / "y::z.csv")[0].n == 3, "a file of that very name"


def test_reading_a_database_changes_nothing_beside_it(tmp_path: Path) -> None:
    write_sqlite(tmp_path / "a.db")
    before = (tmp_path / "a.db").read_bytes()
    read_network(tmp_path / "a.db")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    assert (tmp_path / "a.db").read_bytes() == before
    (tmp_path / "a.db-wal").write_bytes(b"x")
    with pytest.raises(KedgeError, match="has changes in a.db-wal that are not in the file yet"):
        read_network(tmp_path / "a.db")


def test_a_view_that_never_ends_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kedge.ingest import sqlite

    monkeypatch.setattr(sqlite, "_FEWEST_STEPS", 1_000_000)
    monkeypatch.setattr(sqlite, "_STEPS_PER_BYTE", 1)
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute(
        "CREATE VIEW edges AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS source, i + 1 AS target FROM n WHERE i < 0"
    )
    database.close()
    with pytest.raises(KedgeError, match="takes too long for its size"):
        read_network(tmp_path / "a.db")


def test_ids_of_several_types_are_text(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("CREATE TABLE edges (source, target)")
    database.executemany("INSERT INTO edges VALUES (?, ?)", [(1, "x"), ("x", 2**62), ("1", "y")])
    database.commit()
    database.close()
    (tmp_path / "b.jsonl").write_text('{"source": 1, "target": "x"}\n')
    assert set(read_network(tmp_path / "a.db")[0].ids.to_pylist()) == {"1", "x", "y", str(2**62)}
    assert set(read_network(tmp_path / "b.jsonl")[0].ids.to_pylist()) == {"1", "x"}
    huge = 10**30
    (tmp_path / "c.jsonl").write_text(f'[{huge}, "x"]\n["y", 2]\n')
    assert set(read_network(tmp_path / "c.jsonl")[0].ids.to_pylist()) == {str(huge), "x", "y", "2"}
    with pytest.raises(KedgeError, match="decimal numbers"):
        (tmp_path / "d.jsonl").write_text("[1.5, 2.5]\n")
        read_network(tmp_path / "d.jsonl")


def test_frames_with_ids_of_several_types_are_text() -> None:
    import pandas

    mixed = pandas.DataFrame({"source": [1, "x", 3], "target": ["x", 7, "x"]})
    assert set(read_network(mixed)[0].ids.to_pylist()) == {"1", "x", "3", "7"}
    pairs = read_pairs(pandas.DataFrame({"left": [1, 2], "right": ["x", 7]}))
    assert (pairs.first.to_pylist(), pairs.second.to_pylist()) == (["1", "2"], ["x", "7"])
    assert set(read_network([(1, "x"), ("x", 2)])[0].ids.to_pylist()) == {"1", "x", "2"}


def test_nodes_with_numbers_are_called_by_their_names(tmp_path: Path) -> None:
    import igraph

    made = igraph.Graph.TupleList(ROWS)
    made.write_graphml(str(tmp_path / "a.graphml"))
    network, report = read_network(tmp_path / "a.graphml")
    assert set(edges_of(network)) == set(EDGES)
    assert "nodes are called by their name (01), not by their number (n0)" in report.notes
    networkx.write_gml(graph(), tmp_path / "b.gml")
    assert "nodes are called by their label (01), not by their number (0)" in read_network(tmp_path / "b.gml")[1].notes


def test_directions_are_ignored_with_a_note(tmp_path: Path) -> None:
    networkx.write_graphml_xml(graph(networkx.DiGraph), tmp_path / "a.graphml")
    networkx.write_gml(graph(networkx.DiGraph), tmp_path / "b.gml")
    (tmp_path / "c.csv").write_text("follower,followee\na,b\nb,c\n")
    (tmp_path / "d.csv").write_text("source,target\na,b\nb,c\n")
    sources: list[Any] = [tmp_path / "a.graphml", tmp_path / "b.gml", tmp_path / "c.csv", graph(networkx.DiGraph)]
    for source in sources:
        report = read_network(source)[1]
        assert report.directed
        assert any("directions, which are ignored" in note for note in report.notes)
    assert not read_network(tmp_path / "d.csv")[1].directed
    assert not read_network(graph())[1].directed


def test_nodes_without_an_edge_are_accounts(tmp_path: Path) -> None:
    made = graph()
    made.add_node("alone")
    networkx.write_gml(made, tmp_path / "a.gml")
    networkx.write_graphml_xml(made, tmp_path / "a.graphml")
    for name in ("a.gml", "a.graphml"):
        assert "alone" in read_network(tmp_path / name)[0].ids.to_pylist()


GRAPHML = '<graphml><graph edgedefault="undirected">{}</graph></graphml>'
HOSTILE = {
    "laughs.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]><graphml><graph/></graphml>',
    "file.xml": '<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/hosts">]><graphml><graph><node id="&a;"/></graph></graphml>',
    "open.xml": "<graphml><graph><node id='a'>",
    "deep.xml": "<graphml>" + "<graph>" * 200,
    "twice.xml": GRAPHML.format('<node id="a"/><node id="a"/>'),
    "nameless.xml": GRAPHML.format("<node/>"),
    "unknown.xml": GRAPHML.format('<node id="a"/><edge source="a" target="b"/>'),
    "none.xml": GRAPHML.format(""),
    "hyper.xml": GRAPHML.format('<node id="a"/><hyperedge/>'),
    "other.xml": "<?xml version='1.0'?><gexf/>",
    "open.gml": "graph [ node [ id 1",
    "close.gml": "graph [ node [ id 1 ] ] ]",
    "text.gml": 'graph [ node [ id 1 label "a',
    "deep.gml": "graph [ " + "a [ " * 200,
    "none.gml": "graph [ ]",
    "keys.gml": 'graph [ "a" 1 ]',
    "unknown.gml": "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]",
    "weight.gml": "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight heavy ] ]",
    "deep.jsonl": "[" * 100_000,
    "mixed.jsonl": '{"source": "a", "target": "b"}\n["c", "d"]\n',
    "cut.jsonl": '{"source": "a", "target": "b"}\n{"source": "c", "tar',
    "missing.jsonl": '{"source": "a", "target": "b"}\n{"source": "c"}\n',
    "nested.jsonl": '{"source": {"id": 1}, "target": "b"}\n',
    "digits.jsonl": f'{{"source": {"9" * 5000}, "target": "b"}}\n',
    "surrogate.jsonl": '{"source": "\\ud800", "target": "b"}\n',
    "object.json": '{"a": {"b": 1},\n "c": 2}',
    "empty.json": "[]",
    "numbers.json": "[1, [2]]",
    "one.jsonl": '{"source": "a"}\n',
    "page.csv": "<!DOCTYPE html>\n<html></html>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(HOSTILE[name])
    with pytest.raises(KedgeError, match=name) as caught:
        read_network(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value), "no remedy"


@pytest.mark.parametrize(("mark", "what"), [(mark, what) for mark, what, _ in _MARKS])
def test_a_kind_that_is_not_read_is_named(mark: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(mark + b"\0" * 100)
    network = read_network([("a", "b")])[0]
    for read in (read_network, read_pairs, lambda path: read_profiles(path, network)):
        with pytest.raises(KedgeError) as caught:
            read(tmp_path / "a.csv")
        assert f"is {what}; " in str(caught.value)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "feather", "arrow stream", "graphml", "gml", "jsonl"])
@_few
@given(data=st.data())
def test_damaged_files_are_one_line_or_read(kind: str, data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "whole"
    if not path.exists():
        WRITERS[kind](path)
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(1, len(content)))]
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content)
    for config in (ReadConfig(max_memory_mb=50), ReadConfig(max_memory_mb=50, bad_rows="skip")):
        with contextlib.suppress(KedgeError):  # which is one line by itself
            read_network(damaged, config)


@_few
@given(edges=st.lists(st.tuples(_ids, _ids).filter(lambda row: row[0] != row[1]), min_size=1, max_size=12))
def test_any_ids_come_back_from_json_and_graphs(edges: list[tuple[str, str]], tmp_path: Path) -> None:
    wanted = {frozenset(row) for row in edges}
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"source": a, "target": b}) for a, b in edges), "utf-8")
    made = networkx.Graph(edges)
    networkx.write_graphml_xml(made, tmp_path / "a.graphml")
    networkx.write_gml(made, tmp_path / "a.gml")
    for name in ("a.jsonl", "a.graphml", "a.gml"):
        assert set(edges_of(read_network(tmp_path / name)[0])) == wanted, name


def test_without_duckdb_one_line_has_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_duckdb(tmp_path / "a.db")
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(
        KedgeError, match=r"a DuckDB database needs duckdb; install with: pip install 'kedge\[duckdb\]'"
    ):
        read_network(tmp_path / "a.db")
