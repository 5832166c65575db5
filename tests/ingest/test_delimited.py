"""Text files in: what is recognised by itself, what is repaired, what is refused and how."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.config import ReadConfig
from kedge.errors import KedgeError
from kedge.ingest import read_network, read_pairs


def write(tmp_path: Path, content: str | bytes, name: str = "edges.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def edges_of(network: Any) -> set[frozenset[str]]:
    rows, columns = network.adjacency.nonzero()
    return {frozenset((network.name(u), network.name(v))) for u, v in zip(rows, columns, strict=True)}


def names(*pairs: str) -> set[frozenset[str]]:
    return {frozenset(pair.split()) for pair in pairs}


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|", " "])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path, "\n".join(delimiter.join(row) for row in (("ann", "bob"), ("bob", "cy"))))
    network, _ = read_network(path)
    assert edges_of(network) == names("ann bob", "bob cy")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("source,target\nann,bob\n", names("ann bob")),
        ("Source\tTarget\tWeight\nann\tbob\t2\n", names("ann bob")),
        ("u,v\n1,2\n2,3\n", names("1 2", "2 3")),
        ("from to\nann bob\n", names("ann bob")),
        ("ann,bob\nbob,cy\n", names("ann bob", "bob cy")),
        ("left right\nann left\nright bob\n", names("left right", "ann left", "right bob")),
        ("id,x,w\nann,bob,1\n", names("ann bob")),
        (",source,target\n0,ann,bob\n1,bob,cy\n", names("ann bob", "bob cy")),
        ("target,source\nann,bob\n", names("ann bob")),
    ],
)
def test_a_header_is_recognised_and_a_row_is_not_taken_for_one(tmp_path: Path, content: str, expected: Any) -> None:
    network, _ = read_network(write(tmp_path, content))
    assert edges_of(network) == expected


def test_the_header_can_be_stated(tmp_path: Path) -> None:
    path = write(tmp_path, "from,to\nann,bob\n")
    network, _ = read_network(path, ReadConfig(header="no"))
    assert edges_of(network) == names("from to", "ann bob")


def test_comments_and_blank_lines_are_skipped_anywhere(tmp_path: Path) -> None:
    text = "# SNAP\n% konect\n\nann\tbob\n# in between\n\nbob\tcy\n#tab\tcomment\n"
    network, report = read_network(write(tmp_path, text))
    assert edges_of(network) == names("ann bob", "bob cy")
    assert report.comments >= 1


def test_comments_may_look_like_weighted_rows(tmp_path: Path) -> None:
    network, _ = read_network(write(tmp_path, "a b 1\n# c d\nb c 2\n"))
    assert edges_of(network) == names("a b", "b c")


def test_ids_are_kept_exactly(tmp_path: Path) -> None:
    ids = ["1", "01", "1.0", "1e0", "9007199254740993", "é", "e\u0301", "\u202eabc", "NA", "null", "None", "true"]
    text = "".join(f"hub,{i}\n" for i in ids)
    network, _ = read_network(write(tmp_path, text))
    assert set(network.ids.to_pylist()) == {"hub", *ids}


def test_directions_repeats_and_loops_merge_into_one_undirected_edge(tmp_path: Path) -> None:
    network, report = read_network(write(tmp_path, "a,b\nb,a\na,b\nc,c\nb,c\n"))
    assert edges_of(network) == names("a b", "b c")
    assert (report.self_loops, report.repeated, report.rows) == (1, 2, 5)
    assert (network.adjacency != network.adjacency.T.tocsr()).nnz == 0


def test_the_largest_weight_of_a_repeated_edge_counts(tmp_path: Path) -> None:
    network, report = read_network(write(tmp_path, "a,b,1\nb,a,5\na,b,2\nb,c,0.5\nc,d,0\n"))
    a, b, c = network.find(["a", "b", "c"])
    assert network.adjacency[a, b] == network.adjacency[b, a] == 5
    assert network.adjacency[b, c] == 0.5
    assert report.zero_weights == 1
    assert report.weighted


def test_timestamps_are_not_weights(tmp_path: Path) -> None:
    network, report = read_network(write(tmp_path, "a b 1600000000\nb c 1600000001\n"))
    assert not report.weighted
    assert "timestamps" in " ".join(report.notes)
    assert set(network.adjacency.data) == {1.0}


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_packed_files_are_unpacked_whatever_they_are_called(tmp_path: Path, codec: str) -> None:
    packed = pa.compress(b"a,b\nb,c\n", codec=codec, asbytes=True) if codec == "zstd" else gzip.compress(b"a,b\nb,c\n")
    network, _ = read_network(write(tmp_path, packed, "edges.dat"))
    assert edges_of(network) == names("a b", "b c")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_marks_and_utf16_are_repaired(tmp_path: Path, encoding: str) -> None:
    network, _ = read_network(write(tmp_path, "ann,bob\nbob,zoë\n".encode(encoding)))
    assert edges_of(network) == names("ann bob", "bob zoë")


@pytest.mark.parametrize("newline", ["\r\n", "\n", "\r"])
def test_line_ends_of_all_systems(tmp_path: Path, newline: str) -> None:
    network, _ = read_network(write(tmp_path, newline.join(["a,b", "b,c", ""])))
    assert edges_of(network) == names("a b", "b c")


def test_spaces_around_ids_are_dropped_and_counted(tmp_path: Path) -> None:
    network, report = read_network(write(tmp_path, "a, b\nb ,c\n"))
    assert edges_of(network) == names("a b", "b c")
    assert report.trimmed_ids == 2


def test_runs_of_spaces_count_as_one_even_late_in_the_file(tmp_path: Path) -> None:
    rows = [f"n{i} n{i + 1}" for i in range(20000)]
    rows[19990] = "  n19990   n19991  "
    network, _ = read_network(write(tmp_path, "\n".join(rows)))
    assert network.edges == 20000


def test_quoted_fields(tmp_path: Path) -> None:
    network, _ = read_network(write(tmp_path, '"a, b",c\n"d ""e""",c\n'))
    assert edges_of(network) == {frozenset(("a, b", "c")), frozenset(('d "e"', "c"))}


LONG = "x" * (11 << 20)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", None, "empty"),
        ("source,target\n", None, "header and no rows"),
        ("# only\n# comments\n", None, "no rows"),
        ("alone\nalone2\n", None, "one column"),
        ("a,b\nc\nd,e\n", 2, "1 columns"),
        ("a,b\nc,d,e\n", 2, "columns"),
        ("a,b\n,c\n", 2, "empty id"),
        ("a,b\nb, \n", 2, "empty id"),
        (b"a,b\nb,c\xff\n", 2, "UTF-8"),
        (b"a,b\nb,c\0d\n", 2, "control character"),
        ('a,b\n"c\nd",e\n', 2, "quot|control"),
        (f"a,b\nb,{LONG}\n", 2, "line of more than"),
        ("a,b,1\nb,c,nan\n", 2, "not (a )?finite"),
        ("a,b,1\nb,c,-2\n", 2, "negative"),
        ("a,b,1\n" * 300 + "b,c,much\n", 301, "not a number"),
        ("a,b,1\n" * 300 + "b,c,\n", 301, "not a number"),
        (b"PAR1 this is not parquet at all PAR1", None, "Parquet"),
        (gzip.compress(b"a,b\n" * 1000, mtime=0)[:-20], None, "unpacked"),
    ],
)
def test_bad_files_are_refused_in_one_line_with_file_line_and_remedy(
    tmp_path: Path, content: Any, line: int | None, words: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(KedgeError, match=words) as caught:
        read_network(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "; " in text, "a remedy follows"
    assert len(text) < 500


def test_missing_files_directories_and_forbidden_ones(tmp_path: Path) -> None:
    with pytest.raises(KedgeError, match="no such file"):
        read_network(tmp_path / "nowhere.csv")
    with pytest.raises(KedgeError, match="is a directory"):
        read_network(tmp_path)
    if os.geteuid() != 0:
        path = write(tmp_path, "a,b\n")
        path.chmod(0)
        with pytest.raises(KedgeError, match="may not be read"):
            read_network(path)


def test_a_decompression_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kedge.ingest import sources

    monkeypatch.setattr(sources, "_BOMB_FLOOR", 1 << 20)
    with pytest.raises(KedgeError, match="bomb"):
        read_network(write(tmp_path, gzip.compress(b"a,b\n" * (1 << 21))))


def test_a_wrong_stated_delimiter_is_named(tmp_path: Path) -> None:
    with pytest.raises(KedgeError, match=r"delimiter"):
        read_network(write(tmp_path, "a,b\nb,c\n"), ReadConfig(delimiter=";"))
    with pytest.raises(KedgeError, match="not one character"):
        read_network(write(tmp_path, "a,b\nb,c\n"), ReadConfig(delimiter="ab"))


def test_a_comment_before_the_fault_does_not_shift_its_line(tmp_path: Path) -> None:
    with pytest.raises(KedgeError, match=r":6: an empty id"):
        read_network(write(tmp_path, "# one\n\na,b\n#x,y\nb,c\n,d\n"))


@pytest.mark.parametrize(
    ("text", "n", "edges"),
    [("a,a\n", 1, 0), ("a,b\n", 2, 1), ("".join(f"hub,{i}\n" for i in range(50)), 51, 50)],
)
def test_degenerate_networks_are_networks(tmp_path: Path, text: Any, n: int, edges: int) -> None:
    network, _ = read_network(write(tmp_path, text))
    assert (network.n, network.edges) == (n, edges)


# Ids that people use: no delimiter, quote, control character or leading comment sign, not only spaces.
ID = st.text(st.characters(exclude_characters=',"#%', exclude_categories=("C", "Z")), min_size=1, max_size=12)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ID, ID), min_size=1, max_size=30))
def test_what_is_written_is_read(tmp_path: Path, pairs: Any) -> None:
    path = write(tmp_path, "source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    network, report = read_network(path, ReadConfig(header="yes", delimiter=","))
    assert edges_of(network) == {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    assert set(network.ids.to_pylist()) == {name for pair in pairs for name in pair}
    assert report.rows == len(pairs)
    assert report.rows == network.edges + report.repeated + report.self_loops


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400) | st.text("ab01,;\t \"'#%\n\r\0.-é", max_size=200).map(str.encode))
def test_any_bytes_give_a_network_or_one_clear_line(tmp_path: Path, content: Any) -> None:
    path = write(tmp_path, content)
    for reader in (read_network, read_pairs):
        said = None
        try:
            reader(path)
        except KedgeError as error:
            said = str(error)
        assert said is None or ("\n" not in said and str(path) in said)


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{a},{b}" for a, b in rng.integers(30, size=(100, 2))]
    one, _ = read_network(write(tmp_path, "\n".join(rows), "one.csv"))
    rng.shuffle(rows)
    two, _ = read_network(write(tmp_path, "\n".join(rows), "two.csv"))
    assert edges_of(one) == edges_of(two)
