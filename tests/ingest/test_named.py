"""Which columns hold ids: headings and rows of data, columns that the user names, dates that are no accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import read_hypergraph, read_network, read_pairs

TABLE = {
    "day": ["2024-01-02", "2024-01-03", "2024-01-03"],
    "who": ["ann", "bob", "cy"],
    "whom": ["bob", "cy", "dan"],
    "kg": [2, 3, 1],
}
EDGES = {("ann", "bob"), ("bob", "cy"), ("cy", "dan")}


def edges_of(network: Any) -> set[tuple[str, ...]]:
    rows, columns = network.adjacency.nonzero()
    return {tuple(sorted((network.name(u), network.name(v)))) for u, v in zip(rows, columns, strict=True)}


def write(folder: Path, text: str, name: str = "edges.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


def as_csv(folder: Path, header: bool = True, separator: str = ",") -> Path:
    return write(folder, pandas.DataFrame(TABLE).to_csv(index=False, header=header, sep=separator))


def as_parquet(folder: Path) -> Path:
    pq.write_table(pa.table(TABLE), folder / "edges.parquet")
    return folder / "edges.parquet"


@pytest.mark.parametrize(
    "heading",
    [
        "source,target",
        "from,to",
        "user_id,friend_id",
        "follower,followee",
        "FromNodeId,ToNodeId",
        "screen_name,follows",
        "userid1,userid2",
        "Node A,Node B",
        "Sender,Recipient",
        "ego,alter",
        "user,follower",
    ],
)
def test_usual_headings_are_no_edge(tmp_path: Path, heading: str) -> None:
    network, report = read_network(write(tmp_path, f"{heading}\nann,bob\nbob,cy\n"))
    assert report.header
    assert [note for note in report.notes if "directions" not in note] == []
    assert edges_of(network) == {("ann", "bob"), ("bob", "cy")}


@pytest.mark.parametrize(
    "text",
    [
        "user1,user2\nuser3,user4\nuser4,user5\n",
        "node_a,node_b\nnode_c,node_a\n",
        "ida,bob\nbob,cy\n",
        "ann,bob,NA\nbob,cy,3\ncy,dan,4\n",
        "bob,cy\nann7,bob1\n",
    ],
)
def test_accounts_that_look_like_headings_are_edges(tmp_path: Path, text: str) -> None:
    _, report = read_network(write(tmp_path, text))
    assert not report.header
    assert report.rows == text.count("\n")


@pytest.mark.parametrize(
    ("heading", "row"),
    [
        ("knows,known", "u{}x,u{}y"),
        ("mail,other mail", "p{}@x.org,q{}@y.org"),
        ("a,b,since", "ann{},bob{},2024-01-02"),
        ("a,b,c,kg", "ann{},bob{},x,2"),
        ("number,nick", "{0},n{0}n"),
    ],
)
def test_a_row_taken_as_a_header_by_its_kind_is_noted_and_can_be_read(tmp_path: Path, heading: str, row: str) -> None:
    path = write(tmp_path, "\n".join([heading, *(row.format(i, i + 1) for i in range(8))]) + "\n")
    shown = ", ".join(heading.split(",")[:3])
    _, report = read_network(path)
    assert (report.header, report.rows) == (True, 8)
    assert report.notes[0].startswith(f"1 row, the first ({shown}")
    assert "--set read.header=no" in report.notes[0]
    _, report = read_network(path, ReadConfig(header="no", weights="no"))
    assert (report.header, report.rows) == (False, 9)


def test_a_first_row_with_accounts_of_its_own_is_noted(tmp_path: Path) -> None:
    rows = [f"{a}{b},{b}{a}" for a in "pqrs" for b in "xyz"] + [f"px,{a}x" for a in "qrs"]
    path = write(tmp_path, "\n".join(["nick,pal", *rows, "px,sy"]))
    _, report = read_network(path)
    assert report.notes == (
        "the first row (nick, pal) has accounts of no other row; if it is a header: --set read.header=yes",
    )
    assert read_network(path, ReadConfig(header="no"))[1].notes == ()
    assert read_network(path, ReadConfig(header="yes"))[1].rows == len(rows) + 1


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ('"who" "whom"\n"1" "ann" "bob"\n"2" "bob" "cy"\n', ("ann", "bob")),  # R: the index has no name
        (",x,y\n0,ann,bob\n1,bob,cy\n", ("ann", "bob")),  # pandas
        ("source,target\nann,bob,\nbob,cy,\n", ("ann", "bob")),  # a delimiter after the last field
    ],
)
def test_the_index_of_a_data_frame_is_no_account(tmp_path: Path, text: str, edge: tuple[str, str]) -> None:
    network, _ = read_network(write(tmp_path, text), ReadConfig(header="yes"))
    assert edge in {tuple(name.strip('"') for name in found) for found in edges_of(network)}
    assert network.n == 3


@pytest.mark.parametrize("columns", ["who,whom", "Who, WHOM", "2,3", ("who", "whom"), "who,whom,kg", "2,3,4"])
@pytest.mark.parametrize(
    "source",
    [
        as_csv,
        lambda folder: as_csv(folder, separator="\t"),
        as_parquet,
        lambda _: pandas.DataFrame(TABLE),
        lambda _: polars.DataFrame(TABLE),
    ],
    ids=["csv", "tsv", "parquet", "pandas", "polars"],
)
def test_the_user_names_the_columns(tmp_path: Path, source: Any, columns: Any) -> None:
    config = ReadConfig(columns=columns)
    network, report = read_network(source(tmp_path), config)
    assert edges_of(network) == EDGES
    weighted = len(config.columns) == 3
    assert set(network.adjacency.data) == ({1.0, 2.0, 3.0} if weighted else {1.0})
    assert not any("read as ids" in note for note in report.notes)


def test_columns_are_numbered_where_there_is_no_header(tmp_path: Path) -> None:
    path = as_csv(tmp_path, header=False)
    network, report = read_network(path, ReadConfig(columns="2,3"))
    assert edges_of(network) == EDGES
    assert (report.header, report.rows) == (False, 3)
    with pytest.raises(KedgeError, match=r"edges.csv: no column 'who': its columns are 2024-01-02, ann, bob, 2; name"):
        read_network(path, ReadConfig(columns="who,whom"))
    with pytest.raises(KedgeError, match=r"no column 'who': it has 4 columns and no header; number them from 1"):
        read_network(path, ReadConfig(columns="who,whom", header="no"))


def test_each_network_has_its_own_columns(tmp_path: Path) -> None:
    config = ReadConfig(columns="1,3", left_columns="who,whom", anchor_columns="kg,who")
    path = as_csv(tmp_path)
    assert edges_of(read_network(path, config, "left")[0]) == EDGES
    assert ("2024-01-02", "bob") in edges_of(read_network(path, config, "right")[0])
    pairs = read_pairs(path, config)
    assert (pairs.first.to_pylist(), pairs.second.to_pylist()) == (["2", "3", "1"], ["ann", "bob", "cy"])


@pytest.mark.parametrize(
    "source", [as_csv, as_parquet, lambda _: pandas.DataFrame(TABLE)], ids=["csv", "parquet", "frame"]
)
@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("who,wohm", "no column 'wohm': its columns are day, who, whom, kg; did you mean 'whom'?"),
        ("x,who", "no column 'x': its columns are day, who, whom, kg; name these, or number them from 1 to 4"),
        ("who,5", "no column '5': its columns are"),
        ("who,2", "columns who, 2 are not all different"),
    ],
)
def test_an_unknown_column_is_one_line_with_the_names_there_are(
    tmp_path: Path, source: Any, columns: str, problem: str
) -> None:
    with pytest.raises(KedgeError) as refused:
        read_network(source(tmp_path), ReadConfig(columns=columns))
    assert problem in str(refused.value)
    assert refused.value.file is None or refused.value.file.startswith(str(tmp_path))


@pytest.mark.parametrize("columns", ["a", "a,a", "a,,b", "a,b,c,d", [1.5, 2], 7])
def test_columns_are_two_or_three_different_names(columns: Any) -> None:
    with pytest.raises(ValidationError):
        ReadConfig(columns=columns)
    with pytest.raises(ValidationError):
        ReadConfig(anchor_columns="a,b,c")


def test_a_name_with_a_comma_is_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, 'id,"last, first",friend\n1,ann,bob\n')
    assert edges_of(read_network(path, ReadConfig(columns='"last, first",friend'))[0]) == {("ann", "bob")}


@pytest.mark.parametrize(
    "day",
    [
        "2024-01-{:02}",
        "2024-01-{:02}T10:20:30Z",
        "2024/1/{}",
        "{}.1.2024",
        "1/{}/24",
        "Mon Apr {:02} 22:19:45 PDT 2009",
        "{:02} April 2009",
        "{:02}-Apr-2009 10:00",
    ],
)
def test_dates_are_no_accounts(tmp_path: Path, day: str) -> None:
    path = write(tmp_path, "".join(f"{day.format(i)},n{i},n{i + 1}\n" for i in range(1, 29)))
    with pytest.raises(KedgeError, match=r"edges.csv: column 1 holds dates, not accounts \(the first is .*--columns"):
        read_network(path)
    with pytest.raises(KedgeError, match="--anchor-columns left,right"):
        read_pairs(path)
    assert read_network(path, ReadConfig(columns="2,3"))[0].n == 29
    assert read_network(path, ReadConfig(columns="1,2"))[0].n == 56, "who names them is taken at his word"


@pytest.mark.parametrize("name", ["1.2.345", "10.0.0.{}", "2024{}", "v1.{}", "ann {} 1", "99-99-{}", "user-1-{}"])
def test_other_numbers_with_points_are_accounts(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "".join(f"{name.format(i)},n{i}\n" for i in range(10, 30)))
    assert read_network(path)[1].rows == 20


def test_dates_of_frames_are_no_accounts(tmp_path: Path) -> None:
    frame = pandas.DataFrame(TABLE).assign(day=pandas.to_datetime(TABLE["day"]))
    frame.to_parquet(tmp_path / "edges.parquet")
    for source in (frame, tmp_path / "edges.parquet"):
        with pytest.raises(KedgeError, match="column 'day' holds dates, not accounts"):
            read_network(source)


def test_timestamps_in_place_of_accounts_are_noted(tmp_path: Path) -> None:
    rows = [(1_600_000_000 + i, f"n{i % 7}") for i in range(30)]
    _, report = read_network(write(tmp_path, "".join(f"{a} {b}\n" for a, b in rows)))
    assert report.notes == (
        "column 1 is read as accounts and looks like timestamps; --columns source,target names other columns",
    )
    _, report = read_network(write(tmp_path, "".join(f"{a} {a + 5}\n" for a, _ in rows)))
    assert report.notes == (), "ids of ten digits"


def test_columns_whose_headings_leave_them_open_are_noted(tmp_path: Path) -> None:
    config = ReadConfig(columns="nick,pal")
    path = write(tmp_path, "nick,pal,kg\nann,bob,2\n")
    for source in (path, pandas.read_csv(path)):
        note = "columns 'nick' and 'pal' are read as ids; --columns source,target names others"
        assert note in read_network(source)[1].notes
        assert note not in read_network(source, config)[1].notes


def test_columns_have_no_effect_on_a_graph_and_on_hyperedges(tmp_path: Path) -> None:
    network, report = read_network([("ann", "bob")], ReadConfig(columns="who,whom"))
    assert report.notes == ("no effect: columns of a list, tuple, set, zip",)
    path = write(tmp_path, "account,hyperedge,p\nann,2024-01-02,1\nbob,2024-01-02,1\n")
    assert read_hypergraph(path, network, ReadConfig(columns="who,whom")).hyperedges == 1


def test_weights_of_a_frame_can_be_ignored(tmp_path: Path) -> None:
    bad = pa.table({"source": ["ann"], "target": ["bob"], "weight": [None]})
    pq.write_table(bad, tmp_path / "edges.parquet")
    for source in (bad, tmp_path / "edges.parquet"):
        assert not read_network(source, ReadConfig(weights="no"))[1].weighted
        assert len(read_pairs(source).first) == 1
